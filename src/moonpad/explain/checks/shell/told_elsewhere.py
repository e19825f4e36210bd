"""Settings that the text tells beside a script, and of which it is not sure that they are meant for it: they are named,
so that what is judged is not taken for what ran."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.told_settings import ADVISES, told_beside
from moonpad.explain.flag_lists import LAYOUT
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_FENCE: Final = re.compile(r"[ \t>]*(?:`{3,}|~{3,})")
_LONGEST: Final = 2000
_FARTHEST: Final = 400
"""Lines of one block."""
_NEAR: Final = 12
"""Lines behind a block whose code is told of it."""
_CODE: Final = re.compile(r"(?<!`)`(--[a-z][^`\n]{3,300})`")
_FLAG: Final = re.compile(r"(?<!\S)--[a-z][\w-]*")
_OPEN: Final = re.compile(
    r"(?<![\w\"'])\$(?:\{(?:EXTRA|MORE|ARGS|FLAGS|OPTS)\w*\}?|(?:EXTRA|MORE|ARGS|FLAGS|OPTS)\w*|@)"
)
"""What more options of a script may stand in: `$EXTRA`."""
_NOT_READ: Final = "not read, since it may be meant for another run"


def told_elsewhere(case: Case) -> Iterator[Remark]:
    """`MAMBA_RATIO=0.60` in one sentence and 0.95 in another; `--enable-dp-attention --dp-size 8` below a script that
    takes more options in `$EXTRA`."""
    script, command = case.script, case.commands[0]
    if not script.markdown or case.again:
        return
    first, last = _block(script.lines, command.line)
    block = "\n".join(script.lines[first:last])
    if "$" not in block:
        return
    script.budget.work(script.steps_to_scan // 10, "the text around its engine commands")
    told: dict[str, list[tuple[int, str]]] = {}
    for each in told_beside(_joined(script.lines), block):
        told.setdefault(each.name, []).append((each.line, each.value))
    for name, values in told.items():
        given = dict.fromkeys(f"{name}={shortened(value)}" for _, value in values)
        message = f"{script.where(values[0][0])} tells {' and '.join([*given][:3])} beside this script: {_NOT_READ}"
        yield _remark(name, message, f"put {name} in front of it where it is meant, and ask again")
    if (flags := _flags_told(case, first, last, block)) is not None:
        line, code = flags
        message = f"{script.where(line)} tells {shortened(code, 120)} beside this script: {_NOT_READ}"
        yield _remark(
            _FLAG.findall(code)[0], message, "write them into the command where they are meant, and ask again"
        )


@lru_cache(maxsize=2)  # each deployment of a text asks
def _joined(lines: tuple[str, ...]) -> str:
    return "\n".join(lines)


def _remark(where: str, message: str, remedy: str) -> Remark:
    return Remark(make_remark(Severity.NOTE, Code.MISSING_FLAG, where, message, remedy).finding, command=None)


def _block(lines: Sequence[str], line: int) -> tuple[int, int]:
    """Where the fenced block with that line begins and ends, counted from 0."""
    first = next((at for at in range(line - 1, max(-1, line - _FARTHEST), -1) if _FENCE.match(lines[at])), -1) + 1
    last = next((at for at in range(line, min(len(lines), line + _FARTHEST)) if _FENCE.match(lines[at])), len(lines))
    return first, last


def _flags_told(case: Case, first: int, last: int, block: str) -> tuple[int, str] | None:
    """Code of options near below the script, with sizes of the layout that the command does not give."""
    if _OPEN.search(block) is None:
        return None
    options = case.engine.command_line.options
    sizes = {options[name] for name in LAYOUT if name in options}
    own = {word.text.partition("=")[0] for word in case.commands[0].argv}
    for number, text in enumerate(case.script.lines[last + 1 : last + 1 + _NEAR], last + 2):
        if _FENCE.match(text):
            break
        for match in _CODE.finditer(text[:_LONGEST]) if not ADVISES.search(text[:_LONGEST]) else ():
            named = set(_FLAG.findall(match[1]))
            if named & sizes and not named & own:
                return number, match[1]
    return None
