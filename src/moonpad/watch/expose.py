"""Answers a Prometheus that asks: each scrape is a look."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from moonpad.values.redaction import redact
from moonpad.watch.asking import Watch
from moonpad.watch.exposition import exposition

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
READ_S: Final = 5.0
"""A client that sends nothing is left."""


@contextmanager
def exposing(watching: Watch, host: str, port: int) -> Iterator[int]:
    """The port, while `/metrics` is answered there.

    Raises:
        OSError: the address cannot be listened on.
    """
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        timeout = READ_S

        def do_GET(self) -> None:
            if self.path != "/metrics":
                self.send_error(404)
                return
            with lock:  # two scrapes at a time would be two looks
                watching.look()
                text = exposition([looks[-1] for looks in watching.looks])
            body = redact(text).encode()
            self.send_response(200)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """A scrape every few seconds is no news."""

    server = ThreadingHTTPServer((host, port), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
