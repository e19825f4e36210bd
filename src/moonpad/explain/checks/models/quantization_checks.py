"""`--quantization` against the releases that have the method, and against what the weights are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.models import find_model
from moonpad.catalog.other_models import other_model
from moonpad.engines import foreign_names as names
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.other_families import in_full
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from moonpad.values.versions import since

_FLAG: Final = "--quantization"
_PUBLISHED: Final = re.compile(r"deepseek[-_ ]?(?:v3(?:\.1|-0324)?|r1)(?![\d.]*\d|[-_]distill)", re.IGNORECASE)
_CONVERTED: Final = re.compile(
    r"(?<![a-z0-9])(?:w\d+a\d+\w*|int[48]|bf16|awq|gptq|gguf|quarot|modelslim|msmodelslim|ascend[-_]quant\w*)(?![a-z0-9])",
    re.IGNORECASE,
)
_PLAIN: Final = re.compile(r"(?<![a-z0-9])(?:bf16|fp16|bfloat16)(?![a-z0-9])", re.IGNORECASE)
_LONGEST: Final = 2000
_OWN_WINS: Final = ("modelopt", "0.10.0")
"""Weights whose own method is put in place of the one that is asked for, from this release on."""


def quantization_mismatch(case: Case) -> Iterator[Remark]:
    """Another method than that of the published weights: the engine compares the two."""
    place, method = _given(case)
    checkpoint = case.checkpoint
    if place is None or checkpoint is None or case.base != names.EXPERTS_BY_VARIABLE:
        return
    own = checkpoint.quantization.method
    same = method == own or (method.startswith(own) and own in ("fp8", "modelopt")) or own in ("", "gguf")
    wins = own == _OWN_WINS[0] and method != names.FOR_ASCEND and since(case.version or _OWN_WINS[1], _OWN_WINS[1])
    if same or wins or method not in names.OTHER_METHODS:
        return
    message = f"{method}: config.json of {checkpoint.name} says {own}, and the engine refuses another method"
    edits, severity, remedy = [Edit(place.index, place.length, ())], Severity.ERROR, "leave it out"
    if not in_full(checkpoint.name, case.model_named):  # a folder, which may hold other weights
        kind = method.partition("_")[0]
        if method == names.FOR_ASCEND or kind in case.model_named.casefold() or not _is_named(case):
            return
        severity, edits = Severity.WARNING, []
        message = f"{method}: {checkpoint.name} as published is {own}, and the engine refuses another method"
        remedy = f"leave it out, unless these are {kind.upper()} weights of someone else's"
    if method == names.FOR_ASCEND:
        message = (
            f"{message}: it reads weights that ModelSlim has made for Ascend, with their quant_model_description.json"
        )
        remedy, edits = "serve such weights, W8A8 or W4A8, or leave it out", []
        severity = Severity.WARNING  # builds for these devices choose the method in ways of their own
    remark = make_remark(severity, Code.CONFLICT, _FLAG, message, remedy, at=place.index, edits=edits)
    yield replace(remark, stops=method == names.FOR_ASCEND)


def _is_named(case: Case) -> bool:
    """Whether the last part of the path names the model, with the method of the published weights at most."""
    written, checkpoint = case.model_named.rstrip("/").rpartition("/")[2].casefold(), case.checkpoint
    own = checkpoint.name.rpartition("/")[2].casefold() if checkpoint is not None else ""
    rest = written.removeprefix(own) if own and written.startswith(own) else written
    return rest in ("", f"-{checkpoint.quantization.scheme}" if checkpoint is not None else "")


def weights_for_ascend(case: Case) -> Iterator[Remark]:
    """The publisher's weights where the devices read others. A folder's name does not say which it holds."""
    if case.engine.platforms != (Platform.ASCEND,):
        return
    if case.cluster is not None and case.cluster.device.capability.startswith("950"):
        return
    place, method = _given(case)
    written = case.model_named
    model = find_model(written) if written else None
    made_for_it = model is not None and model.quantization is not None and model.quantization.method == names.FOR_ASCEND
    if made_for_it or unresolved(written) or _CONVERTED.search(written):
        return
    if method == names.FOR_ASCEND and place is not None and (published := _as_published(written)) is not None:
        if case.checkpoint is not None and in_full(case.checkpoint.name, written):
            return  # said by `quantization_mismatch`
        name, scheme = published
        message = (
            f"it reads weights that ModelSlim has made for Ascend, with quant_model_description.json beside them; "
            f"those of {name} as published are {scheme}"
        )
        remedy = "serve the W8A8 or W4A8 conversion, or convert them by msmodelslim"
        severity = Severity.NOTE if model is None and written.startswith(("/", ".", "~")) else Severity.WARNING
        remark = make_remark(severity, Code.UNSUPPORTED_FORMAT, _FLAG, message, remedy, at=place.index)
        yield replace(remark, stops=severity is Severity.WARNING)
    elif not method and (named := _fp8_published(case)):
        message = (
            f"{named} is published in FP8 (E4M3), which A2 and A3 do not compute: as it is, it does not load; "
            "BF16 weights do, or W8A8 made for Ascend"
        )
        remedy = "convert the weights to BF16, or take W8A8 ones with --quantization ascend"
        severity = Severity.WARNING if _PUBLISHED.search(written) else Severity.NOTE
        remark = make_remark(severity, Code.UNSUPPORTED_FORMAT, "weights", message, remedy)
        yield replace(remark, stops=severity is Severity.WARNING)


def _as_published(written: str) -> tuple[str, str] | None:
    """The name and the scheme of the publisher's own weights, which a folder with just that name may hold."""
    folder = written.rstrip("/").rpartition("/")[2]
    model = find_model(written) or find_model(folder)
    if model is not None:
        return model.id, model.quantization.scheme.upper() if model.quantization else "not such"
    other = other_model(folder)
    if other is None or re.fullmatch(other.name, folder, re.IGNORECASE) is None:
        return None
    return other.title, other.published.upper() or "not such"


def method_of_plain_weights(case: Case) -> Iterator[Remark]:
    """`…-bf16` with a method that reads a file of a quantized checkpoint: no such file lies beside those weights."""
    place, method = _given(case)
    if place is None or method not in names.OF_FILES or case.checkpoint is not None or unresolved(case.model_named):
        return
    name = case.model_named[-_LONGEST:].rstrip("/").rpartition("/")[2]
    formats = {match[0].casefold() for match in _CONVERTED.finditer(name.replace("_", "-"))}
    if not _PLAIN.search(name) or formats - {"bf16"}:
        return
    message = (
        f"{method}: by their name the weights of {shortened(name, 60)} are not quantized, and the method looks for "
    )
    message += "the description of quantized ones beside them: the start ends"
    remedy = "leave it out, or serve quantized weights"
    yield make_remark(Severity.WARNING, Code.CONFLICT, _FLAG, message, remedy, at=place.index)


def _fp8_published(case: Case) -> str:
    """The model by the name that is written or served, or by the text where those say nothing; "" where nothing names
    one, or where other weights are spoken of."""
    if case.checkpoint is not None:
        return ""  # by its format the rules judge it
    own = f"{case.model_named} {case.first.served_name}"
    if _CONVERTED.search(own):
        return ""
    case.script.budget.work(2 * len(case.script.lines), "the text around its engine commands")
    lines = [line[:_LONGEST] for line in case.script.lines]
    if any(_CONVERTED.search(line) for line in lines):
        return ""
    found = _PUBLISHED.search(own)
    if found is None:
        return ""
    longer = [match[0] for line in lines for match in _PUBLISHED.finditer(line)]
    return max([found[0], *longer], key=len)


def _given(case: Case) -> tuple[Occurrence | None, str]:
    place = case.option(_FLAG)
    text = place.value.strip("'\"") if place is not None and isinstance(place.value, str) else ""
    return (place, text) if text and not unresolved(text) else (None, "")
