"""`moonpad watch`: endpoints at a glance, in the terminal, as text, as JSON."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from moonpad.cli.durations import duration_s
from moonpad.cli.endpoint import EndpointOptions, resolve_endpoint
from moonpad.cli.output import Json, emit_json, emit_json_line, err, note, out
from moonpad.spec.safe_text import shorten
from moonpad.values.errors import MoonpadError, PreflightRefused, UsageError

if TYPE_CHECKING:
    from moonpad.watch.asking import Target, Watch
    from moonpad.watch.view import View

LEAST_S: Final = 0.5
"""Between two looks: a server writes its metrics in the process that streams answers."""


def watch(
    *targets: str,
    url: Annotated[tuple[str, ...], Parameter(negative=())] = (),
    key_env: str | None = None,
    every: str = "2s",
    once: bool = False,
    prometheus: Path | None = None,
    expose: str | None = None,
    web: int | None = None,
    json: Json = False,
) -> None:
    """Watch endpoints: state and restarts, load, latencies, KV cache, devices, log, and what is wrong with them.

    Only /health and /metrics are asked, never a token.

    Parameters
    ----------
    targets
        Specs or names of endpoints; without them, and without --url, all that are up.
    url
        An endpoint by its address: http://HOST:PORT/v1. May be given several times.
    key_env
        The environment variable that holds the key of those at --url.
    every
        The time between two looks.
    once
        Look twice, that far apart, print one table, and end.
    prometheus
        Write a scrape configuration, rules and a Grafana dashboard for these endpoints into this folder, and end.
        With --expose, the configuration scrapes that address too.
    expose
        Answer a Prometheus at this HOST:PORT with what engines do not tell: states, generations, KV cache, devices.
    web
        Show one page at this port of the loopback; 0 takes a free one.
    """
    every_s = _seconds(every)
    address = _address(expose) if expose else ("", 0)
    watched = _targets(targets, url, key_env)
    if prometheus is not None:
        from moonpad.cli.watch_prometheus import write_prometheus

        write_prometheus(watched, prometheus, expose or "", json=json)
        return
    from moonpad.watch.asking import Watch

    watching = Watch(watched)
    if expose is not None:
        _expose(watching, *address)
    if web is not None:
        _web(watching, web, every_s)
    if once:
        watching.look()
        time.sleep(every_s)
        views = _look(watching)
        if json:
            emit_json(_document(views))
        else:
            _print(views)
        return
    if not json and out().is_terminal and sys.stdin.isatty() and _show_screen(watching, every_s):
        return
    while True:
        begun_s = time.monotonic()
        views = _look(watching)
        if json:
            emit_json_line(_document(views))
        else:
            _print(views)
        time.sleep(max(0.0, begun_s + every_s - time.monotonic()))


def _seconds(every: str) -> float:
    seconds = duration_s("--every", every, "2s")
    if seconds < LEAST_S:
        raise UsageError(f"--every must be at least {LEAST_S} s, {every} was given", remedy="--every 2s")
    return seconds


def _address(text: str) -> tuple[str, int]:
    """
    Raises:
        UsageError: the text is not HOST:PORT.
    """
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()) or not 0 < int(port) < 65536:
        raise UsageError(f"--expose: {shorten(text)!r} is not HOST:PORT", remedy="--expose 127.0.0.1:9108")
    return host.strip("[]"), int(port)


def _expose(watching: Watch, host: str, port: int) -> None:
    """Until it is interrupted.

    Raises:
        PreflightRefused: the address cannot be listened on.
    """
    from moonpad.watch.expose import exposing

    try:
        with exposing(watching, host, port):
            note(f"http://{host}:{port}/metrics answers until Ctrl-C")
            threading.Event().wait()
    except OSError as error:
        why = error.strerror or str(error)
        raise PreflightRefused(f"--expose: cannot listen on {host}:{port}: {why}", remedy="name another port") from None


def _web(watching: Watch, port: int, every_s: float) -> None:
    """Until it is interrupted.

    Raises:
        UsageError: there is no such port.
        PreflightRefused: it cannot be listened on.
    """
    from moonpad.watch.web import show_until_interrupted

    if not 0 <= port < 65536:
        raise UsageError(f"--web: there is no port {port}", remedy="--web 8090, or --web 0 for a free one")
    try:
        show_until_interrupted(
            lambda: _document(_look(watching)), every_s, port, lambda at: note(f"{at} until Ctrl-C"), time.sleep
        )
    except OSError as error:
        why = error.strerror or str(error)
        raise PreflightRefused(
            f"--web: cannot listen on port {port}: {why}", remedy="--web 0 takes a free one"
        ) from None


def _targets(names: tuple[str, ...], urls: tuple[str, ...], key_env: str | None) -> tuple[Target, ...]:
    """
    Raises:
        UsageError: there is none, or a name was never up.
    """
    from moonpad.bench.telemetry import is_here
    from moonpad.engines import ENGINES
    from moonpad.run.endpoints import copies_of, endpoint_of, find_run, keyless_endpoint_of, name_of
    from moonpad.run.run_status import read_status
    from moonpad.store.run_folder import current_run, current_runs
    from moonpad.values.platform import Platform
    from moonpad.watch.asking import Target

    folders = []
    for name in names:
        copies = copies_of(name_of(name))
        folders += [] if copies and current_run(name_of(name)) is None else [find_run(name)]
        folders += copies
    if not names and not urls:
        folders = [folder for folder in current_runs() if read_status(folder, None).up]
    watched = {}
    for folder in folders:
        with suppress(MoonpadError):
            endpoint_of(folder)  # from here on its key is known, and not shown
        endpoint = keyless_endpoint_of(folder)
        on_devices = endpoint.engine not in ENGINES or ENGINES[endpoint.engine].platform is not Platform.CPU
        watched[folder.name] = Target(endpoint, folder.name, here=on_devices)
    for url in urls:
        endpoint = resolve_endpoint(None, EndpointOptions(url=url, key_env=key_env))
        watched.setdefault(endpoint.base_url, Target(endpoint, here=is_here(endpoint)))
    if not watched:
        raise UsageError("no endpoint is up", remedy="moonpad up SPEC.toml, or moonpad watch --url http://HOST:PORT/v1")
    return tuple(watched.values())


def _look(watching: Watch) -> list[View]:
    from moonpad.watch.view import make_view

    watching.look()
    return [make_view(tuple(looks)) for looks in watching.looks]


def _document(views: list[View]) -> dict[str, object]:
    return {"at": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "endpoints": [view.as_json() for view in views]}


TONES: Final = {"error": "bold red", "warning": "yellow", "head": "bold", "quiet": "dim", "": ""}
"""Colours of a line; rich leaves them out where NO_COLOR is set or nobody sees them."""


def _print(views: list[View]) -> None:
    from rich.text import Text

    from moonpad.watch.table import cells, columns, details

    head, *rows = columns([cells(view) for view in views])
    out().print(Text(head, style=TONES["head"]))
    for row in rows:
        out().print(Text(row))
    for view in views:
        out().print(Text(f"\n{view.name}", style=TONES["head"]))
        for line in details(view):
            out().print(Text(f"  {line.text}", style=TONES[line.tone]))
    out().print()


def _show_screen(watching: Watch, every_s: float) -> bool:
    """False where the package that draws it is not installed; the note says how to get it."""
    try:
        from moonpad.watch.screen import WatchScreen
    except ImportError:
        note("the screen needs textual: pip install 'moonpad[watch]'; tables follow, Ctrl-C ends")
        return False
    err()
    WatchScreen(watching, every_s).run()
    return True
