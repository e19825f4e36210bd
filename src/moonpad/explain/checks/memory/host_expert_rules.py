"""Engines whose experts lie in host memory: files of rules for another family of models, methods for another maker's
processors, and an engine that comes without the kernels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from moonpad.engines import file_names
from moonpad.engines import host_expert_names as names
from moonpad.engines.program_words import NO_PROCESSOR_REPORT
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.quantization_flags import weights_of
from moonpad.explain.commands import Script
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace

_LONGEST: Final = 1000
_SHIPPED: Final = "optimize_rules/"
_AMD: Final = re.compile(
    r"\b(?:AMD[ ](?:EPYC|Ryzen|Threadripper)|EPYC|Threadripper|Ryzen|AuthenticAMD)\b", re.IGNORECASE
)
_WITHOUT_AMX: Final = re.compile(r"\b(?:no|without|lacks?) AMX\b", re.IGNORECASE)
_INTEL_BEFORE_AMX: Final = re.compile(
    r"\b(?:(?:Ice[ -]?Lake|Cascade[ -]?Lake|Cooper[ -]?Lake|Skylake|Broadwell|Haswell)(?:-?(?:SP|X|EP))?(?![\w-])"
    r"|Xeon(?:\(R\))?(?:[ ](?:CPU|Platinum|Gold|Silver|Bronze)(?:\(R\))?){0,2}[ ][34568][123]\d\d[A-Z]{0,2}(?!\w)"
    r"|Xeon(?:\(R\))?[ ](?:CPU[ ])?E[357]-\d{4}(?!\w))",
    re.IGNORECASE,
)
"""Scalable processors of the first three generations, whose second figure is 1 to 3: AMX came with the fourth."""
_WITH_AMX: Final = re.compile(
    r"\b(?:Sapphire|Emerald|Granite)[ -]?Rapids\b|\bamx_(?:tile|int8|bf16)\b"
    r"|\b(?:Xeon|Platinum|Gold|Silver)[ -]\w{0,3}?[3568][456]\d\d|\bXeon[ -]6\b|\b6[79]\d\dP\b",
    re.IGNORECASE,
)
_INTEL: Final = re.compile(r"\b(?:Intel|Xeon|AMX)\b", re.IGNORECASE)


_OF_AMX: Final = "a processor without AMX"
_MEASURED: Final = re.compile(r"\b\d[\d.,]*[ ]?(?:tokens?/s|tok/s|t/s|tps)\b", re.IGNORECASE)


def but_with_amx(findings: Iterable[Finding], script: Script, told: Iterable[Remark]) -> Iterator[Finding]:
    """Without what was seen on processors that have no AMX, where the text names others, or has measured it, or where a
    report tells it; as a note where it names none (https://github.com/kvcache-ai/ktransformers/issues/2076)."""
    for finding in findings:
        if _OF_AMX not in finding.message:
            yield finding
            continue
        script.budget.work(2 * len(script.lines), "the processors of its text")
        if any(NO_PROCESSOR_REPORT in remark.finding.message for remark in told):
            continue
        lines = [line[:_LONGEST] for line in script.lines]
        without = any(_AMD.search(line) or _WITHOUT_AMX.search(line) for line in lines)
        if without:
            yield finding
        elif not any(_INTEL.search(line) or _MEASURED.search(line) for line in lines):
            yield replace(finding, severity=Severity.NOTE)


def rules_of_another_family(case: Case) -> Iterator[Remark]:
    """The rules look for modules by the names of their classes: those of another family have none of them."""
    place = case.option(*names.RULES)
    value = place.value.strip("'\"") if place is not None and isinstance(place.value, str) else ""
    if place is None or not value or unresolved(value) or unresolved(case.first.model):
        return
    file = value.rpartition("/")[2]
    model = case.model_named.rstrip("/").rpartition("/")[2]
    own = next((family for family, pattern in names.FAMILIES_OF_MODELS if pattern.search(model)), "")
    theirs = next((family for family, pattern in names.FAMILIES_OF_RULES if pattern.match(file)), "")
    if own and theirs and own != theirs:
        message = f"{shortened(file, 50)} has the rules of {theirs}, by its name, and {shortened(model, 50)} is of "
        message += f"{own}: its classes are found nowhere in it, and nothing is put onto the processors"
        remedy = f"take the file for {own}"
        yield make_remark(Severity.WARNING, Code.CONFLICT, place.written, message, remedy, at=place.index)
    elif _SHIPPED in value and value.endswith(".yml"):
        message = f"{shortened(file, 50)}: the files that the engine brings end in .yaml: there is no such file"
        remedy = f"write {shortened(value[:-3], 80)}yaml"
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, place.written, message, remedy, at=place.index)


def method_of_another_maker(case: Case) -> Iterator[Remark]:
    """AMX is of Intel's processors, and the text speaks of AMD's alone."""
    place, method = case.option(names.METHOD), case.text(names.METHOD).strip("'\"")
    if place is None or method not in names.OF_AMX or not case.engine.facts.host_experts:
        return
    case.script.budget.work(2 * len(case.script.lines), "the processors of its text")
    written = f"{names.METHOD} {method}"
    lines = [line[:_LONGEST].replace(written, "") for line in case.script.lines if method not in line]
    found = next((match[0] for line in lines if (match := _AMD.search(line))), "")
    older = next((match[0] for line in lines if (match := _INTEL_BEFORE_AMX.search(line))), "")
    if older and not found and not any(_WITH_AMX.search(line) for line in lines):
        whose, found = "which Intel's have from Sapphire Rapids on", older
    elif found and not any(_INTEL.search(line) for line in lines):
        whose = "which are Intel's"
    else:
        return
    message = f"{method} is for processors with AMX, {whose}, and the text speaks of {found}: the load ends, or "
    message += "runs without what makes it fast"
    remedy = names.FOR_AMD
    yield make_remark(Severity.WARNING, Code.CONFLICT, names.METHOD, message, remedy, at=place.index)


def method_of_other_weights(case: Case) -> Iterator[Remark]:
    """The published weights of a model that is not planned, in another format than the method reads."""
    place, method = case.option(names.METHOD), case.text(names.METHOD).strip("'\"")
    wants = file_names.FORMATS_OF_METHODS.get(method)
    if place is None or wants is None or case.checkpoint is not None or not case.engine.facts.host_experts:
        return
    path = case.text(names.WEIGHTS).strip("'\"").rstrip("/")
    model = case.first.model.strip("'\"").rstrip("/")
    last = model.rpartition("/")[2]
    if not last or path.rpartition("/")[2] != last or unresolved(model):
        return
    weights = weights_of(case)
    own = sorted(weights.methods)[0] if weights is not None and len(weights.methods) == 1 else ""
    if own in file_names.METHOD_OF_FORMAT and own not in wants:
        right = file_names.METHOD_OF_FORMAT[own]
        message = f"{method}: by their name these weights are {own.upper()}, which {right} reads"
        remedy = f"write {names.METHOD} {right}, or give weights of that kind"
    elif not own and method == names.OF_KIMI and names.NOT_IN_INT4.search(last) and not names.IN_INT4.search(last):
        message = (
            f"{method} reads INT4 weights as Kimi's publisher gives them, and those of {shortened(last, 50)} are in "
        )
        message += "another format"
        remedy = f"write {names.METHOD} FP8 for FP8 weights, or BF16"
    else:
        return
    yield make_remark(Severity.WARNING, Code.CONFLICT, names.METHOD, message, remedy, at=place.index)


def without_kernels(case: Case) -> Iterator[Remark]:
    """The text installs the engine alone, which reads the options and has not the kernels for them."""
    place = case.option(names.WEIGHTS)
    if place is None or case.script.markdown:
        return
    case.script.budget.work(2 * len(case.script.lines), "what it installs")
    lines = [line[:_LONGEST] for line in case.script.lines]
    installs = any(names.BRINGS_ENGINE.search(line) for line in lines)
    if not installs or any(names.BRINGS_KERNELS.search(line) for line in lines):
        return
    message, remedy = names.WITHOUT_KERNELS
    yield make_remark(Severity.WARNING, Code.CONFLICT, names.WEIGHTS, message, remedy, at=place.index)


HOST_EXPERT_RULES: Final = (
    rules_of_another_family,
    method_of_another_maker,
    method_of_other_weights,
    without_kernels,
)
