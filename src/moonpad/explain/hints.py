"""What a text says beside its commands: versions of engines, and the machines that it speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

_NUMBER: Final = (
    r"v?([0-9]{1,4}\.[0-9]{1,4}(?:\.[0-9]{1,6})?(?:(?:-?rc|[ab]|\.?post|\.?dev)[0-9]{1,6}){0,3}(?:\+[0-9a-z]{1,40})?)"
)
_LATER: Final = r"(\+|[ ]or[ ](?:later|newer|above|higher))?"
_NAMES: Final = r"(vllm[-_]ascend|vllm|sglang|tensorrt[-_]llm|trt-?llm|ktransformers|kt-kernel)"
_PIN: Final = re.compile(
    rf"(?<![\w-]){_NAMES}(?:\[[\w,.-]{{0,60}}\])?[ ]?(==|>=)[ ]?{_NUMBER}", re.IGNORECASE | re.ASCII
)
_IMAGE: Final = re.compile(
    rf"(vllm-ascend|vllm-openai(?:-[a-z0-9]{{1,20}})?|vllm|sglang|tensorrt-llm(?:/[a-z-]{{1,30}})?|ktransformers):{_NUMBER}",
    re.IGNORECASE | re.ASCII,
)
_PROSE: Final = re.compile(
    rf"(?<![\w/-]){_NAMES}(?:[ ](?:nightly|version|release|image)){{0,2}}(?:[ ]\(|[ ]){_NUMBER}{_LATER}",
    re.IGNORECASE | re.ASCII,
)
_ENGINES: Final[Mapping[str, str]] = {
    "vllm_ascend": "vllm-ascend",
    "tensorrt_llm": "tensorrt-llm",
    "trtllm": "tensorrt-llm",
    "trt-llm": "tensorrt-llm",
    "kt-kernel": "ktransformers",
}

_DEVICE: Final = (
    r"(H100|H200|H800|H20|A100|A800|GB200|GB300|B200|B300|MI300X|MI325X|MI355X|L40S|910B|910C"
    r"|(?:RTX[ ]?)?4090(?:-?48G)?|(?:RTX[ ]?)?5090)"
)
_MAKER: Final = r"(?:NVIDIA|AMD|Instinct|Huawei|Ascend|GeForce|Atlas|[ ]){0,4}"
_MACHINES: Final = re.compile(
    rf"(?<![\w.])(?:([0-9]{{1,3}})[ ]?[x×*][ ]?)?([0-9]{{1,4}})[ ]?[x×*][ ]?{_MAKER}{_DEVICE}(?![\w])((?:/{_DEVICE})?)",
    re.IGNORECASE,
)
_ATLAS: Final = re.compile(r"Atlas 800I? (A[23]) \([0-9]{1,3}GB? ?[x×*] ?([0-9]{1,3})\)")


def versions_of(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Engine → the version that is named, and engine → the least that is asked for.

    A pin (`vllm==0.11.0`) or an image's tag goes before prose (`vLLM nightly (v0.11.1rc6)`), the first of a kind before
    the others.
    """
    named: dict[str, str] = {}
    least: dict[str, str] = {}
    found = [(match.start(), match.group(1), match.group(3), match.group(2) == ">=") for match in _PIN.finditer(text)]
    found += [(match.start(), match.group(1), match.group(2), False) for match in _IMAGE.finditer(text)]
    prose = [(match.start(), match.group(1), match.group(2), bool(match.group(3))) for match in _PROSE.finditer(text)]
    for _, name, version, minimum in (*sorted(found), *prose):
        (least if minimum else named).setdefault(_engine(name), _plain(version))
    return named, least


def version_of_image(image: str) -> tuple[str, str] | None:
    """`vllm/vllm-openai:v0.11.0` → ("vllm", "0.11.0")."""
    match = _IMAGE.search(image)
    return (_engine(match.group(1)), _plain(match.group(2))) if match else None


def _engine(name: str) -> str:
    name = name.lower()
    for beginning in ("vllm-openai", "tensorrt-llm"):
        if name.startswith(beginning):
            return beginning.removesuffix("-openai")
    return _ENGINES.get(name, name)


def _plain(version: str) -> str:
    """`1.0.0-rc2` → `1.0.0rc2`."""
    return version.lower().replace("-", "")


def machines_of(text: str) -> Iterator[tuple[int, str]]:
    """Offset and cluster for each machine that is surely meant: `8× NVIDIA H100 80GB` → `8xH100`, `2x8xH800`."""
    found = []
    for match in _MACHINES.finditer(text):
        counts = "x".join(number for number in match.groups()[:2] if number is not None)
        for device in (match.group(3), match.group(5)):
            if device:
                found.append((match.start(), f"{counts}x{_device(device)}"))
    found += [(match.start(), f"{match.group(2)}x{match.group(1)}") for match in _ATLAS.finditer(text)]
    yield from sorted(found, key=lambda one: one[0])


def _device(name: str) -> str:
    name = name.upper().replace(" ", "")
    if name[:4] in ("4090", "5090"):
        name = f"RTX{name}"
    return name.replace("409048G", "4090-48G")
