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
    """Docker, or podman where there is no docker. Raises PreflightRefused: neither is on PATH, or its service does not
    answer."""
    client = next((path for name in CLIENTS if (path := shutil.which(name))), None)
    if client is None:
        raise _refused(f"neither {' nor '.join(CLIENTS)} is on PATH", "install one of them, or name a python instead")
    answer = output_of((client, "ps", "--quiet"), ASK_LIMIT_S)
    if isinstance(answer, Unknown):
        raise _refused(answer.reason, f"repair it so that `{Path(client).name} ps` works")
    return ContainerEngine(client, image)


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
