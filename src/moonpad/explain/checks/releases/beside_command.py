"""Faults that lie beside a command: of a feature that it switches off, of kernels that its devices do not have, and of
two servers where it is one alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache, lru_cache
from typing import Final

from moonpad.catalog.mended_faults import MendedFault
from moonpad.engines.switched_parts import EXECUTOR, PARTS
from moonpad.engines.value_checks import as_json
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.documents.spoken_capabilities import other_maker
from moonpad.explain.documents.spoken_tpus import is_for_tpus
from moonpad.explain.grouping import role_of
from moonpad.explain.roles import ROLES
from moonpad.values.platform import Platform

_OF_GPUS: Final = re.compile(
    r"\b(?:CUDA kernels?|Triton|FlashInfer|FlashAttention|FlashMLA|FlyDSL|DeepGEMM|CUTLASS|CuTe ?DSL|cuDNN|cuBLAS\w*"
    r"|TRT-?LLM(?:'s)?|trtllm_\w+|XQA|Marlin|Machete|AITER|NVLink|NVSHMEM|NCCL|Hopper|Blackwell|NVIDIA|AMD|ROCm|fa[34]"
    r"|FA[34]|SM ?\d{2,3})\b"
)
"""What a fault names that is of GPUs alone: other chips have kernels of their own."""
_OF_CUDA: Final = re.compile(
    r"\bCUDA\b|\billegal memory access\b|\bout of bounds\b|\bbeyond the (?:valid )?rows\b|!!!!"
)
"""What a fault of such a kernel ends in."""
_LIKE_GPUS: Final = ("GPUs", "DCUs", "GCUs")
_SWITCH: Final = re.compile(
    r"--(?:no-enable|no|disable)-(?!disable-|enable-)(?P<subject>[a-z][a-z0-9]*(?:-[a-z0-9]+)*)"
)
_ENDING: Final = re.compile(r"(?<=\w{3})(?:ing|es|e|s)$")
_ALSO: Final[Mapping[str, str]] = {
    "prefix-caching": r"prefix(?:es)?[- ](?:cach\w*|hits?|tree)|cached prefix(?:es)?",
    "radix-cache": r"radix (?:cache|tree)|prefix(?:es)?[- ](?:cach\w*|hits?|tree)|cached prefix(?:es)?",
    "cuda-graph": r"(?:CUDA|ACL|HIP) graphs?",
    "overlap-schedule": r"overlap (?:schedul\w*|mode)",
    "async-scheduling": r"async\w*[- ]schedul\w*",
}
"""What faults call a feature otherwise than its option does."""
_MEANS: Final[Mapping[str, tuple[str, ...]]] = {
    "--enforce-eager": ("cuda-graph", "compile-cache"),
    "--language-model-only": ("pictures",),
    "--disable-radix-cache": ("radix-cache",),
}
"""Options that switch off what their names do not say."""
_LIMIT: Final = "--limit-mm-per-prompt"
_PICTURES: Final = (
    r"pictures?|images? (?:input|request|placeholder)s?|vision (?:tower|encoder|chunks?|model|output)|encoder cache"
    r"|videos?|mm_\w+|multi-?modal"
)
_STARTS_RAY: Final = re.compile(r"\bray start\b|--ray[_-](?:cluster|address)|\bray\.io/v1")
_MOST_OF_A_MACHINE: Final = 8
_LONGEST: Final = 500
_CONNECTOR: Final = re.compile(r"[\"']?kv_connector[\"']?\s*:\s*[\"']?(\w+)")
_OFFLOAD: Final = re.compile(r"\w{0,20}offload\w{0,30}", re.IGNORECASE)
_OF_SIDES: Final = re.compile(r"\bprefill and decode apart\b|\b(?:prefill|decode) (?:side|server)\b")
_WITHOUT: Final = r"(?:without|no|not use|not used with|unless|instead of) (?:an? |the |full |piecewise )*"
_STAYS_OFF: Final = re.compile(
    r"\bswitched off\b|\bturned off\b|\bswitches\b.{1,40}\boff\b|\b(?:is|are|stays?|with graphs) off\b|\bdisabled?\b|--"
    r"|\beager|\bnot supported\b|\brefused\b"
)
"""A fault of what is off, or of what switches it off."""
_ENDS_START: Final = re.compile(
    r"\bat (?:the )?start\b|\b(?:start|load) (?:fails|ends|hangs|crashes|is refused|stops)\b"
    r"|\bdo(?:es)? not (?:start|load)\b|\b(?:ends?|stops|aborts) the (?:start|load)\b"
)
_ELSE: Final = re.compile(r"\bor (?:answers?|gives?|is|are|has|later|wrong|garbage|slow)\b|\bgarbage\b|\bslow\b")
"""What else a fault may end in, so that a server which runs may have it too."""


def ends_start(fault: str) -> bool:
    """Whether nothing serves that meets it, so that a server which runs does not."""
    return _ENDS_START.search(fault) is not None and _ELSE.search(fault) is None


def is_of_other_chips(fault: str, case: Case) -> bool:
    """Whether it is in kernels of GPUs, and the command is for chips of another kind. An engine for those alone has
    kernels of the same names."""
    if case.engine.platforms == (Platform.ASCEND,):
        return False
    if case.platform == Platform.ASCEND:
        return _OF_GPUS.search(fault) is not None
    if case.cluster is not None or case.platform:
        return False
    if _OF_GPUS.search(fault) is None and _OF_CUDA.search(fault) is None:
        return False
    return is_for_tpus(case.script, case.commands) or _has_own_kernels(other_maker(case.script))


def _has_own_kernels(maker: str) -> bool:
    """What is called a GPU runs many kernels of others."""
    return bool(maker) and not maker.endswith(_LIKE_GPUS)


def executor_meant(flag: str, case: Case) -> str:
    """`ray` of workers for which one machine has too few devices, where the text starts Ray and no option says it."""
    layout, node = case.first.layout, case.first.node
    if flag != EXECUTOR or case.text(EXECUTOR) or (node.nodes or 1) > 1 or layout.tp * layout.pp <= _MOST_OF_A_MACHINE:
        return ""
    case.script.budget.once("starts of Ray", len(case.script.lines), "the text around its engine commands")
    return "ray" if is_in_lines(_STARTS_RAY, case.script.lines, _LONGEST) else ""


def subjects_off(case: Case) -> frozenset[str]:
    """What the command switches off: `prefix-caching` of `--no-enable-prefix-caching`."""
    return frozenset(_subjects_off(case))


def _subjects_off(case: Case) -> Iterator[str]:
    for place in case.first.parsed.occurrences:
        written = place.written.partition("=")[0]
        if place.value is False and not written.startswith("--no-"):
            continue  # `--enforce-eager=false`
        yield from _MEANS.get(written, ())
        if (match := _SWITCH.fullmatch(written)) is not None:
            yield match["subject"]
    limit = as_json(case.text(_LIMIT).strip("'"))
    if isinstance(limit, dict) and limit and not any(limit.values()) and "image" in limit:
        yield "pictures"
    given = case.commands[0].env
    yield from (name for name in PARTS if name in given and case.variable(name).casefold() in ("0", "false"))


def is_switched_off(row: MendedFault, off: Collection[str]) -> bool:
    """Whether the fault is of what is off. What it says of states without the feature holds just then, as do rows that
    ask for the option themselves."""
    if not off or any(_SWITCH.match(flag) or flag in _MEANS for term in row.options for flag in term.split(" or ")):
        return False
    return any(_is_about(row.fault, subject) for subject in off)


@lru_cache(maxsize=8192)
def _is_about(fault: str, subject: str) -> bool:
    if subject in PARTS:
        return re.search(PARTS[subject], fault, re.IGNORECASE) is not None and "without " not in fault
    pattern = _pattern(subject)
    if pattern.search(fault) is None or _STAYS_OFF.search(fault) is not None:
        return False
    return re.search(rf"\b{_WITHOUT}(?:{pattern.pattern})", fault, re.IGNORECASE) is None


@cache
def _pattern(subject: str) -> re.Pattern[str]:
    words = (rf"{re.escape(_ENDING.sub('', word))}\w*(?:'s)?" for word in subject.split("-"))
    also = _PICTURES if subject == "pictures" else _ALSO.get(subject) or "[- ]?".join(words)
    return re.compile(rf"\b(?:{also})", re.IGNORECASE)


def is_of_two_servers(row: MendedFault, case: Case) -> bool:
    """Whether it is of a cache that one server hands to another, and the command only puts its own in host memory."""
    if _OF_SIDES.search(row.fault) is None or role_of(case.commands[0]) in ROLES:
        return False
    named = _CONNECTOR.findall(case.text("--kv-transfer-config"))
    return bool(named) and all(_OFFLOAD.fullmatch(name) for name in named)
