"""What nginx or Caddy passes on, against the server of the same text: the port of its upstream, the path cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.asked_server import own_port
from moonpad.explain.checks.clients.request_names import is_one_group
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_PASSES: Final = re.compile(r"\bproxy_pass[ ]+http|\breverse_proxy[ ]+\S")
_LOCATION: Final = re.compile(r"\blocation[ ]+(?:=[ ]*|\^~[ ]*)?(?P<path>/v1)/?[ ]*\{")
_ANY_LOCATION: Final = re.compile(r"\blocation\b")
_CUT: Final = re.compile(r"\bproxy_pass[ ]+https?://[^/;\s$]+/;")
_TARGET: Final = re.compile(
    r"(?:\bproxy_pass[ ]+http://|\bserver[ ]+|\breverse_proxy[ ]+(?:/\S*[ ]+)?(?:http://)?)(?:127\.0\.0\.1|localhost):(?P<port>\d{2,5})(?:[/;\s]|$)"
)
_CADDY: Final = "reverse_proxy"
_LONGEST: Final = 500


def passed_on(case: Case) -> Iterator[Remark]:
    """`location /v1/ { proxy_pass http://127.0.0.1:8000/; }`, and an upstream on which nothing listens."""
    script, port = case.script, own_port(case)
    if not port or not is_one_group(case) or not is_in_lines(_PASSES, script.lines, _LONGEST):
        return
    script.budget.once("what nginx passes on", 2 * len(script.lines), "the text around its engine commands")
    lines = [line[:_LONGEST].partition("#")[0] for line in script.lines]
    found = [(number, match) for number, line in enumerate(lines, 1) for match in _TARGET.finditer(line)]
    asked = {match["port"] for _, match in found}
    told: tuple[int, str, str] | None = None
    if len(asked) == 1 and port not in asked and case.commands[0].container is None:
        (other,) = asked
        elsewhere = re.compile(rf"(?<!\d){other}(?!\d)")
        if not any(elsewhere.search(_TARGET.sub("", line)) for line in lines):
            name = "Caddy" if _CADDY in found[0][1].group() else "nginx"
            what = f"{name} passes requests on to port {other}, and the server listens on {port}: 502"
            told = found[0][0], what, f"write port {port} there"
    inside = False
    for number, line in enumerate(lines, 1):
        if _ANY_LOCATION.search(line):
            inside = _LOCATION.search(line) is not None
        if told is None and inside and _CUT.search(line) and not case.text("--root-path"):
            what = "the / behind the address of proxy_pass cuts /v1 off, and the server answers 404"
            told = number, what, "leave the / behind the port out"
    if told is not None:
        where = "reverse_proxy" if _CADDY in lines[told[0] - 1] else "proxy_pass"
        message = f"{script.where(told[0])}: {told[1]}"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, where, message, told[2])
        yield replace(remark, command=None)
