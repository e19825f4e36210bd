"""What a process gets in a container, whatever runs it: its paths, its files, its devices.

The paths inside are ours, so the references to them are resolved here. Files are written inside, by the shell of the
image, before the engine takes its place: then one that holds a secret is on no disk of the host, and each dialect
needs only what it has for the environment. A container checks itself by asking for one token: `/health` answers 200 on
engines that die on their first request (values/deployment.py: HttpProbe).
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from moonpad.engines.routers import is_before_copies
from moonpad.values.deployment import Deployment, File, Image, Mount, Process, Reach, Resources, Role
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from moonpad.values.references import Arg, PathRef, PortRef, joined, parts

CHECKPOINT: Final = "/checkpoint"
"""The checkpoint's folder inside."""

DRAFT: Final = "/draft"
"""And the draft model, where there is one."""

RUN: Final = "/tmp/moonpad"  # noqa: S108 - inside, where there is no other user, and every image lets every user write there
"""The folder of the process's own files inside."""

INSIDE: Final[Mapping[str, str]] = {"checkpoint": CHECKPOINT, "draft": DRAFT, "run": RUN}


# Python is in every image that runs these engines; curl is not. The key is MOONPAD_API_KEY in the environment.
_ASK: Final = (
    "import os,sys,urllib.request as r;"
    "q=r.Request('http://127.0.0.1:'+sys.argv[1]+'/v1/completions',sys.argv[2].encode(),"
    "{'Content-Type':'application/json','Authorization':'Bearer '+os.environ.get('MOONPAD_API_KEY','')});"
    "r.urlopen(q,timeout=float(sys.argv[3])).read()"
)
_HEALTH: Final = "import sys,urllib.request as r;r.urlopen(sys.argv[1],timeout=float(sys.argv[2])).read()"


def image_note(process: Process) -> tuple[str, ...]:
    """What a reader must know of an image that a file names: a tag moves, a digest does not (fault 65)."""
    if not isinstance(process.runtime, Image) or "@sha256:" in process.runtime.reference:
        return ()
    reference = process.runtime.reference
    key = "[engine] image"
    if process.role is Role.ROUTER:
        of_router = "[router] image" if is_before_copies(process) else "[transfer] router_image"
        key = "[endpoint] front_image" if process.name == "front" else of_router
    return (
        f'{reference} is a tag, and a tag may move. Pin what you tried: {key} = "NAME@sha256:...", as',
        f"  docker pull {reference}  prints it.",
    )


def has_draft(process: Process) -> bool:
    """Whether its words name a draft model."""
    return any(part == PathRef("draft") for arg in process.argv for part in parts(arg))


def model_mounts(process: Process) -> tuple[Mount, ...]:
    """The folders that the reader of a rendered file names: the checkpoint's, and the draft's where there is one. A
    process next to the engines has none."""
    if process.role is Role.ROUTER:
        return ()
    draft = (Mount(PathRef("draft"), DRAFT),) if has_draft(process) else ()
    return (Mount(PathRef("checkpoint"), CHECKPOINT), *draft)


def beside(deployment: Deployment, process: Process) -> tuple[Process, ...]:
    """Those that share its network."""
    return tuple(
        other
        for other in deployment.processes
        if isinstance(other.runtime, Image) and other.runtime.beside == process.name
    )


def published(processes: Iterable[Process]) -> Iterator[tuple[PortRef, Reach]]:
    """The ports that others reach, of processes in one network."""
    for process in processes:
        for port in process.ports:
            if port.reach != "private":
                yield PortRef(process.name, port.name), port.reach


@dataclass(frozen=True, slots=True)
class Grants:
    """What of the host a container may use. `gpus` is a count for NVIDIA's runtime, the others are files and rights."""

    gpus: int = 0
    devices: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    security: tuple[str, ...] = ()
    memlock: bool = False
    folders: tuple[str, ...] = ()
    """Of the host, at the same place inside, read only."""


# https://rocm.docs.amd.com/projects/ai-ecosystem/en/latest/inference/vllm.html. Not --privileged, /dev/mem or the
# whole file system, which some recipes give.
ROCM: Final = Grants(
    devices=("/dev/kfd", "/dev/dri"),
    groups=("video",),
    capabilities=("SYS_PTRACE",),
    security=("seccomp=unconfined",),
)

# https://docs.vllm.ai/projects/ascend/en/latest/installation.html; hccn_tool is of the page for Kimi-K2-Thinking.
ASCEND_MANAGERS: Final = ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")
ASCEND_DRIVER: Final = (
    "/usr/local/dcmi",
    "/usr/local/bin/npu-smi",
    "/usr/local/Ascend/driver/lib64",
    "/usr/local/Ascend/driver/tools/hccn_tool",
    "/usr/local/Ascend/driver/version.info",
    "/etc/ascend_install.info",
)


def grants(needs: Resources) -> Grants:
    given = _device_grants(needs)
    if needs.rdma:
        # Registered memory is locked, and a container may lock 64 KiB by default.
        devices = (*given.devices, "/dev/infiniband")
        given = replace(given, devices=devices, capabilities=(*given.capabilities, "IPC_LOCK"))
    return replace(given, memlock=needs.memlock or needs.rdma)


def _device_grants(needs: Resources) -> Grants:
    if not needs.devices:
        return Grants()
    match needs.platform:
        case Platform.CUDA:
            return Grants(gpus=needs.devices)
        case Platform.ROCM:
            return ROCM
        case Platform.ASCEND:
            dies = tuple(f"/dev/davinci{number}" for number in range(needs.devices))
            return Grants(devices=(*dies, *ASCEND_MANAGERS), folders=ASCEND_DRIVER)
        case _:
            return Grants()


@dataclass(frozen=True, slots=True)
class Contained:
    """A process as its image runs it: `entrypoint` replaces the image's own where it is not empty."""

    image: str
    entrypoint: tuple[Arg, ...]
    argv: tuple[Arg, ...]
    env: Mapping[str, Arg]


def contain(process: Process, inside: Mapping[str, str] = INSIDE) -> Contained:
    """`inside` says where the folders of path references are in the container.

    Raises:
        ValueError: the process runs in no image, or a file of it is outside of its run folder.
    """
    runtime = process.runtime
    if not isinstance(runtime, Image):
        raise ValueError(f"process {process.name} runs in no container image")
    argv = tuple(_inside(arg, inside) for arg in process.argv)
    env = {name: _inside(arg, inside) for name, arg in process.env.items()}
    if not process.files:
        return Contained(runtime.reference, runtime.entrypoint, argv, env)
    if not runtime.entrypoint:
        raise ValueError(f"process {process.name}: its files are written before its program, which the image names")
    for number, file in enumerate(process.files):
        env[_variable(number)] = _inside(joined(part for arg in file.content for part in parts(arg)), inside)
    script = " && ".join((*_write(process.files, inside["run"]), 'exec "$@"'))
    return Contained(runtime.reference, ("sh", "-c", script, "sh", *runtime.entrypoint), argv, env)


def _write(files: tuple[File, ...], folder: str) -> Iterator[str]:
    yield "umask 077"
    for number, file in enumerate(files):
        path = shlex.quote(f"{folder}/{file.path}")
        yield f'mkdir -p "$(dirname {path})" && printf %s "${_variable(number)}" > {path} && unset {_variable(number)}'


def _variable(number: int) -> str:
    return f"MOONPAD_FILE_{number}"


def _inside(arg: Arg, inside: Mapping[str, str]) -> Arg:
    return joined(inside[part.name] if isinstance(part, PathRef) else part for part in parts(arg))


def healthy(port: str, path: str, limit_s: float) -> tuple[str, ...]:
    """A command that ends with 0 where `path` answers 200, asked from inside."""
    return "python3", "-c", _HEALTH, f"http://127.0.0.1:{port}{path}", f"{limit_s:g}"


def one_token(port: str, served_name: str, limit_s: float) -> tuple[str, ...]:
    """A command that ends with 0 where the model has written one token."""
    body = {"model": served_name, "prompt": "1", "max_tokens": 1, "temperature": 0}
    return "python3", "-c", _ASK, port, json.dumps(body), f"{limit_s:g}"
