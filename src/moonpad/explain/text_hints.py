"""What a text says beside its commands: versions of engines, and the machines that it speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from moonpad.engines import ENGINES

_NUMBER: Final = (
    r"v?(?P<version>[0-9]{1,4}\.[0-9]{1,4}(?:\.[0-9]{1,6})?"
    r"(?:(?:-?rc|[ab]|\.?post|\.?dev)[0-9]{1,6}){0,3}(?:\+[0-9a-z]{1,40})?)"
)
_LATER: Final = r"(?P<least>\+|[ ]or[ ](?:later|newer|above|higher))?"

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


@dataclass(frozen=True, slots=True)
class _Patterns:
    """Of names with a version. Each engine's names are a group, `e` and its number."""

    engines: tuple[str, ...]
    pin: re.Pattern[str]
    image: re.Pattern[str]
    prose: re.Pattern[str]

    def engine(self, match: re.Match[str]) -> str:
        return next(name for number, name in enumerate(self.engines) if match.groupdict().get(f"e{number}"))


@lru_cache(maxsize=4)
def _patterns(engines: tuple[str, ...]) -> _Patterns:
    lines = [ENGINES[name].command_line for name in engines]
    names = _either([line.names for line in lines])
    return _Patterns(
        engines,
        _compiled(rf"(?<![\w-]){names}(?:\[[\w,.-]{{0,60}}\])?[ ]?(?:==|(?P<least>>=))[ ]?{_NUMBER}"),
        _compiled(rf"{_either([line.images for line in lines])}:{_NUMBER}"),
        _compiled(rf"(?<![\w/-]){names}(?:[ ](?:nightly|version|release|image)){{0,2}}(?:[ ]\(|[ ]){_NUMBER}{_LATER}"),
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.ASCII)


def _either(of_engines: Sequence[Sequence[str]]) -> str:
    groups = (f"(?P<e{number}>{'|'.join(names)})" for number, names in enumerate(of_engines) if names)
    return f"(?:{'|'.join(groups)})"


def versions_of(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Engine → the version that is named, and engine → the lowest that is required.

    A pin (`vllm==0.11.0`) or an image's tag goes before prose (`vLLM nightly (v0.11.1rc6)`), the first of a kind before
    the others.
    """
    named: dict[str, str] = {}
    least: dict[str, str] = {}
    patterns = _patterns(tuple(ENGINES))
    exact = [*patterns.pin.finditer(text), *patterns.image.finditer(text)]
    for match in (*sorted(exact, key=lambda match: match.start()), *patterns.prose.finditer(text)):
        versions = least if match.groupdict().get("least") else named
        versions.setdefault(patterns.engine(match), _plain(match["version"]))
    return named, least


def version_of_image(image: str) -> tuple[str, str] | None:
    """`vllm/vllm-openai:v0.11.0` → ("vllm", "0.11.0")."""
    patterns = _patterns(tuple(ENGINES))
    match = patterns.image.search(image)
    return (patterns.engine(match), _plain(match["version"])) if match else None


def _plain(version: str) -> str:
    """`1.0.0-rc2` → `1.0.0rc2`."""
    return version.lower().replace("-", "")


def machines_of(text: str) -> Iterator[tuple[int, str]]:
    """Offset and cluster for each machine that is surely meant: `8× NVIDIA H100 80GB` → `8xH100`, `2x8xH800`."""
    machines = []
    for match in _MACHINES.finditer(text):
        counts = "x".join(number for number in match.groups()[:2] if number is not None)
        for device in (match.group(3), match.group(5)):
            if device:
                machines.append((match.start(), f"{counts}x{_device(device)}"))
    machines += [(match.start(), f"{match.group(2)}x{match.group(1)}") for match in _ATLAS.finditer(text)]
    yield from sorted(machines, key=lambda machine: machine[0])


def _device(name: str) -> str:
    name = name.upper().replace(" ", "")
    if name[:4] in ("4090", "5090"):
        name = f"RTX{name}"
    return name.replace("409048G", "4090-48G")
