"""Devices that a container is given one by one, by their files, and the ranks of a command that runs in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines import ascend_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Wrapper
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform
from moonpad.values.records import replace

_DEVICE: Final = "--device"
_OWN_RANK: Final = "--data-parallel-rank"


def listed_devices(case: Case) -> Iterator[Remark]:
    """Of the container that the command is started in by the same line, or of one that the text opens above it to work
    in: there the text may leave the list to be changed, so that nothing is certain."""
    command, build = case.commands[0], case.engine.command_line.build
    if build is None or build.platform is not Platform.ASCEND or is_fragment(command) or command.custom:
        return
    if not case.laid_out or case.first.settings.executor not in (None, "mp"):
        return
    ranks = _ranks_of_machine(case)
    own = command.container
    if own is not None:
        shown = [(own, command.line)]
    else:
        others = [other for other in case.script.commands if other.program == "docker" and other.container is not None]
        above = [other for other in others if other.line < command.line] or others
        shown = [(other.container, other.line) for other in above if other.container is not None]
    counted = [(_numbers(container), container, line) for container, line in shown]
    lists = [(numbers, container, line) for numbers, container, line in counted if numbers]
    if not lists or any(numbers is None or len(numbers) >= ranks for numbers, _, _ in counted):
        return
    numbers, container, line = lists[-1]
    if not numbers:
        return
    some = f"davinci{min(numbers)} to davinci{max(numbers)}" if len(numbers) > 1 else f"davinci{min(numbers)}"
    where = "" if own is not None else f" ({case.script.where(line)})"
    message = f"{ranks} ranks on one machine, and the container{where} gets {len(numbers)} devices, {some}"
    remedy = f"give it {ranks}, each by {_DEVICE}, or use {len(numbers)}"
    severity = Severity.ERROR if own is not None else Severity.WARNING
    word = container.given(_DEVICE)[-1].words[-1] if own is not None else None
    remark = make_remark(severity, Code.ILLEGAL_LAYOUT, _DEVICE, message, remedy, word=word)
    yield remark if own is not None else replace(remark, command=None)


def _ranks_of_machine(case: Case) -> int:
    """What one machine runs of the deployment: one command of it."""
    first = case.first
    layout, node = first.layout, first.node
    alone = first.parsed.occurrence(_OWN_RANK) is not None
    copies = 1 if alone else node.data_parallel_local if node.data_parallel_local is not None else layout.dp
    nodes = max(node.nodes or 1, case.commands[0].pods, len(case.commands) if node.data_parallel_local is None else 1)
    return layout.tp * layout.pp * copies * first.replicas // nodes


def _numbers(container: Wrapper) -> set[int] | None:
    """The devices that are named; none where it is given no device by its file, None where that is not known."""
    files = [value for value in container.values(_DEVICE) if value.startswith(names.DEVICE_FILES)]
    matches = [names.DEVICE_FILE.fullmatch(value) for value in files if not value.startswith(names.NO_DEVICES)]
    by_variable = any(value.partition("=")[0] in names.ALL_DEVICES for value in container.values("--env"))
    if container.has("--privileged") or by_variable or not all(matches):
        return None
    return {int(match["number"]) for match in matches if match is not None}
