"""How the devices of one host are joined: what exchanges data in every layer belongs on the fast links."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from moonpad.doctor.checks.wording import unknown, warning
from moonpad.doctor.need import Need
from moonpad.doctor.survey import Survey
from moonpad.facts.probe import Unknown
from moonpad.values.finding import Code, Finding

_ANSI: Final = re.compile(r"\x1b\[[0-9;]*m")
_FAST: Final = re.compile(r"NV\d+")
WORDS: Final = {
    "SYS": "the link between the processors",
    "NODE": "several PCIe bridges of one processor",
    "PHB": "a PCIe host bridge",
    "PXB": "several PCIe bridges",
    "PIX": "one PCIe bridge",
}
"""nvidia-smi topo -m, its legend."""


def links(survey: Survey, need: Need) -> Iterator[Finding]:
    """Where some pairs have NVLink or xGMI and others have not, or none has and ranks of one layer are there."""
    if need.tp < 2:
        return
    for name, read in (("nvidia topology", nvidia_pairs), ("amd topology", amd_pairs)):
        if not survey.has_tool(name):
            continue
        text = survey.output(name)
        pairs = text if isinstance(text, Unknown) else read(text)
        if isinstance(pairs, Unknown):
            yield unknown("topology", "how the devices are joined", pairs)
            return
        yield from _judge(pairs, min(need.tp, need.devices or need.tp))


def _judge(pairs: dict[tuple[int, int], str], ranks: int) -> Iterator[Finding]:
    """`ranks` are the first devices, as the engine takes them."""
    own = {pair: kind for pair, kind in pairs.items() if max(pair) < ranks}
    slow = {pair: kind for pair, kind in own.items() if kind}
    if not slow:
        return
    pair, kind = next(iter(slow.items()))
    where = f"devices {pair[0]} and {pair[1]}"
    count = "all" if len(slow) == len(own) else f"{len(slow)} of {len(own)}"
    message = f"{count} pairs of the {ranks} ranks of one layer are joined by {kind} and not by fast links ({where})"
    remedy = "choose devices that are joined, or a layout with fewer ranks in a layer (pp instead of tp)"
    yield warning(Code.TOPOLOGY, "topology", message, remedy)


def nvidia_pairs(text: str) -> dict[tuple[int, int], str] | Unknown:
    """(lower, higher) → what joins them where that is not NVLink, "" where it is. Of `nvidia-smi topo -m`."""
    lines = [_ANSI.sub("", line).split() for line in text.splitlines()]
    rows = [words for words in lines if words and re.fullmatch(r"GPU\d+", words[0])]
    header = next((words for words in lines if words[:1] == ["GPU0"] and words[1:2] == ["GPU1"]), None)
    rows = [words for words in rows if words is not header]
    if not rows:
        return Unknown("nvidia-smi topo -m shows no devices")
    pairs = {}
    for row in rows:
        first = int(row[0][3:])
        for second, word in enumerate(row[1 : len(rows) + 1]):
            if second > first:
                pairs[first, second] = "" if _FAST.fullmatch(word) else WORDS.get(word, word)
    return pairs


def amd_pairs(text: str) -> dict[tuple[int, int], str] | Unknown:
    """The same of `amd-smi topology --json`."""
    try:
        rows = json.loads(text[min((at for at in (text.find("["), text.find("{")) if at >= 0), default=0) :])
        rows = rows.get("gpu_data", []) if isinstance(rows, dict) else rows
        pairs = {
            (row["gpu"], link["gpu"]): "" if str(link["link_type"]).upper() == "XGMI" else str(link["link_type"])
            for row in rows
            for link in row["links"]
            if link["gpu"] > row["gpu"]
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return Unknown(f"amd-smi topology prints another form ({error!r})")
    return pairs or Unknown("amd-smi topology shows no pair of devices")
