"""What a container brings for the ranks in it: /dev/shm, and Ray where they are started by it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines import image_names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command, Wrapper
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import since

_STARTS: Final = re.compile(r"\b(?:docker|podman|nerdctl)\b[^#]*\brun\b")
_POD: Final = re.compile(
    r"[ \t]*kind:[ \t]*(?:Pod|Deployment|StatefulSet|ReplicaSet|(?:Cron)?Job|DaemonSet|LeaderWorkerSet|JobSet"
    r"|PyTorchJob|MPIJob|Rollout|(?:Cluster)?ServingRuntime|RoleBasedGroup)[ \t]*$"
)
_ASKS: Final = re.compile(r"(?:nvidia\.com/gpu|amd\.com/gpu)[\"']?:[ \t]*[\"']?(?:[2-9]|[1-9]\d)")
_HAS_MEMORY: Final = re.compile(
    r"/dev/shm|medium:[ \t]*[\"']?Memory|hostIPC:[ \t]*true|\{\{"  # noqa: S108 - what is written
)
_OBJECT: Final = re.compile(r"apiVersion:[ \t]*\S")
_SERVICES: Final = re.compile(r"services:[ \t]*$")
_ENDS_BLOCK: Final = re.compile(r"[ \t>]*(?:`{3,}|~{3,})|---[ \t]*(?:#.*)?$")
"""A line between two blocks of a page, or between two documents of YAML."""
_HAS_SHARED: Final = re.compile(
    r"shm[-_]size|\bipc\b|/dev/shm|<<[ \t]*:|^[ \t]*extends:|^include:|compose\b.*[ ]-f\b.*[ ]-f\b|override\.ya?ml"
    r"|\{\{|\{%"
)
"""In its own words, or by what another place brings."""
_RAY_OF_CHART: Final = "raySpec"
"""The key by which the chart of vLLM's production stack starts a cluster of Ray in the image of the model."""
_ENABLED: Final = re.compile(r"[ ]*enabled:[ ]*[\"']?(?P<value>true|false)\b")
_MOST_KEYS: Final = 80
_MOST_LINES: Final = 40
_INDENTED: Final = 8
_CONTINUED: Final = re.compile(r"[ \t]*\\[ \t]*\n[ \t]*")
_OF_MANIFEST: Final = re.compile(r"[ ]*(?:-[ ]+)?(?:[A-Za-z]\w*:(?:[ ]|$)|[|>][-+\d]*$)|[ ]*---|[ ]*```")
"""A key or the beginning of a block: what stands above is not of the same text."""
_SHELLS: Final = frozenset({"bash", "sh", "zsh"})
_LONGEST: Final = 2000


def _ranks(case: Case) -> int:
    """Of those that a command starts on its own machine, each a process."""
    if case.commands[0].program in image_names.ONE_PROCESS:
        return 1
    return case.first.layout.tp * case.first.layout.pp * (case.first.node.data_parallel_local or 1)


def shared_memory(case: Case) -> Iterator[Remark]:
    """A container of several ranks that is started by hand, and keeps the 64 MB that it gets by itself."""
    command = case.commands[0]
    container = command.container
    if container is None and (shell := shell_around(case)) is not None:
        command, container = shell, shell.container
    if container is None or container.kind != "docker run" or not case.laid_out or not by_hand(case, command):
        return
    ranks = _ranks(case)
    given = any(container.value(name) is not None for name in ("--ipc", "--shm-size"))
    if ranks > 1 and not given and not any(map(_is_mount, _mounts(container))):
        message = (
            f"neither --ipc nor --shm-size: the processes of {ranks} ranks share the container's 64 MB of /dev/shm"
        )
        remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, "--ipc", message, "add --ipc=host, or --shm-size 16g")
        own = container.image if command is case.commands[0] else None
        yield replace(remark, around=((own, ("--ipc=host", own.text)),) if own is not None else ())


def compose_shared_memory(case: Case) -> Iterator[Remark]:
    """The same of a service of a Compose file."""
    command = case.commands[0]
    container = command.container
    if container is None or container.kind != "docker run" or command.more or not case.laid_out:
        return
    ranks = _ranks(case)
    if ranks < 2 or by_hand(case, command) or any(map(_is_mount, _mounts(container))):
        return
    case.script.budget.work(4 * len(case.script.lines), "its containers")
    whole = case.script.lines
    if _is_pod(whole) or any(map(_OBJECT.match, whole)):  # beside objects of Kubernetes
        whole = _block(whole, command.line)
        if any(map(_OBJECT.match, whole)):
            return  # `services` of an object that its operator makes into pods
    lines = [case.script.file_name[:_LONGEST], *(line[:_LONGEST] for line in whole)]
    if not any(_SERVICES.match(line.lstrip()) for line in lines) or any(_HAS_SHARED.search(line) for line in lines):
        return
    message = f"neither shm_size nor ipc: the processes of {ranks} ranks share the container's 64 MB of /dev/shm"
    yield make_remark(Severity.WARNING, Code.MISSING_FLAG, "shm_size", message, "add shm_size: 16g, or ipc: host")


@lru_cache(maxsize=16)  # several checks ask, of each command
def _block(lines: tuple[str, ...], line: int) -> tuple[str, ...]:
    """The fence of a page or the document of YAML that a line stands in."""
    first = next((at for at in range(line - 1, -1, -1) if _ENDS_BLOCK.match(lines[at])), -1) + 1
    last = next((at for at in range(line, len(lines)) if _ENDS_BLOCK.match(lines[at])), len(lines))
    return lines[first:last]


def _is_pod(lines: tuple[str, ...]) -> bool:
    return any(map(_POD.match, lines))


@lru_cache(maxsize=4)
def _lacks_memory(whole: tuple[str, ...]) -> bool:
    lines = [line[:_LONGEST] for line in whole]
    pod = any(_POD.match(line) for line in lines) and any(_ASKS.search(line) for line in lines)
    return pod and not any(_HAS_MEMORY.search(line) for line in lines if not line.lstrip().startswith("#"))


def pod_shared_memory(case: Case) -> Iterator[Remark]:
    """The same of a pod, whose /dev/shm has 64 MB where no volume of memory is mounted there."""
    command = case.commands[0]
    if command.more or not case.laid_out or _ranks(case) < 2:
        return
    case.script.budget.once("memory of pods", 4 * len(case.script.lines), "its containers")
    lines = case.script.lines
    own = _block(lines, command.line)
    if any(_SERVICES.match(line.lstrip()) for line in own) and not _is_pod(own):
        return  # a service of Compose
    if any(_SERVICES.match(line.lstrip()) for line in lines) and _is_pod(own):
        lines = own
    if not _lacks_memory(lines):
        return
    where = "/dev/shm"  # noqa: S108 - what is written
    message = "no volume of memory is mounted at /dev/shm, and a pod's has 64 MB: NCCL between the ranks may need more"
    remedy = "mount an emptyDir of medium Memory there"
    yield make_remark(Severity.WARNING, Code.MISSING_FLAG, where, message, remedy)


def image_without_ray(case: Case) -> Iterator[Remark]:
    """The executor that is asked for, and an image that does not bring it."""
    place, container = case.option(names.EXECUTOR), case.commands[0].container
    image = container.image if container is not None else None
    if image is None or not image_names.WITHOUT_RAY.fullmatch(image.text):
        return
    started = None if place is not None else _ray_of_container(case)
    if started is None and (place is None or place.value != names.RAY):
        return
    if case.version and not since(case.version, image_names.WITHOUT_RAY_SINCE):
        return
    case.script.budget.work(len(case.script.lines), "its containers")
    if is_in_lines(image_names.ADDS_RAY, case.script.lines, _LONGEST):
        return
    message = f"the image brings no Ray from {image_names.WITHOUT_RAY_SINCE} on: ray is not found"
    remedy = "install ray in an image of your own, or start over the machines by --nnodes, without Ray"
    where, at = (started, None) if started is not None else (names.EXECUTOR, place.index if place is not None else None)
    yield make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy, at=at)


def _ray_of_container(case: Case) -> str | None:
    """What starts Ray on the line of the server or above it in the same text: in its container then. Or the key of a
    chart that does."""
    script, line = case.script, case.commands[0].line
    if script.objects and _chart_starts_ray(case):
        return _RAY_OF_CHART
    if not 0 < line <= len(script.lines):
        return None
    text = "\n".join((*(_before_in_pod(case) if script.objects else ()), script.lines[line - 1][:_LONGEST]))
    found = image_names.STARTS_RAY.search(_CONTINUED.sub(" ", text))
    return found[0] if found else None


def _before_in_pod(case: Case) -> list[str]:
    """The lines above the server's in the text that its shell reads: the call of a script may go on over several."""
    line = case.commands[0].line
    own = next((_indent(text) for _, text in numbered(case.script, line, line)), 0)
    above: list[str] = []
    for _, text in reversed(list(numbered(case.script, max(1, line - _MOST_LINES), line - 1))):
        if _OF_MANIFEST.match(text) or (text.strip() and _indent(text) < own - _INDENTED):
            break
        if not text.lstrip().startswith("#"):
            above.append(text[:_LONGEST])
    return above[::-1]


def _chart_starts_ray(case: Case) -> bool:
    """`raySpec: enabled: true` beside the keys of the model, before the next model of the list."""
    line, within = case.commands[0].line, False
    own = next((_indent(text) for _, text in numbered(case.script, line, line)), 0)
    for _, text in numbered(case.script, line + 1, line + _MOST_KEYS):
        if text.strip() and _indent(text) < own:
            return False
        if within and (match := _ENABLED.match(text)):
            return match["value"] == "true"
        within = within or text.strip() == f"{_RAY_OF_CHART}:"
    return False


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def shell_around(case: Case) -> Command | None:
    """The one container of the text in which a shell waits for what is typed, as guides start it."""
    script = case.script
    script.budget.work(len(script.commands), "its containers")
    named = (*case.engine.command_line.images, *case.engine.command_line.names)
    at = case.commands[0].line
    started = [
        command
        for command in script.commands
        if (container := command.container) is not None and container.kind == "docker run" and command.line < at
    ]
    if len(started) != 1 or (container := started[0].container) is None or container.image is None:
        return None
    words = [word.text for word in started[0].argv]
    waits = started[0].program == "docker" and [*words, ""][0].rpartition("/")[2] in _SHELLS and len(words) < 2
    of_engine = any(re.search(name, container.image.text, re.IGNORECASE) for name in named)
    return started[0] if waits and of_engine else None


def by_hand(case: Case, command: Command) -> bool:
    """Manifests are read as such commands too, and say it in other words; theirs have no words of `docker run`."""
    if command.container is None or not command.container.words:
        return False
    case.script.budget.work(20, "its containers")
    lines = case.script.lines[max(0, command.line - 60) : command.line + 2]
    return any(_STARTS.search(line[:_LONGEST]) for line in lines) and not command.embedded and not command.more


def _mounts(container: Wrapper) -> Iterator[str]:
    for name in ("--volume", "--mount", "--tmpfs"):
        yield from container.values(name)


def _is_mount(value: str) -> bool:
    return "/dev/shm" in value  # noqa: S108 - what is written


SHARED_MEMORY_CHECKS: Final = (shared_memory, compose_shared_memory, pod_shared_memory)
