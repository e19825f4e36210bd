"""What a log or the text says of a server that runs: the memory of its KV cache, which is then not computed, and that
it answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from moonpad.explain.documents.line_search import is_in_lines

_LOGGED: Final = re.compile(
    r"\bKV cache is needed\b.{0,80}\bavailable KV cache memory\b|\bAvailable KV cache memory: ?-?\d"
    r"|\bGPU KV cache size: ?\d"
)
_ANSWERS: Final = re.compile(
    r"\b(?:comes?|came) (?:back|out) as\b"
    r"|(?<![\w/.-])(?:answers?|outputs?|replies|(?<!chat )completions?)\b[^.\n]{0,40}\b(?:are|is|were|was|become"
    r"|repeat)\b|\bgibberish\b|\bgarbage\b|\btok(?:en)?s?[ /](?:a |per )?s(?:ec|econd)?\b|\bgsm8k\b",
    re.IGNORECASE,
)
_RIGHT: Final = re.compile(
    r"(?<=[ ])=[ ]clean\b|\b(?:answers?|outputs?|text|generations?|completions?|replies|canar(?:y|ies))\b[^.\n]{0,30}?"
    r"\b(?:is|are|was|were|stays?|stayed|looks?|looked|came out|comes? out)[ ](?:all |now |fully )?"
    r"(?:clean|correct|coherent|right|fine|sane|lossless)\b"
    r"|\b(?:canar(?:y|ies)|needle\w*|gsm8k|evals?|smoke tests?)\b[^.\n]{0,30}\b(?:pass(?:es|ed)?|clean|green)\b"
    r"|\b(?:clean|coherent|correct)[ ](?:outputs?|answers?|text|completions?)\b|(?:输出|回答|答案)(?:正常|正确)",
    re.IGNORECASE,
)
_NOT_SEEN: Final = re.compile(
    r"\b(?:not?|never|should|must|if|until|make sure|ensure|verify|check|expect\w*|without|need\w*)\b|n't\b|[?？]"
    r"|应该|是否|不",
    re.IGNORECASE,
)
_PROMISED: Final = re.compile(
    r"\d[ ]?(?:[-–—~]|to)[ ]?~?\d[\d.,]*[ ]?k?[ ]?tok|\bexpect\w*|\bestimate\w*"
    r"|\b(?:up to|at least|target|should|could|goal|can reach)\b"
    r"|[<>≥≤][ ]?=?[ ]?\d[\d.,]*[ ]?k?[ ]?tok|\d[ ]?\+[ ]?tok|预计|预期|估计|可达",
    re.IGNORECASE,
)
_SPEED: Final = re.compile(r"\btok(?:en)?s?[ /](?:a |per )?s(?:ec|econd)?\b", re.IGNORECASE)
"""A rate, which a text may also promise; how it was found out stands beside it where it was measured."""
_MEASURED: Final = re.compile(
    r"\b(?:I|we|my|our|got|gets?|getting|gave|measured|benchmark(?:ed)?|achiev(?:e[ds]?|ing)|saw|see(?:ing)?|observed|was|were"
    r"|only|but|instead|slow\w*|reached|log(?:s|ged)?|实测|测得)\b|throughput: ?\d[\d.]*[ ]tokens/s, ",
    re.IGNORECASE,
)
_TITLE: Final = re.compile(r"[ \t>]*#{1,6}[ ]|[ \t>]*\*{2}[^*]{1,80}\*{2}:?[ \t]*$")
_LONGEST: Final = 2000
_NEAR: Final = 40


def tells_of_cache(lines: Sequence[str]) -> bool:
    return is_in_lines(_LOGGED, tuple(lines), _LONGEST)


def tells_of_answers(lines: Sequence[str]) -> bool:
    """Of a server that answers, whatever it says: its command started. A rate that is promised was not seen."""
    return _tells_of_answers(tuple(lines))


@lru_cache(maxsize=8)  # asked for each report of each command
def says_answers_are_right(lines: tuple[str, ...]) -> bool:
    """`replayed with top_p 0.95 = clean`, `the canaries pass`: seen, and not wished for."""
    seen = ((line[:_LONGEST], match) for line in lines if (match := _RIGHT.search(line[:_LONGEST])))
    return any(not _NOT_SEEN.search(text[max(0, match.start() - _NEAR) : match.end()]) for text, match in seen)


@lru_cache(maxsize=64)
def _tells_of_answers(lines: tuple[str, ...]) -> bool:
    promised = False
    for line in lines:
        text = line[:_LONGEST]
        if _TITLE.match(text):
            promised = _PROMISED.search(text) is not None and _MEASURED.search(text) is None
        if _ANSWERS.search(text) is None:
            continue
        if _ANSWERS.search(_SPEED.sub("", text)) is not None:
            return True
        if _MEASURED.search(text) is not None or not (promised or _PROMISED.search(text)):
            return True
    return False
