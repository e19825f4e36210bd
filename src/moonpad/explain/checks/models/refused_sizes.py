"""Sizes that the start divides by one another, and refuses where something is left over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.named_models import named_model
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import since

_BACKENDS: Final = ("--attention-backend", "--prefill-attention-backend", "--decode-attention-backend")
_COPIES: Final = "--ep-num-redundant-experts"
_ON_ALL_RANKS: Final = ("deepep", "mooncake")
"""Backends that exchange tokens, with which the experts are spread over all ranks of --tp-size."""
_KEPT: Final = (32, 64)
"""Pages that no backend changes by itself."""


def pages_of_chunk(case: Case) -> Iterator[Remark]:
    """A chunk of prefill is whole pages; ranks of data-parallel attention share it out first."""
    place, pages = case.option("--chunked-prefill-size"), case.option("--page-size")
    if case.base != names.EXPERTS_BY_OPTION or place is None or pages is None:
        return
    chunk, page = _size(case, "--chunked-prefill-size"), _size(case, "--page-size")
    shared = case.option("--enable-dp-attention") is not None
    ranks = case.size("--dp-size") if shared else 1
    if chunk <= 0 or page <= 1 or not case.laid_out or case.text("--disaggregation-mode") == "decode":
        return
    if not (left := chunk // ranks % page):
        return
    each = f"{chunk} over {ranks} ranks are {chunk // ranks} tokens each, which" if ranks > 1 else f"{chunk} tokens"
    message = (
        f"{each} are not a multiple of the page size, {page} (--page-size): {left} are left over, and the start fails"
    )
    fits = chunk // (ranks * page) * ranks * page or ranks * page
    edit = Edit(place.index, place.length, (place.written, str(fits)))
    known = case.base_version and since(case.base_version, names.WHOLE_EXPERTS_SINCE) and page in _KEPT
    sure = known and all(case.option(flag) is None for flag in _BACKENDS)
    severity = Severity.ERROR if sure else Severity.WARNING
    where, remedy = place.written, f"write {place.written} {fits}"
    yield make_remark(severity, Code.INVALID_VALUE, where, message, remedy, at=place.index, edits=[edit])


def experts_on_all_ranks(case: Case) -> Iterator[Remark]:
    """One backend of experts has them whole on each rank or spread over all."""
    place = case.option("--ep-size")
    if case.base != names.EXPERTS_BY_OPTION or place is None or not case.laid_out:
        return
    runner, size, group = case.text("--moe-runner-backend"), _size(case, "--ep-size"), case.size("--tp-size")
    if runner != names.WHOLE_EXPERTS or size <= 1 or size >= group or case.option("--moe-a2a-backend") is not None:
        return
    if case.base_version and not since(case.base_version, names.WHOLE_EXPERTS_SINCE):
        return
    message = f"{size}: {runner} takes 1 or all {group} ranks of --tp-size, and ends at the start with others"
    edit = Edit(place.index, place.length, (place.written, str(group)))
    where, remedy = place.written, f"write {place.written} {group}, or leave it out"
    yield make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, where, message, remedy, at=place.index, edits=[edit])


def copies_of_experts(case: Case) -> Iterator[Remark]:
    """The experts and the copies of some lie in equal numbers on the ranks, of models that are not planned."""
    place, copies, named = case.option(_COPIES), _size(case, _COPIES), named_model(case)
    if case.base != names.EXPERTS_BY_OPTION or place is None or not copies or named is None or not named.model.experts:
        return
    spread = case.text("--moe-a2a-backend") in _ON_ALL_RANKS
    ranks = case.size("--tp-size") if spread else case.size("--ep-size")
    experts = named.model.experts + copies
    if ranks < 2 or not case.laid_out or not experts % ranks:
        return
    left = experts % ranks
    fits = copies + ranks - left
    message = (
        f"{named.model.experts} experts of {named.model.title} and {copies} copies leave {left} over on {ranks} ranks, "
        "and each has to hold the same number"
    )
    remedy = f"write {_COPIES} {fits}"
    edit = Edit(place.index, place.length, (place.written, str(fits)))
    yield make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, _COPIES, message, remedy, at=place.index, edits=[edit])


def _size(case: Case, flag: str) -> int:
    text = case.text(flag)
    return 0 if unresolved(text) else whole(text) or 0
