"""Formats of weights that the devices do not compute, of models that are not planned: FP8 in blocks before capability
8.9, NVFP4 before 10.0. Of those that are planned, the rules of plan/rules/formats.py say it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.other_models import fp8_block, other_model
from moonpad.engines import ENGINES
from moonpad.engines import foreign_names as names
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.documents.spoken_capabilities import sm_of, spoken_capability
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform
from moonpad.values.versions import order

FP8_FROM: Final = 89
FP4_FROM: Final = 100
_NVFP4: Final = re.compile(r"(?<![a-z0-9])nvfp4(?![a-z0-9])|^nvidia[/_-][\w.-]{1,80}-fp4(?![a-z0-9])", re.IGNORECASE)
_NO_FP8: Final = re.compile(r"type fp8e4nv not supported in this architecture\. The supported")
_LONGEST: Final = 2000
_EXPERTS: Final = "--moe-backend"


def fp8_before_89(case: Case) -> Iterator[Remark]:
    """Blocks of FP8 where the release has no kernel that takes the weights alone."""
    name = case.model_named
    known = other_model(name) if name and not unresolved(name) and case.checkpoint is None else None
    if known is None or not fp8_block(known, name):
        return
    sm, devices = _devices(case)
    if sm is None or sm >= FP8_FROM:
        return
    last = name.rstrip("/").rpartition("/")[2]
    lacks = f"{last} is FP8 with scales for blocks, and {devices} do not compute FP8"
    first, place = case.engine.facts.weight_only_fp8_since or "", case.option(_EXPERTS)
    remedy = "take BF16, INT8 or INT4 weights (AWQ, GPTQ), or devices of capability 8.9 or later"
    if first and case.version and order(case.version) < order(first):
        message = f"{lacks}: before {first} the start ends with type fp8e4nv not supported in this architecture"
        remedy = f"take {first} or later, which multiplies them in BF16 (Marlin), or BF16, INT8 or INT4 weights"
        sure = case.devices_asked and "/" in name.rstrip("/") and not name.startswith(("/", ".", "~"))
        severity = Severity.ERROR if sure else Severity.WARNING
        yield make_remark(severity, Code.UNSUPPORTED_FORMAT, "weights", message, remedy)
    elif place is not None and place.value == names.WITHOUT_WEIGHT_ONLY and case.base == names.EXPERTS_BY_VARIABLE:
        message = f"{lacks}, which this backend needs (type fp8e4nv not supported in this architecture)"
        remedy = f"write {_EXPERTS} marlin, which multiplies in BF16, or leave it out"
        yield make_remark(Severity.WARNING, Code.UNSUPPORTED_FORMAT, _EXPERTS, message, remedy, at=place.index)
    elif case.engine.name in names.NO_WEIGHT_ONLY_EXPERTS and known.experts:
        until = names.NO_WEIGHT_ONLY_EXPERTS[case.engine.name]
        if not until or (case.version and order(case.version) < order(until)):
            message = f"{lacks}: its experts end with type fp8e4nv not supported in this architecture"
            yield make_remark(Severity.WARNING, Code.UNSUPPORTED_FORMAT, "weights", message, remedy)


def nvfp4_before_100(case: Case) -> Iterator[Remark]:
    """NVFP4 where the release does not multiply such weights in BF16."""
    name = case.model_named
    if not is_nvfp4(name) or unresolved(name) or (case.checkpoint is not None and case.cluster is not None):
        return
    sm, _ = _devices(case)
    if not sm:
        return
    message, remedy = nvfp4_refused(case.engine.name, case.version, name, sm)
    if message:
        yield make_remark(Severity.WARNING, Code.UNSUPPORTED_FORMAT, "weights", message, remedy)


def nvfp4_refused(engine: str, version: str, name: str, sm: int) -> tuple[str, str]:
    """Why such weights do not run there, and what helps; nothing where they do, or it is not known."""
    facts = ENGINES[engine].facts
    if sm >= FP4_FROM or not is_nvfp4(name) or Platform.CUDA not in facts.platforms or facts.host_experts:
        return "", ""
    first = names.WEIGHT_ONLY_NVFP4.get(engine)
    if first is None and facts.weight_only_nvfp4_since is not None:
        return "", ""
    if first is not None and (not version or order(version) >= order(first)):
        return "", ""
    last = name.rstrip("/").rpartition("/")[2]
    lacks = f"{last} is NVFP4, and devices of capability {sm / 10} have no FP4 arithmetic (from 10.0 on, Blackwell)"
    if first is None:
        return f"{lacks}, which {facts.title} needs unless a backend by Marlin is chosen", "take FP8 or INT4 weights"
    message = f"{lacks}, which {facts.title} needs before {first}"
    return message, f"take FP8 or INT4 weights, or {first} or later, which multiplies them in BF16 (Marlin)"


def is_nvfp4(name: str) -> bool:
    return _NVFP4.search(name) is not None


def _devices(case: Case) -> tuple[int | None, str]:
    """Their capability as a number, and how to speak of them; a pasted error tells at least that they are too old."""
    sm = case.cluster.device.sm if case.cluster is not None else sm_of(spoken_capability(case.script))
    if sm is None and case.cluster is None:
        case.script.budget.work(len(case.script.lines), "the text around its engine commands")
    if sm is None and case.cluster is None and is_in_lines(_NO_FP8, case.script.lines, _LONGEST):
        return 0, "these devices, by the error in the text,"
    return sm, f"devices of capability {sm / 10}" if sm else ""


FORMAT_CHECKS: Final = (fp8_before_89, nvfp4_before_100)
