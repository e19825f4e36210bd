"""An Ingress that ends a request in which nothing is said for a minute, where the text tells that it did."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_PREFIX: Final = "nginx.ingress.kubernetes.io/"
_INGRESS: Final = re.compile(r"^[ \t]*kind:[ \t]*Ingress\b")
_OF_NGINX: Final = re.compile(
    rf"ingressClassName:[ \t]*[\"']?nginx|ingress\.class[\"']?:[ \t]*[\"']?nginx|{re.escape(_PREFIX)}"
)
_OF_OTHERS: Final = re.compile(r"ingressClassName:[ \t]*[\"']?(?!nginx)\w")
_ENDED: Final = re.compile(r"\b504\b|Gateway Time-?out|upstream timed out", re.IGNORECASE)
_SET: Final = re.compile(r"proxy[-_]read[-_]timeout", re.IGNORECASE)


def patience_of_ingress(case: Case) -> Iterator[Remark]:
    """`504 Gateway Time-out` of an Ingress of nginx without proxy-read-timeout, which is 60 s then."""
    lines = case.script.lines
    if not all(is_in_lines(each, lines, 1000) for each in (_INGRESS, _OF_NGINX, _ENDED)):
        return
    if not is_first_server(case.commands, case.script) or any(
        is_in_lines(each, lines, 1000) for each in (_SET, _OF_OTHERS)
    ):
        return
    message = "the Ingress has no proxy-read-timeout, and nginx ends a request after 60 s in which the server says "
    message += "nothing: an answer that is not streamed, and takes longer, is lost (504)"
    remedy = (
        f'add the annotations {_PREFIX}proxy-read-timeout: "3600" and {_PREFIX}proxy-send-timeout: "3600", or stream'
    )
    remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, "proxy-read-timeout", message, remedy)
    yield replace(remark, command=None)
