"""Data parallelism that starts whole copies of a model, and the other kind, whose ranks share one copy's devices."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from moonpad.catalog.options import changes
from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.slow_complaints import complains_of_speed
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform
from moonpad.values.versions import since

LARGEST_MACHINE: Final = 16
"""Devices of one kind in one machine; no catalogue of servers has more."""
_NOT_ALONE_SINCE: Final = "0.4.4.post1"
_ALONE_SINCE: Final = "0.5.2"
"""Releases of SGLang between which attention data parallelism without a size ends the start: server_args.py of 0.4.4,
0.4.4.post1, 0.5.1.post3 and 0.5.2."""
_MOST_REQUESTS: Final = "--max-running-requests"
_FEW: Final = 2
_AROUND: Final = 20
"""Lines."""
_LONGEST: Final = 500
_wrong = partial(make_remark, Severity.ERROR, Code.ILLEGAL_LAYOUT)


def data_parallel(case: Case) -> Iterator[Remark]:
    """What the sizes say against each other, and copies that need more devices than there are."""
    if case.base != names.EXPERTS_BY_OPTION or not case.laid_out:
        return
    copies, shared, group = case.size(names.REPLICAS), case.size(names.ATTENTION_DP), case.size("--tp-size")
    place, switch = case.option(names.REPLICAS), case.option(names.ATTENTION_DP_SWITCH)
    if case.option(names.ATTENTION_DP) is not None:
        yield from _shared(case, names.ATTENTION_DP, group, shared)
        if shared > 1 and copies > 1 and place is not None:
            message = f"{copies} whole copies, each with attention shared {shared} ways, are refused together"
            edit = Edit(place.index, place.length, ())
            yield _wrong(names.REPLICAS, message, "leave it out", at=place.index, edits=[edit])
    elif switch is not None:
        yield from _shared(case, names.REPLICAS, group, copies)
        version = case.base_version
        if copies == 1 and version and not since(version, _NOT_ALONE_SINCE):
            return  # it takes --dp-size for that of --tp-size
        if copies == 1 and version and not since(version, _ALONE_SINCE):
            asks = f"without {names.REPLICAS} above 1 (Please set a dp-size > 1)"
            message = f"{case.engine.facts.title} {version} ends the start {asks}"
            remedy = f"add {names.REPLICAS} with a divisor of {group}, or leave it out" if group > 1 else "leave it out"
            yield _wrong(names.ATTENTION_DP_SWITCH, message, remedy, at=switch.index)
        elif copies == 1 and not (place is None and _is_renamed(case)):
            message = f"it does nothing without {names.REPLICAS} above 1: attention is sliced over all {group} ranks"
            remedy = f"add {names.REPLICAS} with a divisor of {group}, or leave it out" if group > 1 else "leave it out"
            warning = partial(make_remark, Severity.WARNING, Code.REDUNDANT_FLAG)
            yield warning(names.ATTENTION_DP_SWITCH, message, remedy, at=switch.index)
    elif copies > 1 and place is not None:
        yield from _copies(case, copies, group, place.index)
    yield from _requests_of_ranks(case, max(shared, copies if switch is not None else 1))
    yield from _companion(case, copies, max(shared, copies if switch is not None else 1))


def _is_renamed(case: Case) -> bool:
    """Whether the release has the switch under a former name alone: what it does without a size is said there."""
    now = changes(case.engine.program, case.version or None)
    return any(change.flag == names.ATTENTION_DP_SWITCH and change.kind == "deprecated" for change in now)


def _requests_of_ranks(case: Case, ranks: int) -> Iterator[Remark]:
    """`--max-running-requests 8` over eight ranks of attention is one for each."""
    place, most = case.option(_MOST_REQUESTS), case.size(_MOST_REQUESTS)
    each = most // ranks if ranks > 1 else 0
    if place is None or not 0 < each < _FEW:
        return  # none for a rank ends the start, which a row of refusals says
    message = (
        f"{most} requests over {ranks} data-parallel ranks of attention are {each} for each: the number is shared out"
    )
    remedy = f"write {16 * ranks} or more where throughput is wanted"
    severity = Severity.WARNING if complains_of_speed(case.script) else Severity.NOTE
    yield make_remark(severity, Code.SUBOPTIMAL, _MOST_REQUESTS, message, remedy, at=place.index)


def _shared(case: Case, option: str, group: int, ways: int) -> Iterator[Remark]:
    place = case.option(option)
    if place is not None and group % ways:
        message = f"attention shared {ways} ways over the {group} ranks of --tp-size: they cannot be divided so"
        yield _wrong(option, message, f"write a divisor of {group}", at=place.index)


def _copies(case: Case, copies: int, group: int, at: int) -> Iterator[Remark]:
    """Each copy has devices of its own, all in one machine."""
    each = group * case.size("--pp-size")
    needed, nodes = each * copies, case.first.node.nodes or 1
    how = f"{copies} without {names.ATTENTION_DP_SWITCH} starts {copies} whole copies of {each} devices each"
    if nodes > 1:
        message = f"{how}, which {case.engine.facts.title} does on one machine alone (--nnodes {nodes})"
        yield _wrong(names.REPLICAS, message, _remedy(case, copies, group), at=at, edits=_edits(case, copies, group))
        return
    if case.option(names.OVER_NODES_BY) is not None or case.engine.platforms == (Platform.CPU,):
        return
    there = case.cluster.per_node if case.cluster is not None else LARGEST_MACHINE
    if needed <= there:
        return
    sure = case.devices_asked or needed > LARGEST_MACHINE
    if not sure and _counts_so_many(case, needed):
        return
    known = f"a machine of {case.cluster.name} has {there}" if case.cluster is not None else f"no machine has {needed}"
    message = f"{how}, {needed} on one machine, and {known}"
    severity = Severity.ERROR if sure else Severity.WARNING
    edits = _edits(case, copies, group) if sure else ()
    remedy, code = _remedy(case, copies, group), Code.ILLEGAL_LAYOUT
    yield make_remark(severity, code, names.REPLICAS, message, remedy, at=at, edits=edits)


def _counts_so_many(case: Case, devices: int) -> bool:
    """Whether the text around the command counts so many: the fewer ones that it names elsewhere are another's."""
    line = case.commands[0].line
    counted = re.compile(rf"(?<!\d){devices}[ x×-]{{0,2}}(?:GPU|card|device|卡)", re.IGNORECASE)
    around = case.script.lines[max(0, line - _AROUND) : line + _AROUND]
    return any(counted.search(text[:_LONGEST]) for text in around)


def _remedy(case: Case, copies: int, group: int) -> str:
    if group % copies:
        return f"leave {names.REPLICAS} out, and start each copy by itself, behind a router"
    return f"add {_switch(case, copies)} where the copies should share {group} devices, else leave {names.REPLICAS} out"


def _switch(case: Case, copies: int) -> str:
    if case.base_version and not since(case.base_version, names.ATTENTION_DP_SINCE):
        return names.ATTENTION_DP_SWITCH
    return f"{names.ATTENTION_DP} {copies} in its place"


def _edits(case: Case, copies: int, group: int) -> Sequence[Edit]:
    """What makes attention shared, where nothing else can have been meant: as many copies as ranks of one."""
    place = case.option(names.REPLICAS)
    if copies != group or place is None:
        return ()
    if case.base_version and not since(case.base_version, names.ATTENTION_DP_SINCE):
        return (Edit(len(case.commands[0].argv), 0, (names.ATTENTION_DP_SWITCH,)),)
    return (Edit(place.index, place.length, (names.ATTENTION_DP, str(copies))),)


def _companion(case: Case, copies: int, ways: int) -> Iterator[Remark]:
    """An option of attention that is shared, beside whole copies. Without either it is switched off silently."""
    place = case.option(names.NEEDS_ATTENTION_DP)
    if place is not None and place.value is True and ways == 1 < copies:
        message = "it needs attention that data-parallel ranks share, and with whole copies it stops the start"
        remedy = f"add {_switch(case, copies)}, or leave it out"
        yield make_remark(Severity.ERROR, Code.CONFLICT, place.written, message, remedy, at=place.index)
