"""A client's key against the one that the server asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.asked_server import calls_to, is_shown_to_fail, own_port
from moonpad.explain.checks.clients.proxied_names import settings_of_proxy
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_KEY: Final = "--api-key"
_SENT: Final = re.compile(
    r"Bearer[ ]+(?P<bearer>[^\s\"'\\]{1,200})|\b(?:openai_)?api_key[ ]*=[ ]*[\"'](?P<given>[^\"'\n]{1,200})[\"']"
)
_OPEN: Final = re.compile(r"[<>{}$*…]|your|xxx|\.\.\.|replace|change|你的", re.IGNORECASE)
_ANY: Final = re.compile(r"authorization|bearer|api[-_]?key|\s-u[ ]", re.IGNORECASE)


def key_of_client(case: Case) -> Iterator[Remark]:
    """`--api-key abc`, and a request with `Bearer EMPTY`, or without any where a variable holds the key."""
    keys = keys_of_server(case)
    if not keys:
        return
    by_option = case.option(_KEY) is not None
    place = _KEY if by_option else names.KEY_VARIABLE
    for call in calls_to(case):
        if call.kind == "create" or is_shown_to_fail(case, call.line, call.line + call.text.count("\n")):
            continue
        sent = [match["bearer"] or match["given"] for match in _SENT.finditer(call.text)]
        if sent and (any(_OPEN.search(key) for key in sent) or keys & {*sent}):
            continue
        if not sent and (by_option or call.kind != "curl" or "/v1/" not in call.path or _ANY.search(call.text)):
            continue
        yield _told(case, place, call.line, f"has the key {shortened(sent[0], 30)}" if sent else "has no key")
        return
    for setting in settings_of_proxy(case.script):
        key = setting.key
        if setting.port != own_port(case) or not key or key in keys or _OPEN.search(key) or "environ/" in key:
            continue
        yield _told(case, place, setting.line, f"has the key {shortened(key, 30)}")
        return


def keys_of_server(case: Case) -> frozenset[str]:
    """Those that it takes, none where one is not known."""
    place = case.option(_KEY)
    value = place.value if place is not None else case.variable(names.KEY_VARIABLE)
    values = value if isinstance(value, tuple) else (value,)
    keys = [key.strip("'\"") for key in values if isinstance(key, str) and key]
    if case.open_ended or any(unresolved(key) or _OPEN.search(key) for key in keys):
        return frozenset()
    if place is None and case.base != names.EXPERTS_BY_VARIABLE:
        return frozenset()
    return frozenset(keys)


def _told(case: Case, place: str, line: int, what: str) -> Remark:
    message = f"{case.script.where(line)}: the request {what}, and the server wants that of {place}: it answers 401"
    return replace(
        make_remark(Severity.WARNING, Code.CONFLICT, place, message, "give both sides the same key"), command=None
    )
