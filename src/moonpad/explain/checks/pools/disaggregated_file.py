"""The file in which a router names the servers of its pools: numbers and addresses that its reader refuses, and ports
on which no server of the text listens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Final

from moonpad.engines import disaggregated_names as names
from moonpad.engines.option_file import option_file
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.commands import Command, Script
from moonpad.explain.config_files import files_of
from moonpad.explain.grouping import value_of
from moonpad.explain.programs import is_server
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_ITEMS: Final = re.compile(r"'([^'\n]{0,200})'")
_ADDRESS: Final = re.compile(r"[^:/\s]+:\d{1,5}", re.ASCII)
_HERE: Final = re.compile(r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0):(\d{1,5})", re.ASCII)
_SCALAR: Final = re.compile(r"[\w./+-]{1,80}", re.ASCII)
_ALIKE: Final = 0.8
_MOST: Final = 200
_error = partial(make_remark, Severity.ERROR)
_warning = partial(make_remark, Severity.WARNING)


def file_of_pools(command: Command, script: Script) -> Iterator[Remark]:
    """What the reader of the file ends with, and what it sends nowhere."""
    word = value_of(command.argv, names.FILE_FLAGS) if command.program == names.PROGRAM else None
    if word is None or word.unresolved:
        return
    script.budget.work(len(script.files), "its files")
    files = {path: file.text for path, file in files_of(command, script.files).items()}
    options = option_file(word.text, files)
    if not options or names.CLUSTER in options:
        return
    yield from _misspelt(options)
    yield from _twice(options)
    for pool in names.POOLS:
        urls, count = _urls(options, pool), options.get(f"{pool}.{names.INSTANCES}", "1")
        for url in urls:
            if not unresolved(url) and _ADDRESS.fullmatch(url) is None:
                message = f"{shortened(url, 60)}: the addresses of {pool} are host:port with one colon, and the reader "
                message += "of the file ends at another (no http://, no path)"
                yield _error(Code.INVALID_VALUE, f"{pool}.{names.URLS}", message, "write host:port alone")
                break
        number = whole(count)
        if urls and number is not None and number != len(urls):
            message = (
                f"{len(urls)} of {names.URLS} and {names.INSTANCES} {number}: the reader of the file ends where they "
            )
            message += "are not as many (Number of hostnames … should be equal to the number of instances)"
            yield _error(Code.CONFLICT, f"{pool}.{names.INSTANCES}", message, f"write {names.INSTANCES}: {len(urls)}")
    yield from _to_itself(options)
    yield from _to_nobody(script, options)


def _to_itself(options: Mapping[str, str]) -> Iterator[Remark]:
    """A server at the router's own address: one of the two finds the port taken."""
    host = options.get("hostname", names.ROUTERS_HOST).strip("'\"")
    port = options.get("port", names.ROUTERS_PORT).strip("'\"")
    if unresolved(host) or unresolved(port):
        return
    for pool in names.POOLS:
        for url in _urls(options, pool):
            there, _, number = url.rpartition(":")
            if number == port and (there == host or (_HERE.fullmatch(url) and _HERE.fullmatch(f"{host}:{port}"))):
                message = (
                    f"{pool} are at {shortened(url, 60)}, which is the router's own address: one of the two finds "
                )
                message += "the port taken, and requests go round in a circle"
                yield _error(
                    Code.CONFLICT, f"{pool}.{names.URLS}", message, "give router and server ports of their own"
                )
                return


def _urls(options: Mapping[str, str], pool: str) -> Sequence[str]:
    return _ITEMS.findall(options.get(f"{pool}.{names.URLS}", "")[:10_000])[:_MOST]


def _misspelt(options: Mapping[str, str]) -> Iterator[Remark]:
    """The name of a pool; everything that the reader does not know is handed to the servers, and nothing refused."""
    for key in options:
        if "." in key or key in names.OWN_KEYS or f"{key}.{names.URLS}" not in options:
            continue
        near = next(iter(get_close_matches(key[:80], names.POOLS, n=1, cutoff=_ALIKE)), None)
        if near is not None and near not in options:
            message = f"the file has no {near}, and passes over {shortened(key)}: that pool has no address"
            yield _warning(Code.UNKNOWN_FLAG, shortened(key), message, f"write {near}")


def _twice(options: Mapping[str, str]) -> Iterator[Remark]:
    """A key at the top and one of a pool that differ."""
    for key, value in list(options.items())[:_MOST]:
        if "." in key or key in names.OWN_KEYS or not _SCALAR.fullmatch(value):
            continue
        for pool in names.POOLS:
            own = options.get(f"{pool}.{key}", value)
            if own != value and _SCALAR.fullmatch(own):
                message = (
                    f"{shortened(key)} is {value} at the top and {own} in {pool}: the reader of the file ends where "
                )
                message += "they differ"
                yield _error(Code.CONFLICT, f"{pool}.{key}", message, "leave it out at the top")
                return


def _to_nobody(script: Script, options: Mapping[str, str]) -> Iterator[Remark]:
    """An address of this machine on which no server of the text listens."""
    commands = script.commands
    if len(commands) > _MOST or script.objects:
        return
    servers = [each for each in commands if is_server(each.program)]
    if not servers or any(each.program == "fragment" for each in commands):
        return
    ports = {_port(server) for server in servers}
    if None in ports:
        return
    listed = ", ".join(str(port) for port in sorted(port for port in ports if port is not None))
    for pool in names.POOLS:
        for url in _urls(options, pool):
            match = _HERE.fullmatch(url)
            if match is not None and int(match[1]) not in ports:
                message = f"{pool} are at {url}, and the servers of the text listen on {listed}"
                yield _warning(Code.CONFLICT, f"{pool}.{names.URLS}", message, "name the port of a server")
                return


def _port(server: Command) -> int | None:
    """None where it is not known, of containers among others."""
    if server.container is not None:
        return None
    word = value_of(server.argv, ("--port",))
    if word is None:
        return names.SERVERS_PORT
    return int(word.text) if word.text.isdigit() and not word.unresolved and len(word.text) < 6 else None
