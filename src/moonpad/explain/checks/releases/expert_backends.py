"""A backend of experts that has no kernel for the weights, the devices or the layout: data/expert_backends.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.expert_backends import (
    ExpertFormat,
    ExpertKernel,
    ExpertVariable,
    expert_formats,
    expert_kernels,
    expert_variables,
)
from moonpad.catalog.other_models import as_published, fp8_block, of_publisher, other_model
from moonpad.engines import foreign_names as names
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.memory.device_formats import is_nvfp4
from moonpad.explain.checks.models.other_families import in_full
from moonpad.explain.equal_options import equal_option
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.cluster import Device
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import is_final, order, since

BACKEND: Final = "--moe-backend"
EXCHANGE: Final = "--all2all-backend"
_CHANGED: Final = ("--quantization", "--hf-overrides", "--enable-lora", "--hf-config-path")
"""Options that make other weights of it, or go another way."""
_REPOSITORY: Final = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_FAMILY: Final = re.compile(r"(\d+)\.x")
_ON: Final = ("1", "true")
_OFF: Final = ("0", "false")
_SHARED: Final = 2
_PLATFORMS: Final = ("cuda", "rocm")
_UNSHARED: Final = f"leave out --enable-expert-parallel, or {BACKEND}"
_NOTHING: Final = ("", Severity.NOTE, "")


def expert_backend(case: Case) -> Iterator[Remark]:
    """What the choice of kernels refuses before any weight is loaded."""
    found = _as_asked(case)
    place, value = found if found is not None else (None, "")
    if place is None or unresolved(value) or value not in names.EXPERT_BACKENDS:
        return
    if case.option(*_CHANGED) is not None:
        return
    key = _format_of(case)
    known = expert_formats().get(key)
    if known is None or case.engine.name not in known.engines or not _is_judged(known, case):
        return
    version = case.version or known.last
    why, severity, remedy = _refused(case, known, key, value, version)
    if not why:
        return
    if severity is Severity.ERROR and not _certain(case):
        severity = Severity.WARNING
    others = [other for other in known.values if other != value and _serves(case, key, other, version)]
    remedy = remedy or " ".join(["leave it out,", "or write", " or ".join(others[:3])] if others else ["leave it out"])
    own = place.flag == BACKEND
    edits = [Edit(place.index, place.length, ())] if severity is Severity.ERROR and own else []
    message = f"{why}: the start ends"
    yield make_remark(severity, Code.CONFLICT, BACKEND, message, remedy, at=place.index, edits=edits)


def _as_asked(case: Case) -> tuple[Occurrence, str] | None:
    """Where the choice stands, by itself or among other settings of kernels, and how the engine reads it."""
    place = case.option(BACKEND)
    text = place.value if place is not None and isinstance(place.value, str) else ""
    found = (place, text) if place is not None else equal_option(case, BACKEND)
    return (found[0], found[1].strip("'\"").replace("-", "_").casefold()) if found is not None else None


def expert_variable(case: Case) -> Iterator[Remark]:
    """The same of variables, which no option goes before."""
    device, backend = case.cluster.device if case.cluster is not None else None, case.text(BACKEND).strip("'\"")
    found = [row for row in expert_variables().values() if case.variable(row.variable).casefold() in _ON]
    if not found or device is None or str(device.platform) not in _PLATFORMS or not case.version:
        return
    if backend not in ("", "auto") or case.option(*_CHANGED) is not None:
        return
    key = _format_of(case)
    for row in found:
        if row.format != key or case.engine.name not in row.engines or not _of_release(row, case.version):
            continue
        values = _asked_by(case, row)
        kernels = [kernel for value in values or () if (kernel := _kernel(key, value, case.version)) is not None]
        if values is None or any(_is_of(device, wanted) for kernel in kernels for wanted in kernel.on):
            continue
        title, by = expert_formats()[key].title, case.variable(row.by) if row.by else ""
        asks = f"{row.variable}=1" + (f" with {row.by}={by}" if by else "")
        message = (
            f"{asks} asks for {' or '.join(values) or 'no kernel that there is'}, and for {title} there is none on "
            f"{device.product} (compute capability {device.capability}): the start ends"
        )
        severity = Severity.ERROR if case.devices_asked and _certain(case) else Severity.WARNING
        remark = make_remark(severity, Code.CONFLICT, row.variable, message, "leave it out")
        yield replace(remark, variable=row.variable)


def _of_release(row: ExpertVariable, version: str) -> bool:
    """The newest release that was read is that of the format."""
    last = expert_formats()[row.format].last
    in_time = since(version, row.since) and order(version) <= order(last)
    return in_time and (not row.until or order(version) < order(row.until))


def _asked_by(case: Case, row: ExpertVariable) -> tuple[str, ...] | None:
    """The values that it asks for; None where that is not known, or nothing is asked for."""
    if row.not_with and case.variable(row.not_with).casefold() in _OFF:
        return None
    by = case.variable(row.by).casefold() if row.by else ""
    return row.chosen.get(by) if by else row.values


def _refused(case: Case, known: ExpertFormat, key: str, value: str, version: str) -> tuple[str, Severity, str]:
    """Why, how sure that is, and what mends it where leaving the option out is not all."""
    first = known.values.get(value)
    if first is not None and order(version) >= order(first):
        kernel = _kernel(key, value, version)
        return _of_kernel(case, kernel, f"{value} for {known.title}") if kernel else _NOTHING
    name = case.model_named.rstrip("/").rpartition("/")[2]
    later = f" before {first}" if first is not None else ""
    return f"{value} has no kernel{later} for the experts of {name}, which are {known.title}", Severity.ERROR, ""


def _format_of(case: Case) -> str:
    """The key of what the experts' weights are; "" where it is not known, or there are none."""
    written, checkpoint = case.model_named, case.checkpoint
    if not written or unresolved(written) or not _is_named(case):
        return ""
    for key, row in expert_formats().items():
        if row.models and re.fullmatch(row.models, written, re.IGNORECASE):
            return key
    if checkpoint is not None:
        own = checkpoint.quantization
        if not checkpoint.architecture.routed_experts:
            return ""
        rows = expert_formats().items()
        return next((key for key, row in rows if (row.scheme, row.method) == (own.scheme, own.method) != ("", "")), "")
    model = other_model(written)
    if model is None or not model.experts:
        return ""
    if fp8_block(model, written):
        return names.FP8_BLOCK_EXPERTS
    if is_nvfp4(written):
        return names.NVFP4_EXPERTS
    plain = model.published == "bf16" and as_published(written) and of_publisher(written)
    return names.BF16_EXPERTS if plain else ""


def _is_judged(known: ExpertFormat, case: Case) -> bool:
    device = case.cluster.device if case.cluster is not None else None
    if device is not None and str(device.platform) not in _PLATFORMS:
        return False
    firsts = [known.first, *known.first_on.values()] if device is None else [known.first]
    if device is not None and str(device.platform) in known.first_on:
        firsts = [known.first_on[str(device.platform)]]
    if not case.version:
        return True
    return all(since(case.version, first) for first in firsts) and order(case.version) <= order(known.last)


def _kernel(key: str, value: str, version: str) -> ExpertKernel | None:
    for kernel in expert_kernels().get((key, value), ()):
        if since(version, kernel.since) and (not kernel.until or order(version) < order(kernel.until)):
            return kernel
    return None


def _of_kernel(case: Case, kernel: ExpertKernel, what: str) -> tuple[str, Severity, str]:
    """The same of devices, variables and layout."""
    device = case.cluster.device if case.cluster is not None else None
    if not kernel.on:
        return f"{what} has no kernel on any device", Severity.ERROR, ""
    if device is not None and not any(_is_of(device, wanted) for wanted in kernel.on):
        severity = Severity.ERROR if case.devices_asked else Severity.WARNING
        return f"{what} has no kernel on {device.product} (compute capability {device.capability})", severity, ""
    if kernel.off and case.variable(kernel.off).casefold() in _OFF:
        return f"{what} is switched off by {kernel.off}=0", Severity.ERROR, f"leave {kernel.off} or {BACKEND} out"
    if kernel.variable and device is not None and case.variable(kernel.variable).casefold() not in _ON:
        return f"{what} needs {kernel.variable}=1", Severity.WARNING, f"set it, or leave {BACKEND} out"
    if case.option("--enable-expert-parallel") is None or not case.laid_out or case.first.layout.ep < _SHARED:
        return _NOTHING
    if not kernel.shared_out:
        return f"{what} takes no experts that are shared out over the ranks", Severity.ERROR, _UNSHARED
    if not kernel.balancer and case.option("--enable-eplb") is not None:
        return f"{what} does not take experts that --enable-eplb moves", Severity.ERROR, ""
    exchange = case.text(EXCHANGE)
    if exchange in kernel.not_over and case.first.layout.dp > 1:
        return f"{what} does not take its tokens from {EXCHANGE} {exchange}", Severity.ERROR, ""
    return _NOTHING


def _is_of(device: Device, wanted: str) -> bool:
    if wanted in (str(device.platform), device.capability):
        return True
    sm = device.sm
    if sm is None:
        return False
    if family := _FAMILY.fullmatch(wanted):
        return sm // 10 == int(family[1])
    return wanted.endswith("+") and sm >= round(float(wanted.removesuffix("+")) * 10)


def _serves(case: Case, key: str, value: str, version: str) -> bool:
    """Whether it can be recommended: nothing that is known speaks against it."""
    first, kernel = expert_formats()[key].values[value], _kernel(key, value, version)
    if kernel is None or order(version) < order(first) or value in names.SLOW_EXPERT_BACKENDS:
        return False
    return case.cluster is not None and _of_kernel(case, kernel, value)[0] == ""


def _certain(case: Case) -> bool:
    command = case.commands[0]
    if is_fragment(command) or command.custom or command.fork or case.engine.name != case.base:
        return False
    return bool(case.version) and is_final(case.version)


def _is_named(case: Case) -> bool:
    """Whether a repository is named: a folder may hold other weights."""
    written, checkpoint = case.model_named, case.checkpoint
    return in_full(checkpoint.name, written) if checkpoint is not None else _REPOSITORY.fullmatch(written) is not None


EXPERT_CHECKS: Final = (expert_backend, expert_variable)
