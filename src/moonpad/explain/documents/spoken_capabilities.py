"""The compute capability of devices in a text that the catalogue does not have.

It is told by their names, or as `SM89`, `sm_120`, `Compute Capability: 12.0`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from moonpad.engines.image_names import PULLED_FOR_CUDA
from moonpad.explain.commands import Script
from moonpad.explain.documents.ruled_out import is_ruled_out
from moonpad.explain.documents.spoken_tpus import TPUS, uses_tpus_alone
from moonpad.values.platform import Platform

_LONGEST: Final = 2000
_NAMES: Final = {
    "6.0": r"P100",
    "6.1": r"(?:Tesla )?P40|GTX 10[5-8]0(?: Ti)?|1080 ?Ti",
    "7.0": r"V100",
    "7.5": r"(?:Tesla )?T4|RTX 20[678]0(?: Ti| Super)?|2080 ?Ti",
    "8.0": r"A100|A800|A30",
    "8.6": r"(?:RTX ?|GeForce )?30[5-9]0(?: ?Ti)?|RTX A[456]000|A10G?|A16|A40|A6000",
    "8.7": r"(?:Jetson |AGX ){1,2}Orin",
    "8.9": r"(?:RTX ?|GeForce )?40[6-9]0(?: ?(?:Ti|Super|D))?|L4|L20|L40S?|RTX (?:[2456]000|4500|5880) Ada|RTX 5880",
    "9.0": r"H100|H200|H800|H20|GH200",
    "10.0": r"B200|GB200",
    "10.3": r"B300|GB300",
    "11.0": r"(?:NVIDIA |Jetson |AGX ){1,3}Thor|Jetson T[45]000",
    "12.0": r"(?:RTX ?|GeForce )?50[6-9]0(?: ?(?:Ti|D))?|RTX (?:PRO )?6000D|RTX PRO [2-6][05]00|6000D"
    r"|RTX 6000 (?:Pro|Blackwell)|(?:RTX )?Pro 6000 Blackwell|Blackwell (?:6000 Pro|Pro 6000)",
    "12.1": r"GB10|DGX Spark",
}
"""https://developer.nvidia.com/cuda-gpus"""
_START: Final = r"(?<![A-Za-z0-9_./-])|(?<=[0-9][x×*])"
_NAMED: Final = re.compile(
    "|".join(
        rf"(?P<c{capability.replace('.', '_')}>(?:{_START})(?:{names})(?![A-Za-z0-9_]|-[0-9]))"
        for capability, names in _NAMES.items()
    ),
    re.IGNORECASE,
)
_OF_AMD: Final = {
    "gfx906": r"MI[56]0|Radeon VII|gfx906",
    "gfx908": r"MI100|gfx908",
    "gfx90a": r"MI2[15]0X?|gfx90a",
    "gfx942": r"MI3(?:00[XA]|25X|08X)|gfx942",
    "gfx950": r"MI35[05]X|gfx950",
    "gfx1030": r"(?:RX ?)?6[89][05]0 ?XTX?|W6800|gfx1030",
    "gfx1100": r"(?:RX ?)?7900 ?(?:XTX?|GRE)|W7[89]00|gfx1100",
    "gfx1101": r"(?:RX ?)?7[78]00 ?XT|W7700|gfx1101",
    "gfx1150": r"Radeon 890M|gfx1150",
    "gfx1151": r"Radeon 8060S|Ryzen AI Max\+?(?: PRO)?(?: 395)?|Strix Halo|gfx1151",
    "gfx1200": r"(?:RX ?)?9060 ?XT|gfx1200",
    "gfx1201": r"(?:AI PRO )?R9[67]00|(?:RX ?)?9070(?: ?XT)?|gfx1201",
}
"""https://rocm.docs.amd.com/en/latest/reference/gpu-arch-specs.html"""
_AMD_NAMED: Final = re.compile(
    "|".join(
        rf"(?P<{name}>(?:(?<![A-Za-z0-9])|(?<=[0-9][x×*]))(?:{names})(?![A-Za-z0-9]))"
        for name, names in _OF_AMD.items()
    ),
    re.IGNORECASE,
)
_OF_ROCM: Final = re.compile(
    r"\bROCm(?: version)? ?:? ?v?[5-9]\.[0-9]|ROCM used to build PyTorch ?: ?[5-9]\.[0-9]"
    r"|on platform rocm\b|\bon ROCm\b",
    re.IGNORECASE,
)
_OF_NVIDIA: Final = re.compile(r"\bon CUDA\b|\bnvidia-smi\b|\bCUDA(?: version)? ?:? ?1[0-9]\.[0-9]", re.IGNORECASE)
_MAJOR: Final = r"(?P<{}>[789]|1[0-2])"
_WRITTEN: Final = re.compile(
    rf"(?:\b(?:sm_?|CC ?= ?|compute capability:? ?(?:is )?){_MAJOR.format('major')}[._]?(?P<minor>[0-9])"
    r"|(?:(?<![a-z])capability(?:\(\w*\))?[\"']?(?: is | of )?[ :=(,\[]{0,6}"
    r"|\bmajor\W{1,3}(?:\w+\.)?minor\W{1,3}={2}[ (]{0,2}|(?:算力|计算能力)(?:为|是)?[ :：=]{0,2})"
    rf"{_MAJOR.format('before')}(?:[._]|,[ ]?)(?P<behind>[0-9]))(?![0-9])"
    r"(?![ ]?\+|[ ]?(?:\(?(?:or|and)[ ]|及|或)?[ ]?(?:higher|above|later|newer|greater|up\b|更高|以上))",
    re.IGNORECASE,
)
"""Not the least that is asked for, `7.0 or higher`."""
_GENERATION: Final = re.compile(r"(?<![A-Za-z0-9_-])gfx9(?:0a|42|50)(?![A-Za-z0-9])", re.IGNORECASE)
_FOR_BUILDS: Final = re.compile(
    r"ARCH_LIST|ARCHITECTURES|gencode|-arch\b|ROCM_ARCH|GPU_(?:TARGETS|ARCHS?)\b|\bnvcc\b|\bcmake\b|\bkernels?\b|\bPR\b",
    re.IGNORECASE,
)
"""What is built for a capability, or a kernel is made for, is a list of what could run it."""
_BUILT_AT_START: Final = re.compile(
    r"[ \t]*(?:export[ \t]+)?(?:TVM_FFI|FLASHINFER)_CUDA_ARCH_LIST=([\"']?)"
    r"(?P<major>[789]|1[0-2])\.(?P<minor>[0-9])[af]?\1[ \t]*(?:#.*|\\)?"
)
"""What the kernels that a server builds at its start are for, where that is one capability: that of its devices."""
_ERROR: Final = re.compile(r"Error\b|Exception\b|\bERROR\b|\berror:|\bWARNING\b|UserWarning")
_TEMPLATE: Final = re.compile(r"only support|requires?|supported on|is for|need", re.IGNORECASE)


def spoken_capability(script: Script) -> str:
    """`8.9`; "" where the text names none, several, or devices of AMD too."""
    found = spoken_capabilities(script)
    of_one = len(found) == 1 and not _names_amd(tuple(script.lines))
    return next(iter(found)) if of_one else ""


def spoken_capabilities(script: Script) -> frozenset[str]:
    """All that the text names."""
    script.budget.once("capabilities", len(script.lines), "the text around its engine commands")
    return _capabilities_of(tuple(script.lines))


def written_capability(script: Script) -> str:
    """The only capability that the text speaks of, where it gives it in numbers, and not as what something is built
    for; the generation of AMD's likewise."""
    script.budget.once("written capabilities", len(script.lines), "the text around its engine commands")
    spoken = spoken_capability(script) or spoken_generation_of_amd(script)
    return spoken if spoken and spoken in _written_in(tuple(script.lines)) else ""


@lru_cache(maxsize=2)
def _written_in(lines: tuple[str, ...]) -> frozenset[str]:
    found: set[str] = set()
    for text in {line[:_LONGEST] for line in lines}:
        if _TEMPLATE.search(text) or _FOR_BUILDS.search(text):
            continue
        found |= {_capability(match) for match in _meant(_WRITTEN, text)}
        found |= {match[0].lower() for match in _meant(_GENERATION, text)}
    return frozenset(found)


def spoken_platforms(script: Script) -> frozenset[str]:
    """Those of NVIDIA and AMD whose devices the text names."""
    named = {str(Platform.CUDA): bool(spoken_capabilities(script)), str(Platform.ROCM): _names_amd(tuple(script.lines))}
    return frozenset(platform for platform, is_named in named.items() if is_named)


@lru_cache(maxsize=2)  # each engine command of a text asks
def _capabilities_of(lines: tuple[str, ...]) -> frozenset[str]:
    found: set[str] = set()
    for text in {line[:_LONGEST] for line in lines}:
        for match in _meant(_NAMED, text):
            found.add((match.lastgroup or "c")[1:].replace("_", "."))
        if not _TEMPLATE.search(text):  # what an engine asks for is not what is there
            found |= {_capability(match) for match in _meant(_WRITTEN, text)}
        if "_CUDA_ARCH_LIST=" in text and (built := _BUILT_AT_START.fullmatch(text)):
            found.add(f"{built['major']}.{built['minor']}")
    return frozenset(found)


def _capability(match: re.Match[str]) -> str:
    return f"{match['major'] or match['before']}.{match['minor'] or match['behind']}"


def _meant(sign: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Without those that something is said not to run on; an error that says so is one of what is there."""
    for match in sign.finditer(text):
        if _ERROR.search(text) or not is_ruled_out(text, *match.span()):
            yield match


def spoken_generation_of_amd(script: Script) -> str:
    """`gfx942`; "" where the text names none, several, or devices of NVIDIA too."""
    script.budget.once("generations", len(script.lines), "the text around its engine commands")
    return _generation_of(tuple(script.lines))


@lru_cache(maxsize=2)
def _names_amd(lines: tuple[str, ...]) -> bool:
    return any(next(_meant(_AMD_NAMED, line[:_LONGEST]), None) is not None for line in lines)


@lru_cache(maxsize=2)
def _generation_of(lines: tuple[str, ...]) -> str:
    texts = {line[:_LONGEST] for line in lines}
    found = {match.lastgroup or "" for text in texts for match in _meant(_AMD_NAMED, text)}
    others = any(_NAMED.search(text) or PULLED_FOR_CUDA.search(text) for text in texts)
    return found.pop() if len(found) == 1 and not others else ""


def speaks_of_amd(script: Script) -> bool:
    """Whether devices of AMD, or releases of ROCm, are named, and none of NVIDIA's."""
    script.budget.once("makers", len(script.lines), "the text around its engine commands")
    return _is_of_amd(tuple(script.lines))


@lru_cache(maxsize=2)
def _is_of_amd(lines: tuple[str, ...]) -> bool:
    texts = {line[:_LONGEST] for line in lines}
    return any(_AMD_NAMED.search(text) or _OF_ROCM.search(text) for text in texts) and not any(
        _NAMED.search(text) or _OF_NVIDIA.search(text) or PULLED_FOR_CUDA.search(text) for text in texts
    )


_OF_GAUDI: Final = (
    r"\bGaudi[ -]?[23]?\b|\bvllm[-_]gaudi\b|--runtime[ =]habana\b|\bHABANA_VISIBLE_\w+|\bPT_HPU_\w+|\bHPUs?\b"
    r"|--device[ =]hpu\b"
)
_OF_TPU: Final = (
    r"\bTPU ?v[4-7]|\btpu ?(?:v[4-7][ex]?|7x)(?:-\d+)?\b|\btpu[-_]inference\b|\bvLLM TPU\b|--device[ =]tpu\b"
)
_OF_CHINA: Final = {
    "metax": r"沐曦|\bMetaX\b|曦云[ ]?C\d{3}|\bmetax-tech\.com/gpu\b",
    "cambricon": r"寒武纪|\bCambricon\b|\bMLU ?\d{3}\b",
    "moore": r"摩尔线程|\bMoore ?Threads\b|\bMTT[ -]?S\d{2,4}\b",
    "hygon": r"海光[ ]?(?:DCU|K100)|\bHygon[ ]DCUs?\b|\bDCU[ -]K100\b|\bK100[-_ ]AI\b",
    "kunlun": r"昆仑芯|\bKunlunxin\b|\bKunlun[ -]?(?:P800|R200|XPU)\b",
    "iluvatar": r"天数智芯|\bIluvatar(?: ?CoreX)?\b",
    "enflame": r"燧原|\bEnflame\b",
}
_OF_NEURON: Final = (
    r"\bTrainium|\bInferentia|\b(?:trn[1-3]|inf[12])[a-z]?\.\w{0,4}xlarge|\boverride[_-]neuron[_-]config\b"
    r"|\bNEURON_(?:RT|CC|COMPILED)_\w|\bVLLM_PLUGINS=[\"']?neuron\b|--device[ =]neuron\b"
)
"""https://awsdocs-neuron.readthedocs-hosted.com: instances, variables and options of vLLM for them."""
_OF_OTHERS: Final = re.compile(
    rf"(?P<gaudi>{_OF_GAUDI})|(?P<tpu>{_OF_TPU})|{'|'.join(f'(?P<{name}>{sign})' for name, sign in _OF_CHINA.items())}"
    r"|\bIntel (?:Arc|Data Center GPU|GPU Max)|\bArc (?:Pro )?[AB]\d{2,3}\b|\bxpu-smi\b"
    rf"|--device[ =]xpu\b|(?P<neuron>{_OF_NEURON})"
)
_MAKERS: Final = {
    **{"gaudi": "Intel Gaudi", "tpu": TPUS, "metax": "MetaX GPUs", "cambricon": "Cambricon MLUs"},
    **{"moore": "Moore Threads GPUs", "hygon": "Hygon DCUs", "kunlun": "Kunlunxin XPUs", "iluvatar": "Iluvatar GPUs"},
    **{"enflame": "Enflame GCUs", "neuron": "AWS Trainium or Inferentia"},
}


def names_nvidia_alone(script: Script) -> bool:
    """Whether devices of NVIDIA are named, and none of AMD's or of other makers."""
    lines = (line[:_LONGEST] for line in script.lines)
    others = (_AMD_NAMED, _OF_ROCM, _OF_OTHERS)
    return bool(spoken_capabilities(script)) and not any(name.search(text) for text in lines for name in others)


def speaks_of_others(script: Script) -> bool:
    """Whether devices of makers without a platform here are named, and none of NVIDIA's or AMD's."""
    script.budget.once("other makers", len(script.lines), "the text around its engine commands")
    return _is_of_others(tuple(script.lines))


@lru_cache(maxsize=2)
def _is_of_others(lines: tuple[str, ...]) -> bool:
    if uses_tpus_alone(lines):
        return True
    texts = {line[:_LONGEST] for line in lines}
    own = (_NAMED, _OF_NVIDIA, _AMD_NAMED, _OF_ROCM)
    return any(map(_OF_OTHERS.search, texts)) and not any(name.search(text) for text in texts for name in own)


def other_maker(script: Script) -> str:
    """`Intel Gaudi` or `MetaX GPUs`, where a text names one of these and no devices of NVIDIA or AMD; else ""."""
    if not speaks_of_others(script):
        return ""
    return _only_maker(tuple(script.lines))


@lru_cache(maxsize=2)
def _only_maker(lines: tuple[str, ...]) -> str:
    if uses_tpus_alone(lines):
        return TPUS
    found = {match.lastgroup for line in lines for match in _OF_OTHERS.finditer(line[:_LONGEST])}
    return _MAKERS.get(found.pop() or "", "") if len(found) == 1 else ""


def sm_of(capability: str) -> int | None:
    """`8.6` as 86; None for devices of other makers."""
    major, dot, minor = capability.partition(".")
    return int(major + minor) if dot and (major + minor).isdecimal() else None
