"""Layouts that a model cannot have which is not planned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.catalog.other_models import OtherModel, fp8_block
from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.named_models import named_model
from moonpad.explain.checks.releases.registered_names import of_own_build
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_PADDING: Final = 64
"""The vocabulary is made a multiple of that before it is shared out."""
_KV: Final = "KV heads"


def heads_of_others(case: Case) -> Iterator[Remark]:
    """What tensor parallelism would cut that cannot be cut so; of the others the rules of plan/rules tell."""
    named, flag = named_model(case), case.engine.command_line.options.get("tp")
    if named is None or flag is None or "tp" in case.unknown or case.engine.name not in names.CHECKED:
        return
    known, tp, place = named.model, case.first.layout.tp, case.option(flag)
    shares = [*_shares_of(known, case)]
    uneven = [what for size, what, _ in shares if not _divides(size, tp, what)]
    if tp < 2 or place is None or not uneven:
        return
    fitting = [n for n in range(tp, 1, -1) if all(_divides(size, n, what) for size, what, _ in shares)]
    # The weights may need the most devices that can share them.
    most = next((n for n in fitting if _cuts_columns(known, n, case)), 1)
    message = f"{tp}: {' and '.join(uneven[:2])} of {known.title} cannot be shared out evenly"
    certain = named.sure and any(sure and not _divides(size, tp, what) for size, what, sure in shares)
    certain = certain and not is_fragment(case.commands[0]) and not of_own_build(case)
    severity = Severity.ERROR if certain else Severity.WARNING
    remedy = f"write {flag} {most}"
    if most % (case.first.node.nodes or 1):
        remedy += ", on one machine, without --nnodes"
    yield make_remark(severity, Code.ILLEGAL_LAYOUT, flag, message, remedy, at=place.index)


def _shares_of(known: OtherModel, case: Case) -> Iterator[tuple[int, str, bool]]:
    """What the ranks of a tensor-parallel group share out: how many, what it is, and whether another number surely ends
    the start."""
    if known.heads:
        yield known.heads, f"the {known.heads} attention heads", True
    if case.base not in names.SHARE_KV_HEADS:
        return
    plain = case.base == names.EXPERTS_BY_VARIABLE
    if known.kv_heads:
        yield known.kv_heads, f"the {known.kv_heads} {_KV}", plain
    if known.vocabulary and plain:
        padded = -(-known.vocabulary // _PADDING) * _PADDING
        yield padded, f"the {known.vocabulary} tokens of the vocabulary", True


def _cuts_columns(known: OtherModel, tp: int, case: Case) -> bool:
    """Whether the columns of the MLP are cut too, in whole blocks where each has its FP8 scale; of widths that are not
    known, a power of two is one. Experts that are spread out are not cut."""
    block = fp8_block(known, case.model_named) or 1
    widths = [(known.dense_columns, block), (known.shared_columns, block)]
    widths = [*widths, (known.expert_columns, 1 if case.first.layout.ep > 1 else block)]
    sizes = [(size, of_block) for size, of_block in widths if size]
    return all(size % (tp * of_block) == 0 for size, of_block in sizes) if sizes else tp & (tp - 1) == 0


def _divides(size: int, tp: int, what: str) -> bool:
    """KV heads are copied where there are more ranks than heads."""
    return size % tp == 0 or (what.endswith(_KV) and tp % size == 0)
