"""`sglang-router launch …` as moonpad meets it: chooses a healthy copy in turn, tries another one where no connection
comes about, passes on what streams, and finishes what runs when it is told to end. Standard library only.
"""

from __future__ import annotations

import http.client
import json
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

CHECK_S = 0.1
PIECE_BYTES = 4096


def value(argv: list[str], flag: str) -> str:
    return argv[argv.index(flag) + 1]


def workers_of(argv: list[str]) -> list[str]:
    urls = []
    for word in argv[argv.index("--worker-urls") + 1 :]:
        if word.startswith("-"):
            break
        urls.append(urlsplit(word).netloc)
    return urls


class Copies:
    """Which of them answered `/health` at the last look."""

    def __init__(self, addresses: list[str]) -> None:
        self.addresses, self.healthy, self._turn = addresses, set[str](), 0
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            self.healthy = {address for address in self.addresses if answers(address)}
            time.sleep(CHECK_S)

    def in_turn(self) -> list[str]:
        self._turn += 1
        healthy = [address for address in self.addresses if address in self.healthy]
        at = self._turn % len(healthy) if healthy else 0
        return healthy[at:] + healthy[:at]


def answers(address: str) -> bool:
    connection = http.client.HTTPConnection(address, timeout=1.0)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    copies: Copies

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/readiness":
            ready = len(self.copies.healthy)
            self._answer(200 if ready else 503, {"healthy_workers": ready})
        else:
            self._pass_on(b"")

    def do_POST(self) -> None:
        self._pass_on(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def _answer(self, status: int, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _pass_on(self, body: bytes) -> None:
        for address in self.copies.in_turn():
            connection = http.client.HTTPConnection(address, timeout=60.0)
            try:
                kept = ("content-type", "authorization", "x-request-id")
                headers = {name: text for name, text in self.headers.items() if name.lower() in kept}
                connection.request(self.command, self.path, body, headers)
                response = connection.getresponse()
            except (OSError, http.client.HTTPException):
                connection.close()
                continue
            self._copy(response)
            connection.close()
            return
        self._answer(503, {"error": {"message": "no available workers"}})

    def _copy(self, response: http.client.HTTPResponse) -> None:
        """A stream that breaks off there breaks off here."""
        self.close_connection = True
        self.send_response(response.status)
        self.send_header("Content-Type", response.headers.get("Content-Type", "application/json"))
        self.send_header("Connection", "close")
        self.end_headers()
        while piece := response.read1(PIECE_BYTES):
            self.wfile.write(piece)


def main(argv: list[str]) -> None:
    Handler.copies = Copies(workers_of(argv))
    ThreadingHTTPServer.request_queue_size = 128
    ThreadingHTTPServer.daemon_threads = False  # `server_close` waits for what runs
    server = ThreadingHTTPServer((value(argv, "--host"), int(value(argv, "--port"))), Handler)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
    server.serve_forever(poll_interval=0.05)
    server.server_close()


if __name__ == "__main__":
    main(sys.argv[1:])
