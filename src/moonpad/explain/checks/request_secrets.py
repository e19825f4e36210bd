"""Requests by another scheme or with another key than the server's, and for more tokens than it serves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines.surrounding_names import KEY_VARIABLE
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.request_names import is_only_server
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity

_KEY: Final = "--api-key"
_TLS: Final = ("--ssl-keyfile", "--ssl-certfile", "--ssl-cert-reqs", "--ssl-ca-certs", "--ssl-key-file")
_BETWEEN: Final = re.compile(
    r"nginx|proxy|router|gateway|litellm|tunnel|ssh\s.*-L|socat|port-forward|traefik|caddy|envoy|haproxy|ingress",
    re.IGNORECASE,
)
_SENT: Final = re.compile(
    r"(?P<scheme>https?)://(?:localhost|127\.0\.0\.1|0\.0\.0\.0):(?P<port>\d{2,5})(?=/|[\"'\s]|$)"
)
_ASKS: Final = re.compile(r"\bcurl\b|base_url|OPENAI_(?:API_)?BASE|--base-url")
_BEARER: Final = re.compile(r"authorization:[ ]*(?P<bearer>bearer[ ]+)?(?P<key>[^\s\"'`\\]{1,120})", re.IGNORECASE)
_OF_CLIENT: Final = re.compile(r"\bapi_key[ ]*=[ ]*[\"'](?P<key>[^\"'\\]{1,120})[\"']")
_HERE: Final = re.compile(r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0):\d{2,5}")
_PLACEHOLDER: Final = re.compile(
    r"[$<>{}*]|your|my[-_]|xxx|\.\.\.|…|example|secret|change|replace|abc|123|test|dummy|placeholder", re.IGNORECASE
)
"""What a guide writes where anyone's own key belongs."""
_NO_KEYS: Final = frozenset({"empty", "none", "not-needed", "no-key", "na", "n/a"})
_TOKENS: Final = re.compile(
    r"[\"'](?:max_tokens|max_completion_tokens)[\"'][ ]*:[ ]*(?P<number>\d{3,8})"
    r"|\bmax_tokens[ ]*=[ ]*(?P<other>\d{3,8})"
)
_MODEL: Final = re.compile(r"\bmodel[ ]*=[ ]*[\"'](?P<name>[^\"'\\\n]{1,120})[\"']")
_CREATES: Final = re.compile(r"\.(?:chat\.)?completions\.create\(")
_COMMENT: Final = re.compile(r"\s*(?:#|//|;)")
_NEAR: Final = 4


def scheme_of_request(case: Case) -> Iterator[Remark]:
    """`http://localhost:8443` of a server with a certificate, or `https://` of one without."""
    port = _port(case)
    if not port or not _is_alone(case):
        return
    secured = any(case.option(flag) is not None for flag in _TLS)
    for number, text in _below(case):
        match = _SENT.search(text) if _ASKS.search(text) else None
        if match is None or match["port"] != port or (match["scheme"] == "https") == secured:
            continue
        where, wanted = case.script.where(number), "https" if secured else "http"
        message = f"{where}: the request goes by {match['scheme']}, and the server on {port} speaks "
        message += f"{wanted} {'with' if secured else 'without'} a certificate: "
        message += "it closes the connection (empty reply)" if secured else "the handshake fails (wrong version number)"
        yield _said(Code.CONFLICT, f"{match['scheme']}://", message, f"write {wanted}://")
        return


def key_of_client(case: Case) -> Iterator[Remark]:
    """A request with another key than the one that the server is given in the same text, or without `Bearer`."""
    place = case.option(_KEY)
    given = place.value if place is not None else case.variable(KEY_VARIABLE)
    keys = [each.strip("'\"") for each in (given if isinstance(given, tuple) else (given,)) if isinstance(each, str)]
    own = keys[0] if len(keys) == 1 else ""
    if not own or unresolved(own) or set(own) & set("$<>{}*") or not _is_alone(case) or " " in own:
        return
    if place is None and case.base != names.EXPERTS_BY_VARIABLE:
        return
    near: dict[int, str] = dict(_below(case))
    for number, text in near.items():
        header, client = _BEARER.search(text), _OF_CLIENT.search(text)
        match = header or client
        if match is None:
            continue
        key, where = match["key"], case.script.where(number)
        if header is not None and key == own and not header["bearer"]:
            message = f"{where}: the header has the key without the word Bearer, and the server answers 401"
            yield _said(
                Code.INVALID_VALUE, "Authorization", message, "write Authorization: Bearer and the key behind it"
            )
            return
        asked = "\n".join(near.get(at, "") for at in range(number - _NEAR, number + _NEAR + 1))
        if key == own or own in key or not _HERE.search(asked):
            continue
        if key.casefold() not in _NO_KEYS and (_PLACEHOLDER.search(key) and not _PLACEHOLDER.search(own)):
            continue
        if set(key) & set("$<>{}*") or "your" in key.casefold():
            continue
        where_it_is = "Authorization" if header is not None else "api_key"
        message = (
            f"{where}: the key of the request is {shortened(key, 24)}, and the server was given another: it answers 401"
        )
        yield _said(Code.CONFLICT, where_it_is, message, "send the server's key")
        return


def tokens_of_request(case: Case) -> Iterator[Remark]:
    """`"max_tokens": 300000` of a server with a shorter context."""
    longest = whole(case.text("--max-model-len").strip("'\"")) or 0
    if case.base != names.EXPERTS_BY_VARIABLE or not longest or not _is_alone(case):
        return
    for number, text in _below(case):
        match = _TOKENS.search(text)
        wanted = int(match["number"] or match["other"]) if match is not None else 0
        if wanted > longest:
            message = (
                f"{case.script.where(number)}: the request asks for {wanted:,} tokens, and the server's sequences "
            )
            message += f"end at {longest:,}: it answers 400, or stops before"
            yield _said(Code.INVALID_VALUE, "max_tokens", message, f"ask for less than {longest:,}")
            return


def model_of_client(case: Case) -> Iterator[Remark]:
    """`client.chat.completions.create(model="…")` of another name than the server has."""
    place = case.option("--served-model-name")
    if case.base != names.EXPERTS_BY_VARIABLE or place is None or not _is_alone(case):
        return
    known = place.value if isinstance(place.value, tuple) else (place.value,)
    called = [each.strip("'\"") for each in known if isinstance(each, str)]
    if not called or any(unresolved(each) or set(each) & set("$<>{}*") for each in called):
        return
    if case.option("--enable-lora", "--lora-modules") is not None:
        return
    until = 0
    lines = dict(_below(case))
    if not any(_ASKS.search(text) and _HERE.search(text) for text in lines.values()):
        return
    for number, text in lines.items():
        until = number + _NEAR if _CREATES.search(text) else until
        match = _MODEL.search(text) if number <= until else None
        if match is None or set(match["name"]) & set("$<>{}*"):
            continue
        until = 0
        if match["name"] not in called:
            message = (
                f"{case.script.where(number)}: the client asks for {shortened(match['name'], 60)}, and the server is "
            )
            message += f"called {shortened(called[0], 60)}: it answers 404"
            yield _said(Code.MODEL_NAME, "model", message, f"ask for {shortened(called[0], 60)}")
            return


def _is_alone(case: Case) -> bool:
    """A server that nothing stands in front of, whose options are all there."""
    command = case.commands[0]
    if case.open_ended or command.more or command.custom or is_fragment(command) or not is_only_server(case):
        return False
    return not case.script.objects and not is_in_lines(_BETWEEN, case.script.lines, 2000)


def _port(case: Case) -> str:
    """The server's own, "" where the container may publish it under another number."""
    command = case.commands[0]
    port = case.text("--port").strip("'\"") or str(case.engine.command_line.port or "")
    container = command.container
    if container is not None and container.given("--publish"):
        given = [(option.value or "").split(":") for option in container.given("--publish")]
        return next((parts[-2] for parts in given if len(parts) > 1 and parts[-1] == port), "")
    return port if port.isdigit() else ""


def _below(case: Case) -> Iterator[tuple[int, str]]:
    behind = max(word.end_line for command in case.commands for word in command.words)
    for number, text in numbered(case.script, behind + 1, len(case.script.lines)):
        if not _COMMENT.match(text):
            yield number, text


def _said(code: Code, where: str, message: str, remedy: str) -> Remark:
    return Remark(make_remark(Severity.WARNING, code, where, message, remedy).finding, command=None)
