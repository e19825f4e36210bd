"""Requests to paths that no engine answers at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_SENT: Final = re.compile(
    r"(?:--endpoint[ =]+[\"']?|https?://[^\s/\"'`<>]{1,100}:[^\s/\"'`<>]{1,60})"
    r"(?P<path>/v1/(?:chat/completion|completion|embedding|chat/competions|chat/completitions))(?![\w/-])"
)
_MENDED: Final = {"embedding": "/v1/embeddings", "completion": "/v1/completions"}
_COMMENT: Final = re.compile(r"\s*(?:#|//|;)")


def request_path(case: Case) -> Iterator[Remark]:
    """`/v1/chat/completion`: the paths of the OpenAI API are plural, and another answers 404."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    for number, text in numbered(script, 1, len(script.lines)):
        if "/v1/" not in text or _COMMENT.match(text):
            continue
        if match := _SENT.search(text):
            path = match["path"]
            right = "/v1/chat/completions" if "/chat/" in path else _MENDED[path.rpartition("/")[2]]
            message = f"{script.where(number)}: {path} is not a path of the server, which answers 404"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, path, message, f"write {right}")
            yield Remark(remark.finding, command=None)
            return
