"""A server of LMCache beside the engines of a text: whether they speak to it, and at the port where it listens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import orjson

from moonpad.catalog.options import option_set
from moonpad.engines import lmcache_names as names
from moonpad.engines.argv_reader import Occurrence
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_OPTION: Final = "--kv-transfer-config"
_EXTRA: Final = "kv_connector_extra_config"
_ADDRESS: Final = re.compile(r"host|port|url|server|addr", re.IGNORECASE)
_PORT: Final = re.compile(r"(?<!\S)--port[ =]+[\"']?(\d{1,5})\b")
_PORT_ANYWHERE: Final = re.compile(r"--(?:port|config)\b")
_LONGEST: Final = 2000
_MOST_LINES: Final = 20


def server_of_other_mode(case: Case) -> Iterator[Remark]:
    """`lmcache server` beside LMCacheConnectorV1, or `lmcache_server` beside LMCacheMPConnector."""
    place, config = case.option(_OPTION), _config(case)
    connector = config.get("kv_connector")
    if place is None or not isinstance(connector, str):
        return
    of_processes, of_stores = _servers(case)
    if names.CONNECTOR.fullmatch(connector) and of_processes and not of_stores:
        message = (
            f"lmcache server speaks with {names.APART} alone: {connector} keeps the cache in the engine's own process"
        )
        message += " and does not use this server"
        remedy = f"write {names.APART} as kv_connector, with lmcache.mp.host and lmcache.mp.port in {_EXTRA}"
        extra = config.get(_EXTRA)
        address = {names.SERVER_KEYS[0]: names.SERVER_HOST, names.SERVER_KEYS[1]: _number(of_processes)}
        new = {**config, "kv_connector": names.APART, _EXTRA: {**(extra if isinstance(extra, dict) else {}), **address}}
        edits = _edited(place, new) if address[names.SERVER_KEYS[1]] else []
    elif connector == names.APART and of_stores and not of_processes:
        message = f"lmcache_server is the store of LMCacheConnectorV1 (LMCACHE_REMOTE_URL): {connector} speaks with"
        message += " lmcache server"
        remedy, edits = "start lmcache server in place of lmcache_server", []
    else:
        return
    yield make_remark(Severity.WARNING, Code.CONFLICT, _OPTION, message, remedy, at=place.index, edits=edits)


def address_of_server(case: Case) -> Iterator[Remark]:
    """Keys of an address that the connector does not read, or another port than that of the only server."""
    place, config = case.option(_OPTION), _config(case)
    extra = config.get(_EXTRA)
    if place is None or config.get("kv_connector") != names.APART:
        return
    extra = extra if isinstance(extra, dict) else {}
    if any(key in extra for key in names.SERVER_LISTS):
        return
    unread = next((key for key in extra if not key.startswith(names.OF_SERVER) and _ADDRESS.search(key)), "")
    if unread and not any(key in extra for key in names.SERVER_KEYS):
        message = f"{names.APART} reads keys that begin with {names.OF_SERVER} alone: {shortened(unread, 40)} does not"
        message += f" count, and the server is asked at tcp://localhost:{names.SERVER_PORT}"
        remedy = "write lmcache.mp.host and lmcache.mp.port"
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, _OPTION, message, remedy, at=place.index)
        return
    listens = _servers(case)[0]
    asked = str(extra.get(names.SERVER_KEYS[1], names.SERVER_PORT))
    if len(listens) != 1 or not (port := next(iter(listens))) or not asked.isdecimal() or asked == port:
        return
    if any(f"{asked}:{port}" in line for line in case.script.lines):  # published under another number
        return
    message = f"{names.APART} asks port {asked}, and lmcache server listens on {port}"
    remedy = f"write lmcache.mp.port {port} in {_EXTRA}"
    edits = _edited(place, {**config, _EXTRA: {**extra, names.SERVER_KEYS[1]: int(port)}})
    yield make_remark(Severity.WARNING, Code.CONFLICT, _OPTION, message, remedy, at=place.index, edits=edits)


def not_switched_on(case: Case) -> Iterator[Remark]:
    """A text that installs LMCache, and nowhere tells a server to use it."""
    options, script = option_set(case.engine.program, case.version or None), case.script
    if options is None or options.named(_OPTION) is None or case.open_ended:
        return
    script.budget.once("LMCache in use", 2 * len(script.lines), "the text around its engine commands")
    if _is_only_installed(script.lines):
        message = "LMCache is installed, and the server does not use it: nothing names its connector"
        config = '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'
        yield make_remark(Severity.NOTE, Code.MISSING_FLAG, _OPTION, message, f"add {_OPTION} '{config}'")


@lru_cache(maxsize=64)
def _is_only_installed(lines: tuple[str, ...]) -> bool:
    texts = [line[:_LONGEST] for line in lines]
    return any(map(names.INSTALLED.match, texts)) and not any(map(names.SWITCHED_ON.search, texts))


def _number(ports: frozenset[str]) -> int:
    """The port of the only server; 0 where there are several, or it is not known."""
    return int(next(iter(ports)) or 0) if len(ports) == 1 else 0


def _edited(place: Occurrence, config: Mapping[str, Any]) -> list[Edit]:
    return [Edit(place.index, place.length, (_OPTION, orjson.dumps(config).decode()))]


def _config(case: Case) -> Mapping[str, Any]:
    try:
        config = orjson.loads(case.text(_OPTION))
    except ValueError:
        return {}
    return config if isinstance(config, dict) else {}


def _servers(case: Case) -> tuple[frozenset[str], bool]:
    """The ports of `lmcache server`, "" for one that is not known, and whether `lmcache_server` is started."""
    case.script.budget.once("servers of LMCache", len(case.script.lines), "the text around its engine commands")
    return _started(case.script.lines)


@lru_cache(maxsize=64)
def _started(lines: tuple[str, ...]) -> tuple[frozenset[str], bool]:
    ports: set[str] = set()
    stores = False
    for number, line in enumerate(lines):
        text = line[:_LONGEST]
        stores |= names.STORE.search(text) is not None
        match = names.SERVER.search(text)
        if match is None:
            continue
        words = text[match.end(0) :]
        for further in lines[number + 1 : number + _MOST_LINES]:
            if not words.rstrip().endswith("\\"):
                break
            words = f"{words.rstrip().removesuffix(chr(92))} {further[:_LONGEST]}"
        port = _PORT.search(words)
        ports.add(port[1] if port else "" if _PORT_ANYWHERE.search(words) else names.SERVER_PORT)
    return frozenset(ports), stores


LMCACHE_SERVERS: Final = (server_of_other_mode, address_of_server, not_switched_on)
