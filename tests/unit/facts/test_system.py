import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from moonpad.facts import ports
from moonpad.facts.disk import disk
from moonpad.facts.platform import System, parse_glibc, this_system
from moonpad.facts.ports import Listener, PortOwner, owner_of_port, pid_on
from moonpad.facts.probe import Unknown


@pytest.mark.parametrize(
    ("library", "version", "parsed"),
    [
        ("glibc", "2.36", (2, 36)),
        ("glibc", "2.31.1", (2, 31)),
        ("", "", None),
        ("musl", "1.2", None),
        ("glibc", "x", None),
    ],
)
def test_glibc(library: str, version: str, parsed: tuple[int, int] | None) -> None:
    assert parse_glibc(library, version) == parsed


def test_a_system_has_its_usual_name() -> None:
    assert str(System("Darwin", "arm64", None)) == "macOS on arm64"
    assert this_system().system == os.uname().sysname


def test_free_space_of_a_folder_that_is_still_to_be_made(tmp_path: Path) -> None:
    to_come = tmp_path / "a" / "b" / "c"
    filesystem = disk(to_come)
    assert not isinstance(filesystem, Unknown)
    assert filesystem.device == tmp_path.stat().st_dev
    stat = os.statvfs(tmp_path)
    assert filesystem.free_bytes == pytest.approx(stat.f_bavail * stat.f_frsize, abs=1 << 30)


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        yield sock.getsockname()[1]


def test_a_taken_port_has_its_owner(taken: int) -> None:
    owner = owner_of_port(taken)
    assert owner is not None
    assert owner.pid == os.getpid()
    assert str(owner).startswith(f"pid {os.getpid()} (")


def test_a_port_shared_by_reuseport_is_taken() -> None:
    """vLLM sets SO_REUSEPORT: two of them on one port would answer in turns."""
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        assert owner_of_port(sock.getsockname()[1]) is not None


def test_a_free_port_has_no_owner(taken: int) -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        free = sock.getsockname()[1]
    assert owner_of_port(free) is None


def test_who_binds_it_for_a_moment_only_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same look of another `moonpad up` is such a moment; both would refuse."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        monkeypatch.setattr(ports.time, "sleep", lambda pause_s: sock.close())
        assert owner_of_port(sock.getsockname()[1]) is None


def test_an_owner_that_we_may_not_see_has_no_pid(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_listeners", lambda: [Listener("127.0.0.1", taken, None)])
    assert owner_of_port(taken) == PortOwner(None, "a process of another user")


def test_a_port_that_the_system_refuses_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "HOST", "192.0.2.1")  # https://www.rfc-editor.org/rfc/rfc5737: no host has it
    owner = owner_of_port(8000)
    assert owner == PortOwner(None, f"the system, which refuses it: {os.strerror(errno.EADDRNOTAVAIL)}")
    assert owner_of_port(99999) is not None


def test_the_exact_address_comes_before_a_wildcard() -> None:
    listeners = [Listener("0.0.0.0", 80, 2), Listener("127.0.0.1", 80, 1), Listener("127.0.0.1", 81, 3)]
    assert pid_on(80, listeners) == 1
    assert pid_on(80, listeners[:1]) == 2
    assert pid_on(80, [Listener("::", 80, 4), Listener("192.0.2.1", 80, 5)]) == 4


def test_the_command_of_an_owner_is_cut_before_its_arguments() -> None:
    command = ports._command(os.getpid())
    assert len(command.split()) <= 6
    assert len(command) <= ports.COMMAND_WORDS * (ports.WORD_CHARACTERS + 1)
