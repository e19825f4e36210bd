"""A process in a container as the commands of the docker client (podman's are the same): run it attached, ask for it,
stop it. Tuples of words, never a shell line; nothing is run here.

The container is owned by its name and label, both made of the run's id, which the daemon sets as it makes it: they hold
when the client was killed before it could write down an id that the daemon chose. The client is only a window: a
container lives on when its client is killed, or when a daemon with live-restore starts anew. So `reattach` asks for it
by its label and opens another window, and `after_stop` ends it by name, whatever became of the client.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.values.binding import Bindings, BoundProcess, environment, text_of
from moonpad.values.deployment import Image, Process
from moonpad.values.refs import PortRef

CHECKPOINT: Final = "/checkpoint"
"""Where the checkpoint stands inside."""

STOP_GRACE_S: Final = 2
"""For an engine whose client was killed; one with a client was asked through it before, with the run's whole grace."""


def container_name(run_id: str) -> str:
    return f"moonpad-{run_id}"


def label(run_id: str) -> str:
    return f"moonpad.run={run_id}"


def docker_run(
    process: Process, bindings: Bindings, *, client: str, run_id: str, mounts: Mapping[str, str]
) -> BoundProcess:
    """The attached client of one process: the container's log is its output, INT and TERM go through it.

    `bindings` hold inside the container: its hosts, its paths. `mounts` is absolute folder here → folder inside, which
    cannot be written to. Secrets are named in the arguments; their values stand in the client's environment only.

    Raises:
        KeyError: a reference has no binding; the message names it.
        ValueError: the process runs in no image, or needs what this does not give a container yet.
    """
    runtime = process.runtime
    if not isinstance(runtime, Image):
        raise ValueError(f"process {process.name} runs in no container image")
    if process.files or process.mounts or process.needs.devices or process.needs.memlock or process.needs.rdma:
        raise ValueError(f"process {process.name}: a container gets no files, mounts, devices or memory locks yet")
    env, secret_env = environment(process, bindings)
    argv = (
        *(client, "run", "--rm", "--name", container_name(run_id), "--label", label(run_id)),
        *_publish(process, bindings),
        *(word for source, target in mounts.items() for word in ("--mount", _mount(source, target))),
        *(word for name, value in env.items() for word in ("--env", f"{name}={value}")),
        *(word for name in secret_env for word in ("--env", name)),
        *(("--shm-size", f"{process.needs.shm_bytes}b") if process.needs.shm_bytes else ()),
        *(("--entrypoint", runtime.entrypoint[0]) if runtime.entrypoint else ()),
        runtime.reference,
        *runtime.entrypoint[1:],
        *(text_of(arg, bindings) for arg in process.argv),
    )
    return BoundProcess(
        process.name, argv, {}, secret_env, (), docker_stop(client, run_id), docker_reattach(client, run_id)
    )


def docker_stop(client: str, run_id: str) -> tuple[tuple[str, ...], ...]:
    """Stops and removes the run's container and no other. `rm --force` answers 0 where there is none, so its status
    says whether it is gone (docker ≥ 20.10, https://github.com/docker/cli/pull/2678); it also takes away a container
    that was made and never started, which `--rm` leaves."""
    name = container_name(run_id)
    return (client, "stop", "-t", str(STOP_GRACE_S), name), (client, "rm", "--force", name)


def docker_ps(client: str, run_id: str) -> tuple[str, ...]:
    """Prints the names of the run's containers that run, found by their label. Fails where the daemon is away."""
    return client, "ps", "--filter", f"label={label(run_id)}", "--format", "{{.Names}}"


def docker_reattach(client: str, run_id: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Asks for the run's container, and attaches to it. What the container printed in between is not shown again;
    INT and TERM go through as before, and the attached client ends with the container's own status."""
    return docker_ps(client, run_id), (client, "attach", "--no-stdin", container_name(run_id))


def _publish(process: Process, bindings: Bindings) -> Iterator[str]:
    for port in process.ports:
        number = bindings.ports[PortRef(process.name, port.name)]
        address = "127.0.0.1:" if port.reach == "loopback" else ""
        yield from ("--publish", f"{address}{number}:{number}")


def _mount(source: str, target: str) -> str:
    return ",".join(("type=bind", _field(f"src={source}"), _field(f"dst={target}"), "readonly"))


def _field(text: str) -> str:
    """The client reads a mount as a line of CSV."""
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\r\n') else text
