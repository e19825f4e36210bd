"""Experts of which two matrices that are multiplied in one step are kept in different places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.tensor_orders import is_plain, tensors_of
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_PUT: Final = re.compile(
    r"(?:^|[\s`\"'])(?:-ot|--override-tensor)[ \t=]+(?P<quote>[\"']?)(?P<parts>[^\s\"']{3,400})(?P=quote)"
)
_FUSED: Final = re.compile(r"(?:^|[\s`\"'])-{1,2}(?:fmoe|fused-moe)(?![\w-])")
_HOST: Final = re.compile(r"CPU", re.IGNORECASE)
_LONGEST: Final = 1000
_MOST: Final = 16
"""Patterns of one command."""
_SHOWN: Final = 4


def up_apart_from_gate(case: Case) -> Iterator[Remark]:
    r"""`-fmoe -ot "blk\.(1|2)\.ffn_up.*=CUDA0" -ot exps=CPU`: the up projections of two layers are on a device, and the
    gates on the host, and a fused step needs both."""
    script = case.script
    if not case.engine.facts.gguf_only or not case.commands[0].fork or not is_first_server(case.commands, script):
        return
    script.budget.once("patterns of tensors", 2 * len(script.lines), "its patterns of tensors")
    if not is_in_lines(_FUSED, script.lines, _LONGEST):
        return
    for first, patterns in _blocks(script.lines):
        if layers := _apart(patterns):
            shown = ", ".join(map(str, layers[:_SHOWN])) + (", …" if len(layers) > _SHOWN else "")
            several = "s" * (len(layers) > 1)
            message = f"line {first}: with -fmoe the up and gate projections of an expert are one step, and of layer"
            message += (
                f"{several} {shown} only one of the two is on a device: each token waits for copies from the host"
            )
            remedy = "put ffn_up_exps and ffn_gate_exps of a layer on the same device, or leave both on the host"
            yield make_remark(Severity.WARNING, Code.SUBOPTIMAL, "-ot", message, remedy)
            return


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """The patterns with their places, in their order, of lines without an empty one or a fence between."""
    numbered = enumerate((text[:_LONGEST] for text in lines), 1)
    for inside, block in groupby(numbered, lambda each: bool(each[1].strip("` \t"))):
        if not inside:
            continue
        placed = [
            (number, *part.rpartition("=")[::2])
            for number, text in block
            if "-ot" in text or "--override-tensor" in text
            for match in _PUT.finditer(text)
            for part in match["parts"].split(",")
        ]
        if placed:
            yield placed[0][0], [(pattern, buffer) for _, pattern, buffer in placed]


def _apart(patterns: Sequence[tuple[str, str]]) -> list[int]:
    """The layers of whose experts one of the two matrices is on the host and the other one on a device."""
    if not 1 < len(patterns) <= _MOST or not all(pattern and is_plain(pattern) for pattern, _ in patterns):
        return []
    where: dict[str, str] = {}
    for pattern, buffer in patterns:
        for name in tensors_of(pattern):
            where.setdefault(name, buffer)
    apart = []
    for name, buffer in where.items():
        if "_up_exps" in name:
            other = where.get(name.replace("_up_exps", "_gate_exps"), "")
            if other and bool(_HOST.fullmatch(buffer)) != bool(_HOST.fullmatch(other)):
                apart.append(int(name.split(".")[1]))
    return sorted(apart)
