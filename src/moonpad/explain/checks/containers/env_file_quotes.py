"""Quotes in a file of variables that `docker run` reads: they are part of the value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_OPTION: Final = re.compile(r"(?<![\w-])--env-file[ =]+[\"']?(?P<path>[\w./~-]+)")
_RUN: Final = re.compile(r"\b(?:docker|nerdctl)[ ]+(?:container[ ]+)?(?:run|create)\b")
_COMPOSE: Final = re.compile(r"\bcompose\b|\bpodman\b|\bsource\b|\bset[ ]+-a\b")
"""What else may read the same file, and leaves the quotes out."""
_ENTRY: Final = re.compile(r"[ \t]*(?P<name>[A-Za-z_]\w*)=(?:\"(?P<value>[^\"]+)\"|'(?P<other>[^']+)')[ \t]*$")
_OF_FILE: Final = re.compile(r"[ \t]*(?:#|$|```|~~~|[A-Za-z_]\w*=)")
_SHOWN: Final = 3


def quotes_of_env_file(case: Case) -> Iterator[Remark]:
    """`HF_TOKEN="hf_…"` in `vllm.env`, and `docker run --env-file vllm.env`."""
    script = case.script
    if not is_in_lines(_OPTION, script.lines, 1000) or not is_first_server(case.commands, script):
        return
    if not is_in_lines(_RUN, script.lines, 1000) or is_in_lines(_COMPOSE, script.lines, 1000):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    names = {match["path"].rpartition("/")[2] for _, text in lines for match in _OPTION.finditer(text)}
    name = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, sorted(names)))})(?![\w-])")
    found, inside = list[tuple[int, re.Match[str]]](), False
    for number, text in lines:
        if name.search(text) and not _OPTION.search(text):
            inside = True
        elif not _OF_FILE.match(text):
            inside = False
        elif inside and (entry := _ENTRY.match(text)) is not None:
            found.append((number, entry))
    if not found:
        return
    number, first = found[0]
    value = first["value"] if first["value"] is not None else first["other"]
    shown = ", ".join(entry["name"] for _, entry in found[:_SHOWN])
    message = f"{script.where(number)}: docker reads a file of variables without a shell, and not all of its releases "
    message += f"take the quotes off: they may be part of the value of {shown}"
    remedy = f"write {first['name']}={shortened(value, 40)} without quotes"
    remark = make_remark(Severity.NOTE, Code.INVALID_VALUE, first["name"], message, remedy)
    yield replace(remark, command=None)
