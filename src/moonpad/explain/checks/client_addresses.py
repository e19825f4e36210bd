"""The scheme and the path of a client's address: https to a server of http, a whole path where the library adds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.explain.checks.asked_server import BETWEEN, calls_to, is_shown_to_fail
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.client_calls import ClientCall
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_CERTIFICATES: Final = ("--ssl-certfile", "--ssl-keyfile")
_TLS: Final = re.compile(r"certbot|letsencrypt|ssl_certificate|\bTLS\b|\bHTTPS\b|ssl-(?:cert|key)|stunnel")
_WHOLE: Final = re.compile(r"/v1/(?:chat/completions|completions|models|responses)/?$")
_LONGEST: Final = 2000


def scheme_of_client(case: Case) -> Iterator[Remark]:
    """`https://localhost:8000` of a server without a certificate, and http of one with it."""
    secured = case.option(*_CERTIFICATES) is not None
    if case.base not in (names.EXPERTS_BY_VARIABLE, names.EXPERTS_BY_OPTION) or case.open_ended:
        return
    lines = case.script.lines
    if not secured and (is_in_lines(_TLS, lines, _LONGEST) or is_in_lines(BETWEEN, lines, _LONGEST)):
        return
    for call in calls_to(case):
        wrong = "http" if secured else "https"
        if call.scheme != wrong or is_shown_to_fail(case, call.line):
            continue
        where = case.script.where(call.line)
        if secured:
            message, remedy = f"{where}: the request speaks http, and the server has a certificate", "write https://"
            message += ": the connection is closed without an answer"
        else:
            message = f"{where}: the request speaks https, and the server has no certificate: it speaks http, and the "
            message, remedy = f"{message}handshake fails", f"write http://, or start the server with {_CERTIFICATES[1]}"
        yield _said(call, "https://" if not secured else "http://", message, remedy)
        return


def path_in_base(case: Case) -> Iterator[Remark]:
    """`OpenAI(base_url="http://localhost:8000/v1/chat/completions")`: the library adds this itself."""
    for call in calls_to(case):
        if is_shown_to_fail(case, call.line, call.line + call.text.count("\n")):
            continue
        if call.kind == "client" and _WHOLE.search(call.path):
            message = f"{case.script.where(call.line)}: the library puts the path of each request behind base_url, "
            message += f"which ends with {call.path}: the server answers 404"
            yield _said(call, "base_url", message, "let it end with /v1")
            return
        if call.kind == "client" and call.path in ("", "/"):
            message = f"{case.script.where(call.line)}: the library adds /chat/completions to this address, and the "
            message += "server answers 404 without /v1 before it"
            yield _said(call, "base_url", message, "write it with /v1 at its end")
            return


def _said(call: ClientCall, place: str, message: str, remedy: str) -> Remark:
    code = Code.INVALID_VALUE if call.path else Code.CONFLICT
    return replace(make_remark(Severity.WARNING, code, place, message, remedy), command=None)
