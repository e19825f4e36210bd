"""Columns of an expert in host memory over the pools of threads: each pool computes its part in whole steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.catalog.other_models import other_model
from moonpad.engines import host_expert_names as names
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity


def pools_of_columns(case: Case) -> Iterator[Remark]:
    """Of a method that is named; a GGUF's blocks are shared out as they come, and each pool needs one."""
    place, written = case.option(names.POOLS), case.first.model
    pools, method = whole(case.text(names.POOLS)) or 0, case.text(names.METHOD).strip("'\"").upper()
    if place is None or pools < 1 or not method or unresolved(method) or case.option(names.WEIGHTS) is None:
        return
    columns, title = _columns(case, written)
    if not columns or _fits(columns, pools, method):
        return
    each, step = columns / pools, names.STEP_OF_METHOD.get(method, 1)
    message = f"an expert of {title} has {columns} columns, and over {pools} pools that is {each:g} each"
    if columns % pools:
        message += ": no whole number (intermediate_size must be a multiple of NUMA node count)"
    elif method in names.READS_GGUF:
        message += f", and a pool computes blocks of {names.GGUF_BLOCK} at least (too small for threadpool_count)"
    else:
        message += f", which steps of {step} of {method} do not divide (not aligned to N_STEP or B_K_STEP)"
    fitting = next((fewer for fewer in range(pools - 1, 0, -1) if _fits(columns, fewer, method)), 0)
    remedy = f"write {place.written} {fitting}" if fitting else "take another method, with weights converted for it"
    if fitting and method in names.READS_CONVERTED:
        remedy += ", and convert the weights for as many"
    yield make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, place.written, message, remedy, at=place.index)


def _columns(case: Case, written: str) -> tuple[int, str]:
    if case.checkpoint is not None:
        return case.checkpoint.architecture.moe_intermediate, case.checkpoint.name
    known = None if not written or unresolved(written) else other_model(written)
    return (known.expert_columns, known.title) if known is not None else (0, "")


def _fits(columns: int, pools: int, method: str) -> bool:
    if columns % pools:
        return False
    if method in names.READS_GGUF:
        return columns % names.GGUF_BLOCK != 0 or columns // names.GGUF_BLOCK >= pools  # the former is said elsewhere
    return columns // pools % names.STEP_OF_METHOD.get(method, 1) == 0


POOL_CHECKS: Final = (pools_of_columns,)
