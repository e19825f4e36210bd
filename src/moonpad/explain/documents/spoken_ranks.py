"""Other machines of the same deployment that a text tells of in a sentence, and does not write a command for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.documents.line_search import is_in_lines

_NUMBERED: Final = r"node[-_ ]?rank\b[`'\" ]{0,3}(?:to |=|:|is |of )?[`'\" ]{0,3}(?:[1-9]\d?\b|<\w{1,12}>|[NRi]\b)"
_OTHERS: Final = re.compile(
    rf"^(?![ \t]*--)(?!.*(?:launch_server|\bserve\b|\\[ \t]*$)).*(?:{_NUMBERED}"
    r"|\bnodes? [1-9]\d? ?(?:to|and|[-–,]) ?\d|\b(?:the|on|every|each) (?:second|other|remaining) (?:\w{1,12} )?"
    r"(?:node|machine|host|box)(?:e?s)?\b|\bworks? on (?:two|three|four|\d+|both) (?:nodes|machines)\b"
    r"|主节点|从节点|其[他余它](?:节点|机器)|[另第][一二]台)",
    re.IGNORECASE,
)
_RUNS: Final = re.compile(
    r"\btested (?:and )?(?:ok|working|to work)\b|\bwith (?:this|that) it (?:works|runs)\b"
    r"|\b(?:and|so|then) it (?:runs|works)(?: (?:well|fine))?[ ]*[.,;:!)]?[ ]*$"
    r"|(?<![不没未])(?:(?:能够?|可以|已经?|成功)跑(?:通|起来)|跑通了|成功复现)(?!吗|么|[ ]?[?？])",
    re.IGNORECASE,
)
_LONGEST: Final = 500


def tells_of_other_ranks(lines: Sequence[str]) -> bool:
    """`The other node: the same with --node-rank 1`, `Nodes 1 to 3, each with its own number`."""
    return is_in_lines(_OTHERS, tuple(lines), _LONGEST)


def says_it_runs(lines: Sequence[str]) -> bool:
    """`v0.11.0rc1, tested ok:`, `with this it works on two nodes`."""
    return is_in_lines(_RUNS, tuple(lines), _LONGEST)
