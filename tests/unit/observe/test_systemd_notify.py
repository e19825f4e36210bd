"""What a service manager is told, over a socket in the file system or an abstract one."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from moonpad.observe.systemd_notify import ServiceManager


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    name = str(tmp_path / "notify") if request.param == "path" else f"@moonpad-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind("\0" + name[1:] if name.startswith("@") else name)
        sock.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", name)
        yield sock


def test_it_is_told(manager: socket.socket) -> None:
    ServiceManager().tell("READY=1", "STATUS=ready")
    assert manager.recv(4096) == b"READY=1\nSTATUS=ready"


def test_a_text_makes_no_second_line(manager: socket.socket) -> None:
    ServiceManager().tell("STATUS=hangs\nREADY=1")
    assert manager.recv(4096) == b"STATUS=hangs READY=1"


def test_children_cannot_report_for_us(manager: socket.socket) -> None:
    """The engine inherits our environment."""
    ServiceManager()
    assert "NOTIFY_SOCKET" not in os.environ


@pytest.mark.parametrize("address", ["", "vsock:2:1234", "/nowhere/notify", "@nobody-listens-here"])
def test_no_service_manager_listens(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    ServiceManager().tell("READY=1")
