"""What a text says beside its commands: versions of engines, machines, and which node a comment is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from moonpad.engines import ENGINES

_NUMBER: Final = (
    r"v?(?P<version>[0-9]{1,4}\.[0-9]{1,4}(?:\.[0-9]{1,6}){0,2}"
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
_NODES: Final = re.compile(
    r"\b([0-9]{1,3})[ ](?:nodes?|machines?|servers?|hosts?)[ ]?(?:of|with|each|[x×*,(:])[ ]?([0-9]{1,3})[ ]?"
    rf"[x×*]?[ ]?{_MAKER}{_DEVICE}(?![\w])",
    re.IGNORECASE,
)
"""`4 nodes × 8× H200`."""
_KIND_FIRST: Final = re.compile(rf"(?<![\w.-]){_DEVICE}(?:[ ]?[x×*][ ]?|:)([0-9]{{1,4}})(?![\w.:%-])", re.IGNORECASE)
"""`H20x16`, and `accelerators: H100:8` or `--gres=gpu:h100:8` as schedulers write it."""
_ATLAS: Final = re.compile(r"Atlas 800I? (A[23]) \([0-9]{1,3}GB? ?[x×*] ?([0-9]{1,3})\)")

_NODE: Final = re.compile(r"\b(?:node|host|machine|server|rank)[ _#-]{0,2}([0-9]{1,4})\b", re.IGNORECASE)
_FIRST_NODE: Final = re.compile(
    r"\b(?:head|master|primary|first|main|leader)[ -](?:node|host|machine|server)\b", re.IGNORECASE
)
_LATER_NODE: Final = re.compile(
    r"\b(?:worker|second|secondary|other|remaining)[ -](?:node|host|machine|server)s?\b|\bworkers\b", re.IGNORECASE
)


@lru_cache(maxsize=4)
def _patterns(engines: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Names with a version: in a pin, as the tag of an image, in prose. The names of an engine are a group, `e` and its
    number."""
    lines = [ENGINES[name].command_line for name in engines]
    names, images = _either([line.names for line in lines]), _either([line.images for line in lines])
    pin, image, prose = (
        rf"(?<![\w-]){names}(?:\[[\w,.-]{{0,60}}\])?[ ]?(?:==|(?P<least>>=))[ ]?{_NUMBER}",
        rf"(?<![\w-]){images}:{_NUMBER}",
        rf"(?<![\w/-]){names}(?:[ ](?:nightly|version|release|image)){{0,2}}(?:[ ]\(|[ ]){_NUMBER}{_LATER}",
    )
    flags = re.IGNORECASE | re.ASCII
    return re.compile(pin, flags), re.compile(image, flags), re.compile(prose, flags)


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
    pin, image, prose = _patterns(tuple(ENGINES))
    exact = [*pin.finditer(text), *image.finditer(text)]
    for match in (*sorted(exact, key=lambda match: match.start()), *prose.finditer(text)):
        versions = least if match.groupdict().get("least") else named
        versions.setdefault(*_engine_and_version(match))
    return named, least


def version_of_image(image: str) -> tuple[str, str] | None:
    """`vllm/vllm-openai:v0.11.0` → ("vllm", "0.11.0")."""
    match = _patterns(tuple(ENGINES))[1].search(image)
    return _engine_and_version(match) if match else None


def _engine_and_version(match: re.Match[str]) -> tuple[str, str]:
    """With `1.0.0-rc2` as `1.0.0rc2`."""
    engine = next(name for number, name in enumerate(ENGINES) if match.groupdict().get(f"e{number}"))
    return engine, match["version"].lower().replace("-", "")


def machines_of(text: str) -> Iterator[tuple[int, str]]:
    """Offset and cluster for each machine that is surely meant: `8× NVIDIA H100 80GB` → `8xH100`, `2x8xH800`."""
    machines = [(match.start(), f"{match[2]}x{match[1]}") for match in _ATLAS.finditer(text)]
    for match in _MACHINES.finditer(text):
        counts = "x".join(number for number in match.groups()[:2] if number is not None)
        machines += ((match.start(), f"{counts}x{_device(name)}") for name in (match[3], match[5]) if name)
    of_nodes = [(match.start(), f"{match[1]}x{match[2]}x{_device(match[3])}") for match in _NODES.finditer(text)]
    # `4 nodes × 8× H200` is not 8 of them.
    spans = [match.span() for match in _NODES.finditer(text)]
    machines = [(at, name) for at, name in machines if not any(first <= at < last for first, last in spans)]
    machines += of_nodes
    machines += ((match.start(), f"{match[2]}x{_device(match[1])}") for match in _KIND_FIRST.finditer(text))
    yield from sorted(machines, key=lambda machine: machine[0])


def _device(name: str) -> str:
    name = re.sub("^(?=4090|5090)", "RTX", name.upper().replace(" ", ""))
    return name.replace("409048G", "4090-48G")


def node_in(label: str) -> int | None:
    """The number of the one node that a comment names. None where it names none, or several."""
    label = label[:500]
    numbers = set(_NODE.findall(label))
    if numbers:
        return int(numbers.pop()) if len(numbers) == 1 else None
    if _FIRST_NODE.search(label):
        return 0
    return 1 if _LATER_NODE.search(label) else None
