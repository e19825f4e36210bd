"""Fault 16: the endpoint's port belongs to another program, before the start or in the middle of it."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import psutil
import pytest

from tests.conftest import Moonpad
from tests.faults.helpers import await_event, events_of, run_folder, status_of, wait_until

pytestmark = pytest.mark.usefixtures("clean_world")


@contextmanager
def taken(port: int) -> Iterator[None]:
    """The port is this process's."""
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("127.0.0.1", port))
        sock.listen()
        yield


def names_us(errors: str, port: int) -> bool:
    own = psutil.Process()
    return f"port {port} is taken by pid {own.pid} ({' '.join(own.cmdline()[:3])}" in errors


def test_taken_before(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    """Fault 16: the owner is named by pid and command, and nothing is started."""
    with taken(free_port):
        up = moonpad("up", str(fake_spec))
    assert up.code == 3
    assert names_us(up.stderr, free_port), up.stderr
    assert not list(moonpad.state.glob("runs/*"))


def await_loading(moonpad: Moonpad) -> None:
    """Until the engine has looked at the port and has let go of it again."""
    await_event(moonpad, "spawned")
    log = run_folder(moonpad) / "engine.log"
    wait_until(lambda: "checkpoint shards" in log.read_text(), log.read_text, 10.0)


def test_taken_meanwhile(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    """Fault 16: taken between the check and the engine's bind. No half start, and the same words."""
    up = moonpad.start("up", str(fake_spec), FAKE_LOAD_S="1.5")
    await_loading(moonpad)
    with taken(free_port):
        _, errors = up.communicate(timeout=30)
    assert up.returncode == 4, errors
    assert names_us(errors, free_port), errors
    assert status_of(moonpad)["state"] == "failed"


class Impostor(BaseHTTPRequestHandler):
    """Somebody else's engine, which is in best health."""

    def do_GET(self) -> None:
        answer = json.dumps({"choices": [{"index": 0, "text": "!", "finish_reason": "length"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_stranger_is_not_our_engine(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    """Fault 16: what answers on the port while our engine loads is not our engine, and makes nothing ready."""
    up = moonpad.start("up", str(fake_spec), FAKE_LOAD_S="3")
    await_loading(moonpad)
    server = ThreadingHTTPServer(("127.0.0.1", free_port), Impostor)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        _, errors = up.communicate(timeout=30)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert not events_of(moonpad, "ready"), "the stranger's answer was taken for ours"
    assert up.returncode == 4, errors
    assert names_us(errors, free_port), errors


def test_doctor_knows_the_specs_own_deployment(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    """While it is up its port is a note; once it is down and the port another's, an error."""

    def port_findings() -> list[dict[str, str]]:
        document = json.loads(moonpad("doctor", str(fake_spec), "--json").stdout)
        return [finding for finding in document["hosts"][0]["findings"] if finding["code"] == "port-taken"]

    assert moonpad("up", str(fake_spec)).code == 0
    try:
        (held,) = port_findings()
    finally:
        assert moonpad("down", str(fake_spec)).code == 0
    assert held["severity"] == "note"
    assert "which is up" in held["message"]
    with taken(free_port):
        (lost,) = port_findings()
    assert lost["severity"] == "error"
