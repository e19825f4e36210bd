"""`--quantization` against the weights that are named, of engines that compare the two as they start:
catalog/quantization_flags.py."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from moonpad.catalog.other_models import as_published, fp8_block, of_publisher, other_model
from moonpad.catalog.quantization_flags import QuantizationFlag, methods_of_name, quantization_flags
from moonpad.engines import foreign_names
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.memory.room_of_others import room_of
from moonpad.explain.checks.models.other_families import in_full
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.units import GIB
from moonpad.values.versions import is_final, order, since

_FLAG: Final = "--quantization"
_TEXT_ALONE: Final = frozenset({"kimi_k2", "kimi_linear", "deepseek_v3"})
"""Model types whose config.json has the method at its top, where it is compared. That of a model with vision may lie in
`text_config`."""
_OVERRIDDEN: Final = frozenset({"modelopt", "gguf", "ascend"})
"""Methods of weights that win against the option, or that are found in another way."""
_PLAIN: Final = "bf16"
_ELSEWHERE: Final = ("--load-format", "--model-loader-extra-config", "--hf-overrides")
"""Options with which the method may be read from something else than config.json."""
_REPOSITORY: Final = re.compile(r"[\w.-]+/[\w.-]+/?", re.ASCII)
_READ: Final = re.compile(r"qwen/qwen3-(?!vl|omni)", re.IGNORECASE)
"""Repositories of text models whose method is known by their names."""


class Weights(NamedTuple):
    """What the weights have as `quant_method`: one of `methods`; `bf16` for none."""

    methods: frozenset[str]
    sure: bool
    """The repository is named, and its config.json is known."""
    name: str


def quantization_flag(case: Case) -> Iterator[Remark]:
    """A method for other weights than those that are named."""
    place = case.option(_FLAG)
    given = place.value.strip("'\"") if place is not None and isinstance(place.value, str) else ""
    if place is None or not given or unresolved(given):
        return
    row, weights = _row(case, given.casefold()), weights_of(case)
    if row is None or weights is None or case.option(*_ELSEWHERE) is not None:
        return
    if case.base == foreign_names.EXPERTS_BY_VARIABLE and case.checkpoint is not None and weights.methods != {_PLAIN}:
        return  # quantization_checks.py
    name, edits = shortened(weights.name, 60), [Edit(place.index, place.length, ())]
    if weights.methods == {_PLAIN}:
        if not row.file:
            return
        message = (
            f"{given}: {name} is not quantised, and this method does not convert weights: it looks for {row.file} "
            f"beside them, and the start ends (Cannot find the config file for {given})"
        )
        remedy = f"leave it out, or serve weights that were made for {row.reads[0]}"
        if without := _too_large(case):
            edits, remedy = [], f"serve weights that were made for {row.reads[0]}: {without}"
    elif weights.methods & {given, *row.reads}:
        return
    else:
        have = " or ".join(sorted(weights.methods)[:3])
        message = (
            f"{given}: the weights of {name} have {have} in their config.json, and the engine refuses another method "
            "(Quantization method specified in the model config does not match)"
        )
        remedy = "leave it out: the method is read from the weights"
    final = not case.version or is_final(case.version)
    sure = weights.sure and final and not (is_fragment(case.commands[0]) or case.commands[0].fork)
    severity = Severity.ERROR if sure else Severity.WARNING
    shown = edits if sure else []
    remark = make_remark(severity, Code.CONFLICT, _FLAG, message, remedy, at=place.index, edits=shown)
    yield replace(remark, ends_start=not sure and final)


def _too_large(case: Case) -> str:
    """Why the option alone cannot be left out: the weights as they are have no room; "" where they have, or where that
    is not known."""
    room = room_of(case, as_they_are=True, alone=True)
    if room is None or room.fits():
        return ""
    return (
        f"those that are named take at least {room.held / GIB:,.0f} GiB as they are, and {room.devices} "
        f"{'has' if room.ranks == 1 else 'have'} {room.ranks * room.each / GIB:,.0f} GiB"
    )


def redundant_quantization(case: Case) -> Iterator[Remark]:
    """The method that config.json names. Weights that are not quantised are converted as they are loaded."""
    place, checkpoint = case.option(_FLAG), case.checkpoint
    if place is None or place.value != "fp8" or case.base != foreign_names.EXPERTS_BY_VARIABLE:
        return
    weights = weights_of(case)
    of_name = weights is not None and "fp8" in weights.methods
    if of_name if checkpoint is None else checkpoint.quantization.scheme == "fp8":
        message = (
            "--quantization fp8 says nothing new for a checkpoint that is FP8: config.json names the quantization."
        )
        edits = [Edit(place.index, place.length, ())]
        code = Code.REDUNDANT_FLAG
        yield make_remark(Severity.NOTE, code, _FLAG, message, "Leave it out.", at=place.index, edits=edits)


def _row(case: Case, method: str) -> QuantizationFlag | None:
    """Without a release the newest is meant."""
    for row in quantization_flags().values():
        if case.engine.name not in row.engines or method not in row.methods:
            continue
        if not case.version:
            if not row.until:
                return row
        elif since(case.version, row.since) and (not row.until or order(case.version) < order(row.until)):
            return row
    return None


def weights_of(case: Case) -> Weights | None:
    """None where nothing is known, or where the weights are not those that the option is compared with."""
    written, checkpoint = case.model_named, case.checkpoint
    if not written or unresolved(written):
        return None
    last = written.rstrip("/").rpartition("/")[2]
    if checkpoint is not None:
        own = checkpoint.quantization.method
        if own in _OVERRIDDEN or not in_full(checkpoint.name, written):
            return None
        of_text = checkpoint.architecture.model_type in _TEXT_ALONE
        return Weights(frozenset({own or _PLAIN}), of_text, checkpoint.name)
    known, repository = other_model(written), _REPOSITORY.fullmatch(written) is not None
    sure = repository and _READ.match(written) is not None
    if known is not None and fp8_block(known, written):
        return Weights(frozenset({"fp8"}), sure, last)
    if known is not None and known.published == _PLAIN and repository and as_published(written):
        return Weights(frozenset({_PLAIN}), sure or of_publisher(written), last)
    methods = methods_of_name(written)
    if methods:
        return Weights(methods, False, last)
    return None
