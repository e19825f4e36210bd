"""Fields of a request's body that its path does not read: a server passes over them, or refuses the request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_SENT: Final = re.compile(r"https?://[^\s\"'`]{1,120}?/v1/(?P<path>chat/completions|completions)(?![\w/-])")
_FIELD: Final = re.compile(r"[\"'](?P<name>max_completion_tokens|messages|prompt)\\?[\"']\s*:")
_COMMENT: Final = re.compile(r"\s*(?:#|//|;)")
_END: Final = re.compile(r"\s*(?:```|~~~|curl\b)")
_BELOW: Final = 25
"""Lines of a request's body."""
_CHAT: Final = "chat/completions"


def request_field(case: Case) -> Iterator[Remark]:
    """`max_completion_tokens` is read by chat requests alone, `messages` by these, and `prompt` by the others."""
    script = case.script
    if case.base not in (names.EXPERTS_BY_VARIABLE, names.EXPERTS_BY_OPTION):
        return
    if not is_first_server(case.commands, script):
        return
    path, until, fields = "", 0, set[str]()
    for number, text in numbered(script, 1, len(script.lines)):
        sent = _SENT.search(text) if "/v1/" in text and not _COMMENT.match(text) else None
        if sent is not None and "curl" in "\n".join(script.lines[max(0, number - 3) : number]):
            path, until, fields = sent["path"], number + _BELOW, set()
        elif number > until or _END.match(text):
            path = ""
        for match in _FIELD.finditer(text) if path else ():
            fields.add(match["name"])
            told = _told(path, match["name"], fields)
            if told is None:
                continue
            message = f"{script.where(number)}: {told[0]}"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, match["name"], message, told[1])
            yield Remark(remark.finding, command=None)
            return


def _told(path: str, name: str, fields: set[str]) -> tuple[str, str] | None:
    if path == _CHAT:
        if name != "prompt" or "messages" in fields:
            return None
        return (
            "/v1/chat/completions reads messages and no prompt: it answers 400",
            "ask /v1/completions, or send messages",
        )
    if name == "messages" and "prompt" not in fields:
        return "/v1/completions reads a prompt and no messages: it answers 400", "ask /v1/chat/completions"
    if name == "max_completion_tokens":
        told = "/v1/completions passes over max_completion_tokens: the answer ends after 16 tokens"
        return told, "write max_tokens, or ask /v1/chat/completions"
    return None
