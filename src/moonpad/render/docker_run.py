"""A process in a container as the commands of the docker client (podman's are the same): run it attached, ask for it,
stop it. Tuples of words; nothing is run here. `render_docker` writes them down as bash scripts, `node-0/run.sh`.

The container is owned by its name and label, both made of the run's id, which the daemon sets as it makes it: they hold
when the client was killed before it could write down an id that the daemon chose. The client is only a window: a
container lives on when its client is killed, or when a daemon with live-restore restarts. So `reattach` asks for it
by its label and opens another window, and `after_stop` ends it by name, whatever became of the client.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from moonpad.render.containers import (
    INSIDE,
    Contained,
    Grants,
    beside,
    contain,
    grants,
    image_note,
    model_mounts,
    published,
)
from moonpad.render.rendered import Rendered
from moonpad.render.shell import Script, scripts
from moonpad.values.binding import Bindings, BoundProcess, environment, text_of
from moonpad.values.deployment import Deployment, Image, Mount, Process
from moonpad.values.references import Arg, PathRef, holds_secret, joined, parts

STOP_GRACE_S: Final = 2
"""For an engine whose client was killed; one with a client was asked through it before, with the run's whole grace."""


def render_docker(deployment: Deployment) -> Mapping[str, Rendered]:
    """One script a node: path → text and mode.

    Raises:
        UsageError: a node has several processes.
        ValueError: a process runs in no container image.
    """
    return scripts(deployment, _script)


def _script(deployment: Deployment, process: Process) -> Script:
    contained = contain(process)
    gang = deployment.gangs[0].name
    shared = process.runtime.beside if isinstance(process.runtime, Image) else ""
    words = docker_words(
        process,
        contained,
        model_mounts(process),
        client="docker",
        name=f"moonpad-{gang}-{process.name}",
        label=f"moonpad.name={gang}",
        neighbours=beside(deployment, process),
        network_of=f"moonpad-{gang}-{shared}" if shared else "",
    )
    secrets = {name: arg for name, arg in contained.env.items() if holds_secret(arg)}
    first = (f"Its network is that of {shared}, which must run already.",) if shared else ()
    return Script(deployment, process, tuple(words), secrets, notes=(*first, *image_note(process)))


def container_name(run_id: str) -> str:
    return f"moonpad-{run_id}"


def label(run_id: str) -> str:
    return f"moonpad.run={run_id}"


def docker_run(
    process: Process, bindings: Bindings, *, client: str, run_id: str, checkpoint: tuple[Mount, str]
) -> BoundProcess:
    """The attached client of one process: the container's log is its output, INT and TERM go through it.

    `bindings` hold inside the container. `checkpoint` is what is mounted, and the checkpoint's folder inside. Secrets
    are named in the arguments; their values are only in the client's environment.

    Raises:
        KeyError: a reference has no binding; the message names it.
        ValueError: the process runs in no image.
    """
    mount, folder = checkpoint
    mounts = (mount, *(other for other in model_mounts(process) if other.source != PathRef("checkpoint")))
    contained = contain(process, {**INSIDE, "checkpoint": folder})
    words = docker_words(process, contained, mounts, client=client, name=container_name(run_id), label=label(run_id))
    argv = tuple(text_of(word, bindings) for word in words)
    _, secret_env = environment(contained.env, bindings)
    return BoundProcess(
        name=process.name,
        argv=argv,
        env={},
        secret_env=secret_env,
        files=(),
        after_stop=docker_stop(client, run_id),
        reattach=docker_reattach(client, run_id),
    )


def docker_words(
    process: Process,
    contained: Contained,
    mounts: Iterable[Mount],
    *,
    client: Arg,
    name: Arg,
    label: Arg,
    neighbours: tuple[Process, ...] = (),
    network_of: str = "",
) -> Iterator[Arg]:
    """The words of `docker run`, attached. Secrets are named; their values come from the client's environment.

    `neighbours`: the processes that share the network of this container, which publishes their ports for them.
    `network_of`: the container whose network this one shares.
    """
    entrypoint, needs, given = contained.entrypoint, process.needs, grants(process.needs)
    yield from (client, "run", "--rm", "--name", name, "--label", label)
    yield from ("--network", f"container:{network_of}") if network_of else _network((process, *neighbours))
    for mount in (*mounts, *process.mounts, *(Mount(folder, folder) for folder in given.folders)):
        yield from ("--mount", _mount(mount))
    for variable, value in contained.env.items():
        secret = holds_secret(value)
        yield from ("--env", variable if secret else (f"{variable}=", *parts(value)))
    if needs.shm_bytes:
        yield from ("--shm-size", f"{needs.shm_bytes}b")
    yield from _granted(given)
    if entrypoint:
        yield from ("--entrypoint", entrypoint[0])
    yield contained.image
    yield from entrypoint[1:]
    yield from contained.argv


def _network(processes: tuple[Process, ...]) -> Iterator[Arg]:
    runtime = processes[0].runtime
    if isinstance(runtime, Image) and not runtime.own_network:
        yield from ("--network", "host")
        return
    for number, reach in published(processes):
        address = "127.0.0.1:" if reach == "loopback" else ""
        yield from ("--publish", (address, number, ":", number) if address else (number, ":", number))


def _granted(given: Grants) -> Iterator[str]:
    if given.gpus:
        yield from ("--gpus", str(given.gpus))
    for flag, values in (
        ("--device", given.devices),
        ("--group-add", given.groups),
        ("--cap-add", given.capabilities),
        ("--security-opt", given.security),
    ):
        yield from (word for value in values for word in (flag, value))
    if given.memlock:
        yield from ("--ulimit", "memlock=-1")


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


def _mount(mount: Mount) -> Arg:
    source = joined(parts(mount.source))
    end = ",readonly" if mount.read_only else ""
    if isinstance(source, str):
        return f"type=bind,{_field(f'src={source}')},{_field(f'dst={mount.target}')}{end}"
    return ('type=bind,"src=', *parts(source), f'",{_field(f"dst={mount.target}")}{end}')


def _field(text: str) -> str:
    """The client reads a mount as a line of CSV."""
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\r\n') else text
