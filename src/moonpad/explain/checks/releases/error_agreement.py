"""How well a known fault agrees with the error lines of the text, by the pairs of words that both have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from moonpad.engines import ENGINES
from moonpad.explain.commands import Script

Pairs = frozenset[tuple[str, str]]

_WORD: Final = re.compile(r"[a-z_]\w{3,}")
_COMMON: Final = re.compile(
    r"\w*error|that|this|with|which|from|where|when|have|been|they|than|into|more|were|file|line|lib64|python\d?|packages"
    r"|cuda|most|recent|call|last|traceback|runtime|torch|model|models|kernel|value|start|ends?"
    r"|kimi|moonshotai|deepseek|qwen|llama|gemma|mistral|minimax|"  # a model's name is no part of what went wrong
    + "|".join(sorted(ENGINES))
)
_LONGEST: Final = 400
_FIGURE: Final = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:,\d{3})+|\d{5,12})(?!\d|\.\d)")
_FIGURES: Final = 2
_MOST: Final = 200
"""Error lines."""
_SYMBOL: Final = re.compile(r"(?<![\w/.-])[a-z][a-z0-9]{0,30}(?:_[a-z0-9]{1,30}){2,8}(?![\w=-]|\.py\b)", re.ASCII)
_LONGEST_LINE: Final = 2_000
_OF_ANY_FAULT: Final = frozenset(
    {("illegal", "memory"), ("memory", "access"), ("illegal", "access"), ("assertion", "failed"), ("shared", "memory")}
)
"""What many faults are about."""
_OF_PYTHON: Final = frozenset(
    {
        *(("unexpected", "keyword"), ("keyword", "argument"), ("keyword", "arguments"), ("object", "attribute")),
        *(("module", "attribute"), ("module", "named"), ("cannot", "import"), ("import", "name")),
        *(("missing", "required"), ("required", "positional"), ("positional", "argument"), ("positional", "arguments")),
        *(
            ("required", "keyword"),
            ("argument", "must"),
            ("must", "have"),
            ("name", "defined"),
            ("takes", "positional"),
        ),
    }
)
"""The interpreter's own words, which say nothing without the name that stands beside them."""


def error_pairs(script: Script) -> Pairs:
    """Pairs of neighbouring words in the error lines."""
    lines = [script.lines[error.number - 1][error.column :][:_LONGEST] for error in script.error_lines[:_MOST]]
    script.budget.once("what its errors say", len(lines), "what later releases mended")
    return frozenset(pair for line in lines for pair in _pairs(line))


def is_logged(fault: str, script: Script) -> bool:
    """Whether a line of a log, and not of a sentence, has the words of the fault."""
    logged = (error for error in script.error_lines[:_MOST] if error.logged)
    lines = (script.lines[error.number - 1][error.column :][:_LONGEST] for error in logged)
    return any(shared_pairs(fault, frozenset(_pairs(line))) > 1 for line in lines)


def symbol_pairs(script: Script) -> Pairs:
    """Pairs of neighbouring parts of the functions that the text names, as `fused_gate` of `moe_fused_gate_kernel`."""
    script.budget.once("the functions that it names", len(script.lines), "what later releases mended")
    own = {word.line for command in script.commands for word in command.words}
    lines = [line[:_LONGEST_LINE] for number, line in enumerate(script.lines, 1) if number not in own]
    names = {match[0] for line in lines if line.count("_") > 1 for match in _SYMBOL.finditer(line)}
    return frozenset(pair for name in names for pair in _pairs(name.replace("_", " "))) - _OF_ANY_FAULT


def shares_particulars(fault: str, errors: Pairs) -> bool:
    """Whether both have a pair that is not of many faults."""
    return bool(errors.intersection(_pairs(fault)) - _OF_ANY_FAULT)


def pairs_of(text: str) -> Pairs:
    return frozenset(_pairs(text))


def shared_pairs(fault: str, errors: Pairs) -> int:
    """How many pairs both have, at most two; none where they are words of the interpreter alone."""
    shared = errors.intersection(_pairs(fault)) if errors else frozenset[tuple[str, str]]()
    return min(2, len(shared)) if shared - _OF_PYTHON else 0


def tells_figures(fault: str, script: Script) -> bool:
    """Whether a line of the text's errors has the very figures of the fault, however their thousands are set apart."""
    figures = _figures(fault)
    if len(figures) < _FIGURES:
        return False
    lines = (script.lines[error.number - 1][error.column :][:_LONGEST] for error in script.error_lines[:_MOST])
    return any(len(figures & _figures(line)) >= _FIGURES for line in lines)


def _figures(text: str) -> frozenset[str]:
    return frozenset(figure.replace(",", "") for figure in _FIGURE.findall(text))


def _pairs(text: str) -> Iterable[tuple[str, str]]:
    words = _WORD.findall(text.casefold())
    return (pair for pair in pairwise(words) if not any(_COMMON.fullmatch(word) for word in pair))
