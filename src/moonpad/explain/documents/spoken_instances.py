"""`4x H200 per serving instance`, over a command that makes more ranks than that, or weights that do not fit there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.device_mentions import cluster_named
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.units import GIB

_EACH: Final = re.compile(
    r"(?<![\w.×*x-])(?P<count>[0-9]{1,2})[ ]?[x×][ ]?(?:NVIDIA[ ]|AMD[ ])?(?P<kind>[A-Z]{1,2}[0-9]{2,3}[A-Z]{0,2})"
    r"(?:[ ]GPUs?)?[ ](?:per|for each|for every|in each)[ ](?:[a-z]+[ ])?(?:instance|replica|server|copy)\b"
)
_ACROSS: Final = ("--nnodes", "--data-parallel-size-local", "--disaggregation-mode", "--kv-transfer-config")


def devices_of_instance(case: Case) -> Iterator[Remark]:
    """Of the only server of a text, where the text gives each copy of it so many devices."""
    script, layout, command = case.script, case.first.layout, case.commands[0]
    if len(case.commands) > 1 or not case.laid_out or is_fragment(command) or command.pods > 1 or case.devices_asked:
        return
    if not is_first_server(case.commands, script) or any(case.option(flag) is not None for flag in _ACROSS):
        return
    lines = numbered(script, 1, len(script.lines))
    found = [(number, match) for number, text in lines for match in _EACH.finditer(text)]
    if len({(match["count"], match["kind"]) for _, match in found}) != 1:
        return
    number, match = found[0]
    count, ranks = int(match["count"]), layout.tp * layout.pp
    flag = case.engine.command_line.options.get("tp", "layout")
    place = case.option(flag)
    at = place.index if place is not None else None
    spoken = f"{script.where(number)} gives each copy {match['count']} {match['kind']}"
    if ranks > count > 0:
        message = f"{spoken}, and one copy of this layout has {ranks} ranks: the start ends for lack of devices"
        remedy = f"take machines with {ranks} devices for each copy, or a layout of {count}"
        yield make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, flag, message, remedy, at=at)
    cluster = cluster_named(f"{count}x{match['kind']}") if count else None
    if cluster is None or case.checkpoint is None or case.engine.facts.host_experts:
        return
    share = case.first.settings.gpu_memory_utilization or 1
    there, weights = count * cluster.device.usable_bytes * min(share, 1), case.checkpoint.total_bytes
    if case.first.settings.cpu_offload_gib or not 0 < there < weights:
        return
    message = (
        f"{spoken}, of which the engine may use {there / GIB:,.0f} GiB, and the weights of {case.checkpoint.name} are "
    )
    message += f"{weights / GIB:,.0f} GiB"
    yield make_remark(Severity.WARNING, Code.DOES_NOT_FIT, "memory", message, "take more devices for each copy")
