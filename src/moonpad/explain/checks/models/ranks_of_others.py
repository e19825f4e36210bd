"""Sizes of groups against what models that are not planned have: KV heads for a cache's ranks, experts for a balancer.
Of those that are planned, the rules of plan/rules say it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.catalog.other_models import OtherModel
from moonpad.engines import foreign_names as names
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.named_models import Named, named_model
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import is_final, since

FIRST_READ: Final = "0.11.2"
"""The oldest of the releases in which both were read."""
_CACHE: Final = "--decode-context-parallel-size"
_BALANCER: Final = "--enable-eplb"
_BALANCING: Final = "--eplb-config"
_SHARED: Final = "--enable-expert-parallel"


def cache_ranks_of_others(case: Case) -> Iterator[Remark]:
    """Ranks that share out a cache are those that hold the same KV head."""
    named, place = _judged(case), case.option(_CACHE)
    if named is None or place is None or not named.model.kv_heads or case.option(names.PREFILL_PARALLEL) is not None:
        return
    known, layout = named.model, case.first.layout
    if layout.dcp < 2:
        return
    most = max((n for n in range(1, layout.dcp + 1) if _fits(known, layout.tp, n)), default=1)
    if most == layout.dcp:
        return
    each = max(1, layout.tp // known.kv_heads)
    message = (
        f"{layout.dcp}: each of the {known.kv_heads} KV heads of {known.title} lies on {each} of {layout.tp} ranks of "
        "tensor parallelism, and only ranks with the same head share out its cache: the start ends"
    )
    if each >= layout.dcp:
        shared = known.heads // known.kv_heads
        message = (
            f"{layout.dcp} does not divide the {shared} heads of {known.title} that read one KV head: the start ends"
        )
    remedy = f"write {place.written} {most}" if most > 1 else "leave it out"
    severity = _severity(case, named)
    yield make_remark(severity, Code.ILLEGAL_LAYOUT, _CACHE, message, remedy, at=place.index)


def balanced_experts_of_others(case: Case) -> Iterator[Remark]:
    """A balancer wants as many experts on each rank, those that it doubles among them."""
    named, place = _judged(case), case.option(_BALANCER)
    if named is None or place is None or not named.model.experts or case.option(_SHARED) is None:
        return
    if unresolved(case.text(_BALANCING)):
        return
    experts, more, ranks = named.model.experts, case.first.settings.redundant_experts, case.first.layout.ep
    if ranks < 2 or not (experts + more) % ranks:
        return
    doubled = f" and {more} redundant ones" if more else ""
    message = (
        f"{experts} experts{doubled} are not shared out evenly over {ranks} ranks, which balancing needs: the start "
        "ends (EPLB currently only supports even distribution)"
    )
    remedy = f"set num_redundant_experts to {-experts % ranks}, or to {ranks} more than that"
    yield make_remark(_severity(case, named), Code.ILLEGAL_LAYOUT, _BALANCER, message, remedy, at=place.index)


def _judged(case: Case) -> Named | None:
    if case.engine.name != names.EXPERTS_BY_VARIABLE or not case.laid_out:
        return None
    if case.base_version and not since(case.base_version, FIRST_READ):
        return None
    return named_model(case)


def _fits(known: OtherModel, tp: int, cache: int) -> bool:
    if cache == 1:
        return True
    of_one_head = known.heads // known.kv_heads if known.heads else 0
    return tp > known.kv_heads and cache <= tp // known.kv_heads and not of_one_head % cache


def _severity(case: Case, named: Named) -> Severity:
    command = case.commands[0]
    doubtful = is_fragment(command) or command.custom or command.fork or case.open_ended
    sure = named.sure and bool(case.version) and is_final(case.version) and not doubtful
    return Severity.ERROR if sure else Severity.WARNING


RANKS_OF_OTHERS: Final = (cache_ranks_of_others, balanced_experts_of_others)
