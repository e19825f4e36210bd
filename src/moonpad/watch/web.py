"""One page on the loopback that shows the watch, by server-sent events. No build step and nothing from elsewhere."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any, Final

from moonpad.values.redaction import redacted

HOST: Final = "127.0.0.1"
HISTORY: Final = 300
"""Looks that a page which is opened later still sees."""
CLIENTS: Final = 16
WRITE_S: Final = 10.0
"""A page that takes nothing for so long is left."""
FILES: Final = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/watch.js": ("watch.js", "text/javascript; charset=utf-8"),
    "/watch.css": ("watch.css", "text/css; charset=utf-8"),
}
SAFE: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none';"
        " form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

Document = dict[str, Any]


class Looks:
    """The documents of the last looks, for all pages that are open."""

    def __init__(self) -> None:
        self._history: deque[Document] = deque(maxlen=HISTORY)
        self._news = threading.Condition()
        self._count = 0
        self._over = False

    def add(self, document: Document) -> None:
        with self._news:
            self._history.append(redacted(document))
            self._count += 1
            self._news.notify_all()

    def end(self) -> None:
        with self._news:
            self._over = True
            self._news.notify_all()

    def events(self) -> Iterator[bytes]:
        """What was, without logs, then each new look, until the end. A slow page misses looks; it is not waited for."""
        with self._news:
            past, seen = list(self._history), self._count
        yield _event("history", [_short(document) for document in past[:-1]])
        if past:
            yield _event("look", past[-1])
        while True:
            with self._news:
                while self._count == seen and not self._over:
                    self._news.wait()
                if self._over:
                    return
                document, seen = self._history[-1], self._count
            yield _event("look", document)


@contextmanager
def showing(looks: Looks, port: int = 0) -> Iterator[str]:
    """The page's address, while it is served.

    Raises:
        OSError: the port cannot be listened on.
    """
    places = threading.BoundedSemaphore(CLIENTS)

    class Handler(BaseHTTPRequestHandler):
        timeout = WRITE_S

        def do_GET(self) -> None:
            if not _is_local(self.headers.get("Host", "")):  # a name of somebody else's that was pointed here
                self.send_error(403)
            elif self.path == "/events":
                self._stream()
            elif self.path in FILES:
                name, kind = FILES[self.path]
                self._begin(kind, body := files("moonpad.watch").joinpath("page", name).read_bytes())
                self.wfile.write(body)
            else:
                self.send_error(404)

        def _stream(self) -> None:
            if not places.acquire(blocking=False):
                self.send_error(503)
                return
            try:
                self._begin("text/event-stream; charset=utf-8", None)
                for event in looks.events():
                    self.wfile.write(event)
                    self.wfile.flush()
            except OSError:
                return  # the page was closed
            finally:
                places.release()

        def _begin(self, kind: str, body: bytes | None) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            for name, value in SAFE.items():
                self.send_header(name, value)
            if body is not None:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """A page that asks is no news."""

    server = ThreadingHTTPServer((HOST, port), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_address[1]}/"
    finally:
        looks.end()
        server.shutdown()
        thread.join()
        server.server_close()


def show_until_interrupted(
    look: Callable[[], Document], every_s: float, port: int, say: Callable[[str], None], wait: Callable[[float], object]
) -> None:
    """Looks and shows until `wait` is interrupted.

    Raises:
        OSError: the port cannot be listened on.
    """
    looks = Looks()
    with showing(looks, port) as address:
        say(address)
        while True:
            looks.add(look())
            wait(every_s)


def _event(name: str, document: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps(document)}\n\n".encode()


def _short(document: Document) -> Document:
    kept = ("name", "running", "waiting", "kv_usage", "tokens_per_s", "latency")
    return {"endpoints": [{name: row[name] for name in kept} for row in document["endpoints"]]}


def _is_local(host: str) -> bool:
    return host.rpartition(":")[0] in (HOST, "localhost")
