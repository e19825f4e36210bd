"""Sizes that a pasted log has, and what the layer for multi-token prediction takes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import as_json
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.plan.tensors import nextn_bytes
from moonpad.values.finding import Code, Severity
from moonpad.values.units import gib

_LOADED: Final = re.compile(
    r"Load weight end\..{0,200}?avail mem=(?P<left>\d{1,4}\.\d{1,3}) GB, mem usage=(?P<held>\d{1,4}\.\d{1,3}) GB"
)
_RESERVED: Final = 64
"""Tokens that the server keeps from the context that was asked for."""
_LONGEST: Final = 2000


def static_fraction(case: Case) -> Iterator[Remark]:
    """The share for weights and KV cache, against what the log in the text has of the weights."""
    fraction, place = case.first.settings.gpu_memory_utilization, case.option("--mem-fraction-static")
    if case.base != names.EXPERTS_BY_OPTION or fraction is None or place is None:
        return
    case.script.budget.once("weights in logs", len(case.script.lines), "the text around its engine commands")
    if not is_in_lines(_LOADED, case.script.lines, _LONGEST):
        return
    loaded = [found for line in case.script.lines if (found := _LOADED.search(line[:_LONGEST]))]
    if not loaded:
        return
    held = max(float(found["held"]) for found in loaded)
    there = held + float(next(found["left"] for found in loaded if float(found["held"]) == held))
    if there <= 0 or fraction * there >= held:
        return
    least = math.ceil(10000 * held / there) / 10000
    message = (
        f"{fraction:g} of {there:.1f} GB is {fraction * there:.1f} GB, and by the log in the text the weights take "
        f"{held:g} GB of it: nothing is left for the KV cache"
    )
    remedy = f"write {place.written} above {least:g}, or spread the weights over more devices"
    yield make_remark(Severity.ERROR, Code.DOES_NOT_FIT, place.written, message, remedy, at=place.index)


def pool_of_log(case: Case) -> Iterator[Remark]:
    """A context above the tokens that the KV cache holds by what the text quotes."""
    place, context = case.option(names.CONTEXT_OF_POOL), case.first.settings.max_model_len
    if case.base != names.EXPERTS_BY_OPTION or place is None or not context:
        return
    if any(command.program == case.engine.program for command in case.script.commands if command not in case.commands):
        return  # whose it is cannot be told
    case.script.budget.work(len(case.script.lines), "the text around its engine commands")
    pools = {int(found[1] or found[2]) for line in case.script.lines if (found := names.POOL.search(line[:_LONGEST]))}
    if len(pools) != 1 or (pool := pools.pop()) >= context - _RESERVED:
        return
    message = (
        f"{context:,}: by the text the server takes at most {pool:,} tokens, which is what its KV cache holds beside "
        "the weights. The option does not make that larger"
    )
    remedy = f"write {place.written} {pool}, or take more devices, an FP8 KV cache or a larger --mem-fraction-static"
    yield make_remark(Severity.WARNING, Code.TIGHT, place.written, message, remedy, at=place.index)


def prediction_layer(case: Case) -> Iterator[Remark]:
    """The checkpoint's own layer that proposes tokens, which no figure of the memory counts."""
    checkpoint, layout = case.checkpoint, case.first.layout
    held = nextn_bytes(checkpoint) if checkpoint is not None else 0
    place = _own_draft(case)
    if not held or place is None or not case.laid_out:
        return
    ranks = layout.tp * (layout.dp if layout.ep > 1 else 1)
    message = (
        f"the layer for multi-token prediction takes about {gib(held / ranks)} more on each device of the last stage, "
        "with a cache of its own, and is not counted in what fits"
    )
    remedy = "leave as much free, by a shorter context or a smaller share of the memory"
    yield make_remark(Severity.NOTE, Code.TIGHT, place.written, message, remedy, at=place.index)


def _own_draft(case: Case) -> Occurrence | None:
    if case.base == names.EXPERTS_BY_VARIABLE:
        place = case.option("--speculative-config")
        config = as_json(place.value.strip("'")) if place is not None and isinstance(place.value, str) else None
        if not isinstance(config, dict) or "model" in config:
            return None
        return place if "mtp" in str(config.get("method")) else None
    place, draft = case.option(names.ALGORITHM), case.text(names.DRAFT_PATH).casefold().rstrip("/")
    own = case.base == names.EXPERTS_BY_OPTION and place is not None and place.value in names.OWN_DRAFTS
    return (
        place if own and (not draft or "nextn" in draft or draft == case.first.model.casefold().rstrip("/")) else None
    )
