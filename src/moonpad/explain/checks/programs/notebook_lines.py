"""Lines of a notebook for a shell: each has one of its own, and a cell waits for its end."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.foreign_names import SPEAKING
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_LINE: Final = re.compile(r"^(?P<json>[ \t]*(?:.*\[[ \t]*)?\")?[ \t]*![ \t]*(?P<text>[^\n]*)")
_EXPORT: Final = re.compile(r"export[ \t]+(?P<name>[A-Za-z_]\w*)=[^;&|]*$|(?P<cd>cd)[ \t]+[^;&|]+$")
_ENGINE: Final = re.compile(SPEAKING.pattern)
_BACKGROUND: Final = re.compile(
    r"(?<![&>\d])&(?![&>\d])|\bnohup\b.*&|\btimeout\b|\b(?:tmux|screen)\b|--help|-d\b.*\bdocker"
)
_CELL: Final = re.compile(
    r"[ \t]*(?:In[ ]*\[\d*\][ ]*:?|\{?\"cell_type\"|`{3,}(?:python|py)?[ \t]*$|# %%)|.*\"cell_type\""
)
_ASKS: Final = re.compile(r"\b(?:OpenAI|requests\.(?:get|post)|httpx\.|curl)\b")
_LONGEST: Final = 2000
_MOST: Final = 4000


def export_in_cell(case: Case) -> Iterator[Remark]:
    """`!export CUDA_VISIBLE_DEVICES=0` above the engine: the shell of that line ends with it."""
    for number, text in _shell_lines(case):
        match = _EXPORT.match(text)
        if match is None:
            continue
        what = match["name"] or match["cd"]
        message = (
            f"{case.script.where(number)}: each line behind ! has a shell of its own, which ends with it: {what} is "
        )
        message += "not kept"
        remedy = f"write %env {what}=…" if match["name"] else "write %cd …"
        remark = make_remark(Severity.WARNING, Code.DEAD_ENV, what, message, remedy)
        yield replace(remark, command=None)
        return


def server_holds_cell(case: Case) -> Iterator[Remark]:
    """`!vllm serve …` in one cell, and requests to it in the next."""
    if case.commands[0].embedded:
        return
    for number, text in _shell_lines(case):
        if _ENGINE.search(text) is None or _BACKGROUND.search(text) or text.rstrip().endswith("\\"):
            continue
        behind = case.script.lines[number : number + _MOST]
        if any(_CELL.match(line[:_LONGEST]) for line in behind) and any(
            _ASKS.search(line[:_LONGEST]) for line in behind
        ):
            message = (
                f"{case.script.where(number)}: the cell waits for the end of the server, so that the next one, which "
            )
            message += "asks it, never runs"
            remedy = "write !nohup … > server.log 2>&1 &, or start it with subprocess.Popen"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, "cell", message, remedy)
            yield replace(remark, command=None)
            return


def _shell_lines(case: Case) -> Iterator[tuple[int, str]]:
    """What stands behind `!`, with the numbers of the lines."""
    lines = case.script.lines
    if not is_first_server(case.commands, case.script):
        return
    case.script.budget.once("lines of a notebook", len(lines), "the text around its engine commands")
    for number, line in enumerate(lines, 1):
        match = _LINE.match(line[:_LONGEST]) if "!" in line else None
        if match is None:
            continue
        text = match["text"]
        if match["json"]:
            text = _string(text)
        yield number, text.strip()


def _string(text: str) -> str:
    """Up to the quote that ends a string of JSON."""
    end = re.match(r"(?:[^\"\\]|\\.)*", text)
    inside = end.group() if end else text
    try:
        return str(json.loads(f'"{inside}"'))
    except ValueError:
        return inside
