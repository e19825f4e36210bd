"""Requests to paths that no engine answers at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.foreign_names import EXPERTS_BY_OPTION, EXPERTS_BY_VARIABLE
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_SENT: Final = re.compile(
    r"(?:--endpoint[ =]+[\"']?|https?://[^\s/\"'`<>]{1,100}:[^\s/\"'`<>]{1,60})"
    r"(?P<path>/v1/(?:chat/completion|completion|embedding|chat/competions|chat/completitions))(?![\w/-])"
)
_BARE: Final = re.compile(
    r"\bcurl\b[^|;]*?https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0):(?P<port>\d{2,5})"
    r"(?P<path>/(?:chat/completions|completions|embeddings|models))(?![\w/-])"
)
_MENDED: Final = {"embedding": "/v1/embeddings", "completion": "/v1/completions"}
_COMMENT: Final = re.compile(r"\s*(?:#|//|;)")


def request_path(case: Case) -> Iterator[Remark]:
    """`/v1/chat/completion`: the paths of the OpenAI API are plural, and another answers 404."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    for number, text in numbered(script, 1, len(script.lines)):
        if _COMMENT.match(text):
            continue
        if (bare := _BARE.search(text)) and case.text("--root-path") == "" and bare["port"] in _ports_of(case):
            message = f"{script.where(number)}: {bare['path']} is not a path of the server, which answers 404"
            remark = make_remark(
                Severity.WARNING, Code.INVALID_VALUE, bare["path"], message, f"write /v1{bare['path']}"
            )
            yield Remark(remark.finding, command=None)
            return
        if "/v1/" not in text:
            continue
        if match := _SENT.search(text):
            path = match["path"]
            right = "/v1/chat/completions" if "/chat/" in path else _MENDED[path.rpartition("/")[2]]
            message = f"{script.where(number)}: {path} is not a path of the server, which answers 404"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, path, message, f"write {right}")
            yield Remark(remark.finding, command=None)
            return


def _ports_of(case: Case) -> tuple[str, ...]:
    """Of the server, where it is one whose paths all begin with /v1."""
    port = case.text("--port").strip("'\"") or str(case.engine.command_line.port or "")
    return (port,) if case.base in (EXPERTS_BY_VARIABLE, EXPERTS_BY_OPTION) else ()
