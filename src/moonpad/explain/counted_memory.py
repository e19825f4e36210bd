"""Memory that a text gives without the kind of the devices: `16 GPUs of 90 GB`, `GPU memory of 30 GB`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.hardware import hardware
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.other_families import doubtful_name
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.plan.judgement import judge
from moonpad.values.cluster import Cluster
from moonpad.values.configuration import Configuration
from moonpad.values.finding import OF_MEMORY, Code, Severity
from moonpad.values.records import replace
from moonpad.values.units import GIB

_COUNTED: Final = re.compile(
    r"(?<![\w.])(?P<count>[0-9]{1,4})[ ]?(?:[x×*][ ]?)?(?:GPUs?|cards?|张(?:卡|显卡)?|卡|块)[ ]?"
    r"(?:of|with|at|each|à|/|\(|（|,|，|每张|每卡|单卡|显存)?[ ]?(?P<size>[0-9]{2,3})[ ]?G(?:i?B)?(?![\w])",
    re.IGNORECASE,
)
"""`16 GPUs of 90 GB`, `16 gpu/90G`, `8 卡 80G`."""
_CAPACITY: Final = re.compile(r"\bhas a total capac[it]{1,3}y of (?P<size>[0-9]{1,3}\.[0-9]{1,2}) GiB")
"""Of a device, as PyTorch writes it when memory has run out (c10/cuda/CUDACachingAllocator.cpp)."""
_ALONE: Final = re.compile(
    r"(?:\bGPU[ -]?memory|\bVRAM|显存|GPU[ ]?メモリ)(?:[ ]?(?:of|:|：|is|needed|required|为|需要?|は|が))?[ ]{0,2}"
    r"(?P<size>[0-9]{1,4})[ ]?GB?(?![\w])",
    re.IGNORECASE,
)
"""`GPU memory of 30 GB`, of one device or of all."""
_REQUIRED: Final = re.compile(
    r"(?<![\w-])[\"']?(?:(?:required|min(?:imum)?|needed)[_-]?(?:gpu[_-]?)?(?:vram|(?<=gpu[_-])memory)"
    r"|(?:gpu[_-]?)?vram[_-]?(?:required|min(?:imum)?|needed))(?:[_-]?(?:gb|gib|in[_-]gb))?[\"']?[ ]?[:=][ ]?[\"']?"
    r"(?P<size>[0-9]{1,4})(?:\.0)?(?:[ ]?Gi?B?)?[\"']?[ ]*(?:[,#}]|$)",
    re.IGNORECASE,
)
"""`"required_vram": 24`, of the description of a job: in GB, of the device that it asks for."""
_BESIDE: Final = re.compile(
    r"(?<![\w.-])(?:(?:RTX|GTX|Quadro|Tesla|Radeon|Arc)[ -]?[A-Z]{0,3}[ ]?[0-9]{2,4}|[A-Z]{1,2}[0-9]{2,4})"
    r"(?:[ ](?:Ti|Ada|Super|XTX?))?[ \-(（]{1,2}(?P<size>[0-9]{1,3})[ ]?Gi?B\b"
)
"""`RTX 2080 Ti (11GB)`."""
_FEWER: Final = frozenset({"int4", "fp8", "nvfp4", "mxfp4", "w4a16"})
_OF_A_PART: Final = re.compile(
    r"attention|kv|cache|activation|comput|dtype|int4|fp8|fp4|convert|quanti[sz]", re.IGNORECASE
)
"""BF16 of something else than all weights."""
_LONGEST: Final = 2000
_SPARE: Final = 1.25
"""An amount that is said to do is rounded, so that much below the weights it has to be."""


def counted_devices(case: Case) -> Iterator[Remark]:
    """As many devices as the layout has ranks, with memory that the text gives."""
    checkpoint, layout, reading = case.checkpoint, case.first.layout, case.first
    if checkpoint is None or not _open(case) or not checkpoint.groups:
        return
    ranks = layout.world_size * reading.replicas
    found = {(int(each["count"]), float(each["size"])) for line in _lines(case) for each in _COUNTED.finditer(line)}
    logged = {float(each["size"]) for line in _lines(case) for each in _CAPACITY.finditer(line)}
    if not found and logged and max(logged) - min(logged) < 1:
        found = {(ranks, min(logged))}
    if len(found) != 1:
        return
    ((count, size),) = found
    if count != ranks or count > 1024:
        return
    cluster = _cluster(case, count, size)
    if cluster is None:
        return
    settings, facts = reading.settings, case.engine.facts
    context = settings.max_model_len
    if context is None and facts.needs_whole_context:
        context = checkpoint.architecture.max_context
    configuration = Configuration(checkpoint, cluster, facts, "", layout, settings)
    case.script.budget.work(400, "its engine commands")
    findings = judge(configuration, context=context).findings
    finding = next((each for each in findings if each.code in OF_MEMORY and each.severity is not Severity.NOTE), None)
    if finding is None:
        return
    flag = case.engine.command_line.options.get(finding.where, finding.where)
    place = case.option(flag)
    message = (
        f"by the {count} devices of {size:g} {'GB' if size.is_integer() else 'GiB'} in the text, {finding.message}"
    )
    remedy = "take more devices, a shorter context or smaller weights"
    at = place.index if place is not None else None
    yield make_remark(Severity.WARNING, finding.code, flag, message, remedy, at=at)


def spoken_memory(case: Case) -> Iterator[Remark]:
    """An amount that is said to be enough, of each device or of all, and is far below the weights either way."""
    checkpoint = case.checkpoint
    if checkpoint is None or not _open(case):
        return
    lines = _lines(case, "G", "vram", "memory")
    sizes = [int(each["size"]) for line in lines for pattern in (_ALONE, _REQUIRED) for each in pattern.finditer(line)]
    ranks = case.first.layout.world_size
    if not sizes or _SPARE * max(sizes) * ranks * 10**9 >= checkpoint.total_bytes:
        return
    of_all = f", and {ranks} devices of that size have {max(sizes) * ranks} GB" if ranks > 1 else ""
    message = (
        f"the text speaks of {max(sizes)} GB of device memory; the weights of {checkpoint.name} are "
        f"{checkpoint.total_bytes / GIB:,.0f} GiB{of_all}"
    )
    flag = case.engine.command_line.options.get("tp", "memory")
    place = case.option(flag)
    remedy = "name the devices with --on 8xH200 to see what fits"
    at = place.index if place is not None else None
    yield make_remark(Severity.WARNING, Code.DOES_NOT_FIT, flag, message, remedy, at=at)


def stated_devices(case: Case) -> Iterator[Remark]:
    """Experts in host memory, and a device that cannot even hold the rest, by the largest that the text gives."""
    checkpoint, facts, reading = case.checkpoint, case.engine.facts, case.first
    if checkpoint is None or not facts.host_experts or facts.gguf_only or not checkpoint.groups or not case.laid_out:
        return
    if case.devices_asked or case.cluster is not None or doubtful_name(checkpoint, reading.model):
        return
    sizes = {int(each["size"]) for line in _lines(case) for each in _BESIDE.finditer(line)}
    ranks = reading.layout.world_size
    cluster = _cluster(case, ranks, max(sizes)) if sizes and ranks < 64 else None
    if cluster is None or is_fragment(case.commands[0]):
        return
    case.script.budget.work(400, "its engine commands")
    memory = judge(Configuration(checkpoint, cluster, facts, "", reading.layout, reading.settings)).memory
    if memory is None or memory.weights_bytes <= max(sizes) * GIB:
        return
    flag = case.engine.command_line.options.get("tp", "memory")
    place = case.option(flag)
    message = (
        f"the text gives {max(sizes)} GB as the memory of its largest device; without the experts, which lie in RAM, "
        f"{memory.weights_bytes / GIB:,.0f} GiB of weights are on "
        f"{'the device' if ranks == 1 else f'each of {ranks} devices'}"
    )
    remedy = f"take a device of more than {memory.weights_bytes / GIB:,.0f} GiB; all weights are "
    remedy += f"{checkpoint.total_bytes / GIB:,.0f} GiB"
    at = place.index if place is not None else None
    yield make_remark(Severity.WARNING, Code.DOES_NOT_FIT, flag, message, remedy, at=at)


def _open(case: Case) -> bool:
    """Whether the devices alone are not known, and all weights go to them."""
    reading, facts = case.first, case.engine.facts
    helped = facts.host_experts or reading.settings.cpu_offload_gib or reading.left_to_engine or facts.gguf_only
    asked = case.devices_asked or case.cluster is not None
    doubt = case.checkpoint is not None and doubtful_name(case.checkpoint, reading.model)
    named = doubt and "bf16" not in reading.model.casefold()
    return (
        not (helped or asked or named or reading.takes_all_devices) and case.whole and not is_fragment(case.commands[0])
    )


def _lines(case: Case, *signs: str) -> list[str]:
    case.script.budget.work(len(case.script.lines), "the text around its engine commands")
    line = case.commands[0].line
    return [
        text[:_LONGEST]
        for at, text in enumerate(case.script.lines, 1)
        if case.script.says_of(at, line) and any(sign in text for sign in signs or ("G",))
    ]


def _cluster(case: Case, count: int, size: float) -> Cluster | None:
    """Devices of a usual kind with that much memory, all in one machine."""
    rows = [row.device for row in hardware().values() if row.device and row.device.platform in case.engine.platforms]
    usual = next((device for device in rows if device.per_node >= 8), None)
    if usual is None:
        return None
    held = round(size * GIB)
    device = replace(usual, driver_bytes=held, usable_bytes=held, per_node=count)
    return Cluster(f"{count}x{size:g}GB", 1, count, device)


def spoken_precision(case: Case) -> Iterator[Remark]:
    """Weights that a text calls BF16, and that are published in fewer bits."""
    checkpoint = case.checkpoint
    if checkpoint is None or checkpoint.quantization.scheme not in _FEWER or not checkpoint.groups:
        return
    name = re.escape(checkpoint.name.rpartition("/")[2]).replace("\\-", "[- ]")
    called = re.compile(
        rf"{name}(?![\w.-])(?P<between>[^|\n]{{0,30}}?)(?<![a-z0-9])(?P<word>bf16|fp16|半精度)", re.IGNORECASE
    )
    for line in _lines(case, "6", "半"):
        found = called.search(line)
        if found and not _OF_A_PART.search(line):
            scheme, own = checkpoint.quantization.scheme.upper(), checkpoint.total_bytes / GIB
            message = (
                f"the text calls {checkpoint.name} {found['word'].upper()}: it is published in {scheme}, {own:,.0f} "
                f"GiB; in BF16 it would be {2 * checkpoint.parameters / GIB:,.0f} GiB"
            )
            remedy = "plan for the size of the published weights"
            yield make_remark(Severity.NOTE, Code.UNSUPPORTED_FORMAT, "weights", message, remedy)
            return
