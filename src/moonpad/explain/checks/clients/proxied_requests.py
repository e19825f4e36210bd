"""Requests to this machine that a proxy gets: `http_proxy` is set above them, and nothing is taken out of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_SETS: Final = re.compile(
    r"^[ \t]*(?:export[ \t]+(?:[A-Za-z_]\w*=\S*[ \t]+)*)?(?P<name>http_proxy|all_proxy|ALL_PROXY)="
    r"[\"']?(?:https?|socks5h?|socks4a?)://[\w.-]"
)
"""curl reads http_proxy in small letters alone: https://curl.se/docs/manpage.html."""
_TAKES_OUT: Final = re.compile(r"no_?proxy|\bunset\b.*\b(?:http|all)_proxy|env -u (?:http|all)_proxy", re.IGNORECASE)
_ASKS: Final = re.compile(r"(?:^|[\s;|&`$(>])curl\b[^|;]*?\bhttp://(?P<host>localhost|127\.0\.0\.1)[:/]")
_ASKED_BY: Final = re.compile(r"\bcurl\b[^|;]*?(?:--noproxy|-x[ ]|--proxy\b)")
_FENCE: Final = re.compile(r"[ \t]*(?:`{3}|~{3})")
_COMMENT: Final = re.compile(r"[ \t]*(?:#|//)(?!!)")


def proxied_request(case: Case) -> Iterator[Remark]:
    """`export http_proxy=…`, and below it `curl http://localhost:8000/…`, without no_proxy anywhere."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    setting: tuple[int, str] | None = None
    found: Remark | None = None
    for number, text in numbered(script, 1, len(script.lines)):
        if _TAKES_OUT.search(text) and not _ASKED_BY.search(text):
            return  # anywhere in the text: what holds where is not followed
        if script.markdown and _FENCE.match(text):
            setting = None  # another block may be of another shell
        if _COMMENT.match(text):
            continue
        if setting is None and (match := _SETS.search(text)) is not None:
            setting = number, match["name"]
        elif setting is not None and found is None and (asks := _ASKS.search(text)) and not _ASKED_BY.search(text):
            line, name = setting
            message = f"{script.where(number)}: {name} of {script.where(line)} is set without no_proxy, so curl asks "
            message += f"the proxy for {asks['host']}: the answer is the proxy's, 502 or 503 as a rule"
            remedy = "export no_proxy=localhost,127.0.0.1"
            remark = make_remark(Severity.WARNING, Code.NETWORK, name, message, remedy)
            found = Remark(remark.finding, command=None)
    if found is not None:
        yield found
