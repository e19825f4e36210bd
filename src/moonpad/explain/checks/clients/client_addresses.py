"""The scheme and the path of a client's address: https to a server of http, a whole path where the library adds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.asked_server import BETWEEN, calls_to, is_named, is_shown_to_fail
from moonpad.explain.checks.clients.request_keys import OF_OPENAI
from moonpad.explain.documents.client_calls import ClientCall
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_CERTIFICATES: Final = ("--ssl-certfile", "--ssl-keyfile")
_TLS: Final = re.compile(r"certbot|letsencrypt|ssl_certificate|\bTLS\b|\bHTTPS\b|ssl-(?:cert|key)|stunnel")
_WHOLE: Final = re.compile(r"/v1/(?:chat/completions|completions|models|responses)/?$")
_LONGEST: Final = 2000
_LOCAL: Final = ("127.0.0.1", "localhost")
_ADDRESS: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")


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
        by_another = call.host in _LOCAL and is_in_lines(OF_OPENAI, case.script.lines, _LONGEST)  # path_without_version
        if call.kind == "client" and call.path in ("", "/") and not by_another:
            message = f"{case.script.where(call.line)}: the library adds /chat/completions to this address, and the "
            message += "server answers 404 without /v1 before it"
            yield _said(call, "base_url", message, "write it with /v1 at its end")
            return


def bound_to_itself(case: Case) -> Iterator[Remark]:
    """A request to the machine's address, where the server listens on 127.0.0.1 alone."""
    host = case.text("--host").strip("'\"") if case.option("--host") is not None else ""
    local = host in _LOCAL or (not host and case.base == names.EXPERTS_BY_OPTION and case.option("--host") is None)
    if not local or case.open_ended or case.commands[0].container is not None or case.first.node.nodes not in (None, 1):
        return
    if case.script.objects or is_in_lines(BETWEEN, case.script.lines, _LONGEST) or is_named(case, "HOST_IP"):
        return
    for call in calls_to(case):
        if (
            not _ADDRESS.fullmatch(call.host)
            or call.host.startswith(("127.", "0."))
            or is_shown_to_fail(case, call.line)
        ):
            continue
        by_default = "" if host else " by default"
        message = f"{case.script.where(call.line)}: the request goes to {call.host}, and the server listens on "
        message += f"{host or _LOCAL[0]} alone{by_default}: connection refused"
        yield _said(call, "--host", message, "start it with --host 0.0.0.0 and a key")
        return


def _said(call: ClientCall, place: str, message: str, remedy: str) -> Remark:
    code = Code.INVALID_VALUE if call.path else Code.CONFLICT
    return replace(make_remark(Severity.WARNING, code, place, message, remedy), command=None)
