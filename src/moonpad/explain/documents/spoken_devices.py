"""The number of devices that a heading gives a command, against the ranks that the command makes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.foreign_names import PREFILL_PARALLEL
from moonpad.explain.checks.check_case import Case
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity

_HEADING: Final = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+(?P<title>\S.*)")
_COUNT: Final = re.compile(
    r"(?<![\w.×*x-])(?P<count>[0-9]{1,4})[ ]?(?:[x×][ ]?)?(?:GPUs?\b|NPUs?\b|cards?\b|(?:张)?(?:显)?卡)", re.IGNORECASE
)
_NODES: Final = re.compile(r"(?<![\w.])[0-9]{1,3}[ ]?(?:nodes?\b|machines?\b|hosts?\b|节点|台|机)", re.IGNORECASE)
_ROLES: Final = re.compile(
    r"[0-9][ ]?(?:or|to|and|/|-|–|~|或|到)[ ]?[0-9]|prefill|decode|\b\d?P\d?D\b|disaggreg|replica|each|per |每",
    re.IGNORECASE,
)
_OF_ROLES: Final = ("--disaggregation-mode", "--kv-transfer-config", "--nnodes", "--data-parallel-size-local")
_MOST: Final = 60
"""Lines from a heading to its command."""


def fewer_ranks(case: Case) -> Iterator[Remark]:
    """`128 GPUs, 16 nodes` over a command of eight ranks."""
    command, reading, script = case.commands[0], case.first, case.script
    if not script.markdown or len(case.commands) > 1 or not case.laid_out or case.open_ended or command.pods > 1:
        return
    if is_fragment(command) or reading.takes_all_devices or any(case.option(flag) is not None for flag in _OF_ROLES):
        return
    above = [(at, text) for at, text in numbered(script, command.line - _MOST, command.line - 1)]
    heading = next(((at, match["title"]) for at, text in reversed(above) if (match := _HEADING.match(text))), None)
    if heading is None or _ROLES.search(heading[1]) or _others(case, heading[0]):
        return
    counts = {int(match["count"]) for match in _COUNT.finditer(heading[1])}
    ranks = reading.layout.world_size * reading.replicas * case.size(PREFILL_PARALLEL, "-pcp")
    if len(counts) != 1 or ranks < 1:
        return
    (count,) = counts
    if count <= ranks or count % ranks or not (_NODES.search(heading[1]) or count > 8):
        return
    flag = case.engine.command_line.options.get("dp", "")
    spoken = f"{script.where(heading[0])} speaks of {count} devices"
    message = f"{spoken}, and the layout has {ranks} ranks: this command uses no others"
    where = case.engine.command_line.options.get("tp", "layout")
    copies = count // ranks
    remedy = f"add {flag} {copies * reading.layout.dp}, on all nodes" if flag else f"start {copies} of them"
    remedy += ", or a larger layout where the weights need it"
    place = case.option(where)
    at = place.index if place is not None else None
    yield make_remark(Severity.WARNING, Code.SUBOPTIMAL, where, message, remedy, at=at)


def _others(case: Case, line: int) -> bool:
    """Whether more commands of engines stand under the heading, or a loop."""
    own = case.commands[0].line
    lines = list(numbered(case.script, line + 1, len(case.script.lines)))
    end = next((at for at, text in lines if at > own and _HEADING.match(text)), len(case.script.lines) + 1)
    servers = [each for each in case.script.commands if line < each.line < end and each.program != "other"]
    is_loop = any(text.lstrip().startswith(("for ", "while ")) for at, text in lines if at < own)
    return is_loop or any(each.line != own for each in servers)
