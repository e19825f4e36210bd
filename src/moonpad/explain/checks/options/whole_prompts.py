"""Engines that take a prompt whole, unless they are told to take it in pieces: it has to fit into one batch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.options.option_file_values import of_the_file
from moonpad.explain.checks.whole_texts import is_whole
from moonpad.explain.grouping import role_of
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_IN_PIECES: Final = "enable_chunked_prefill"
_SPELLED: Final = (f"--{_IN_PIECES}", f"--{_IN_PIECES.replace('_', '-')}")
_MANY: Final = 4
"""Times as many tokens of a sequence as of a batch: less is left to the answer."""
_PROMPT: Final = re.compile(
    r"\b(?:prompts?|inputs?|documents?)\b[^.;\n]{0,30}?(?<![\w.,-])(?:\d{1,4}[ ]?[kK]?[ ]?[-\u2013][ ]?)?"
    r"(?P<tokens>\d{1,4}[ ]?[kK]|\d{4,7}|\d{1,3},\d{3})(?![\w/-]|[.,]\d)"
)
_LONGEST: Final = 2000


def whole_prompts(case: Case) -> Iterator[Remark]:
    """`--max_num_tokens 2048` for sequences of 131072: a prompt of 3,000 tokens is refused."""
    settings = case.first.settings
    batch, longest = settings.max_num_batched_tokens, settings.max_model_len
    if not case.engine.facts.whole_prompts or batch is None or longest is None or longest <= batch:
        return
    if (
        not is_whole(case)
        or case.option(*_SPELLED) is not None
        or case.unknown
        or role_of(case.commands[0]) == "decode"
    ):
        return
    options, _ = of_the_file(case)
    if options.get(_IN_PIECES, "false").casefold() not in ("false", "null", ""):
        return
    names = case.engine.command_line.options
    flag = names["max_num_batched_tokens"]
    case.script.budget.once("lengths of prompts", len(case.script.lines), "the text around its engine commands")
    line = _line_of_longer(case.script.lines, batch)
    if not line and longest < _MANY * batch:
        return
    message = f"a prompt of more than {batch:,} tokens is refused, though a sequence may have {longest:,}: without"
    message += f" {_IN_PIECES} it has to fit into one batch" + (f" (line {line} has longer ones)" if line else "")
    place = case.option(flag)
    remedy = f"add --{_IN_PIECES}, or write {flag} with the tokens of the longest prompt"
    severity = Severity.WARNING if line else Severity.NOTE
    at = place.index if place is not None else None
    yield make_remark(severity, Code.SUBOPTIMAL, flag, message, remedy, at=at)


def _line_of_longer(lines: Sequence[str], batch: int) -> int:
    """The first that speaks of longer prompts, 0 where none does."""
    for number, text in enumerate(lines, 1):
        for match in _PROMPT.finditer(text[:_LONGEST]):
            written = match["tokens"].replace(",", "").replace(" ", "").casefold()
            tokens = int(written.removesuffix("k")) * (1000 if written.endswith("k") else 1)
            if batch < tokens:
                return number
    return 0
