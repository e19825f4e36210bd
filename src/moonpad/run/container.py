"""An engine in a container image of the user's, used as it is: the client that runs it, and the checkpoint's way in."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from moonpad.facts.probe import Unknown, output_of
from moonpad.render.containers import CHECKPOINT
from moonpad.render.docker_run import docker_ps
from moonpad.values.deployment import Mount
from moonpad.values.errors import CheckpointError, PreflightRefused
from moonpad.values.finding import Code, Finding, Severity

CLIENTS = ("docker", "podman")
ASK_LIMIT_S = 5.0


@dataclass(frozen=True, slots=True)
class ContainerEngine:
    """`client` is the path of docker or podman. The engine's version is known once the image runs."""

    client: str
    image: str


def find_client(image: str) -> ContainerEngine:
    """The first of docker and podman that works: a docker client may be left on a machine whose containers podman runs.

    Raises PreflightRefused: neither is on PATH, or none of those that are answers.
    """
    clients = [path for name in CLIENTS if (path := shutil.which(name))]
    if not clients:
        raise _refused(f"neither {' nor '.join(CLIENTS)} is on PATH", "install one of them, or name a python instead")
    reasons = []
    for client in clients:
        answer = output_of((client, "ps", "--quiet"), ASK_LIMIT_S)
        if not isinstance(answer, Unknown):
            return ContainerEngine(client, image)
        reasons.append(answer.reason)
    works = " or ".join(f"`{Path(client).name} ps`" for client in clients)
    raise _refused("; ".join(reasons), f"repair it so that {works} works")


def running_container(client: str, run_id: str) -> str | Unknown | None:
    """The name of the run's container if one runs; Unknown where the client does not say."""
    answer = output_of(docker_ps(client, run_id), ASK_LIMIT_S)
    return answer if isinstance(answer, Unknown) else answer.strip() or None


def checkpoint_mount(folder: Path) -> tuple[Mount, str]:
    """What is mounted for the checkpoint, and its folder inside.

    Of a snapshot in a Hugging Face cache the whole repository is mounted, because its files are links to `../../blobs`.
    Raises CheckpointError: a file is a link to somewhere that the container does not see.
    """
    folder = folder.resolve()
    root = folder.parent.parent if folder.parent.name == "snapshots" else folder
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() and (path.readlink().is_absolute() or not path.resolve().is_relative_to(root)):
            problem = f"is a link to {path.readlink()}, which is outside the folder that the container gets"
            remedy = "replace the link with the file itself"
            finding = Finding(Severity.ERROR, Code.CHECKPOINT_INCOMPLETE, str(path), problem, remedy)
            raise CheckpointError(f"a container cannot read the checkpoint {folder}", findings=(finding,))
    inside = "/".join((CHECKPOINT, *folder.relative_to(root).parts))
    return Mount(str(root), CHECKPOINT), inside


def _refused(problem: str, remedy: str) -> PreflightRefused:
    finding = Finding(Severity.ERROR, Code.ENGINE_MISSING, "engine.image", problem, remedy)
    return PreflightRefused("the container image cannot be run", findings=(finding,))
