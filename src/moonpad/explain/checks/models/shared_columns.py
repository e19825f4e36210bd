"""What every token passes beside the routed experts: it is shared out over all ranks, though experts stay whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.catalog.other_models import fp8_block, other_model
from moonpad.engines import foreign_names as names
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_WHOLE: Final = ("--moe-a2a-backend", "--enable-deepep-moe", "--enable-dp-attention", "--moe-dense-tp-size")
"""With them it may be kept whole on each rank."""


def shared_expert_of_others(case: Case) -> Iterator[Remark]:
    """The columns of the shared expert over the ranks, against those that have one FP8 scale."""
    written = case.model_named
    if case.base != names.EXPERTS_BY_OPTION or case.checkpoint is not None or not written or unresolved(written):
        return
    known, place = other_model(written), case.option("--tp-size")
    if known is None or place is None or not known.shared_columns or not case.laid_out:
        return
    ranks, block, columns = case.size("--tp-size"), fp8_block(known, written), known.shared_columns
    if ranks < 2 or not block or case.option(*_WHOLE) is not None or columns % (ranks * block) == 0:
        return
    if case.option("--ep-size") is None and known.expert_columns % (ranks * block):
        return  # said of the routed experts
    fitting = next(each for each in range(ranks - 1, 0, -1) if columns % (each * block) == 0)
    message = (
        f"the shared expert of {known.title} has {columns} columns, and over {ranks} ranks that is {columns / ranks:g} "
        f"each, which FP8 blocks of {block} do not divide, whatever --ep-size says (not divisible by weight "
        "quantization block_n)"
    )
    remedy = f"write {place.written} {fitting}, or take weights in another format"
    yield make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, place.written, message, remedy, at=place.index)


SHARED_CHECKS: Final = (shared_expert_of_others,)
