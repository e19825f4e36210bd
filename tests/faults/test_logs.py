"""Fault 19, the reader's side: `moonpad logs` on a flood, on an endless line, and across rotations."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from moonpad.facts.processes import read_boot_id, read_stat
from moonpad.run.keeper.log_file import bound_log, renew_log
from moonpad.store.schema_version import SCHEMA
from tests.conftest import Moonpad

ENDLESS_BYTES = 50_000_000
MORE_KIB = 20 << 10


@pytest.fixture
def writer() -> Iterator[subprocess.Popen[bytes]]:
    """Something that lives, to stand for the keeper: while it does, the log is followed."""
    child = subprocess.Popen(("sleep", "600"))
    yield child
    child.kill()
    child.wait()


@pytest.fixture
def log(moonpad: Moonpad, writer: subprocess.Popen[bytes]) -> Path:
    """The log of a run that is up, as far as `moonpad logs` can see."""
    run = moonpad.state / "runs" / "k2-20261120-120000-ab12"
    run.mkdir(parents=True)
    stat = read_stat(writer.pid)
    assert stat is not None
    own = {"pid": writer.pid, "start": stat[1]}
    document = {"schema": SCHEMA, "state": "running", "boot_id": read_boot_id(), "keeper": own, "owned": []}
    (run / "keeper.json").write_text(json.dumps(document))
    (run / "run.json").write_text(json.dumps({"schema": SCHEMA, "name": "k2"}))
    (moonpad.state / "endpoints").mkdir()
    (moonpad.state / "endpoints" / "k2.json").write_text(json.dumps({"schema": SCHEMA, "run": run.name}))
    return run / "engine.log"


# The command, and on stderr at its end the most memory that it had: what `wait4` says of a child has what its parent
# had in it.
MEASURED = """
import atexit, re, sys
atexit.register(lambda: sys.stderr.write(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]))
from moonpad.cli.main import main
main()
"""


def measured(moonpad: Moonpad, *argv: str) -> subprocess.Popen[str]:
    command = (sys.executable, "-c", MEASURED, *argv)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=moonpad.env, cwd=moonpad.home, text=True, **streams)


def peak_kib(moonpad: Moonpad, *argv: str) -> tuple[int, list[str]]:
    """The most memory that the command had, and its lines, cut to 80 characters."""
    with measured(moonpad, *argv) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        lines = [line.rstrip("\n")[:80] for line in running.stdout]
        kib = int(running.stderr.read())
    assert running.returncode == 0
    return kib, lines


def say(log: Path, *lines: str) -> None:
    with log.open("a") as file:
        file.write("".join(line + "\n" for line in lines))


def test_an_endless_line_and_a_full_log_cost_no_memory(moonpad: Moonpad, log: Path) -> None:
    say(log, "small")
    small_kib, lines = peak_kib(moonpad, "logs", "k2")
    assert lines == ["small"]
    with log.open("ab") as file:
        for _ in range(ENDLESS_BYTES // 1_000_000):
            file.write(b"x" * 1_000_000)
    say(log, "", *(f"line {number}" for number in range(200_000)))
    kib, lines = peak_kib(moonpad, "logs", "k2", "-n", "3")
    assert lines == [f"line {number}" for number in range(199_997, 200_000)]
    assert kib < small_kib + MORE_KIB
    kib, lines = peak_kib(moonpad, "logs", "k2", "-n", "200001")
    assert (len(lines), lines[0]) == (200_001, "x" * 80)


def test_following_a_flood_costs_no_memory(moonpad: Moonpad, log: Path, writer: subprocess.Popen[bytes]) -> None:
    """An endless line in the middle; the log is bounded meanwhile as the keeper bounds it."""
    say(log, "small")
    small_kib, _ = peak_kib(moonpad, "logs", "k2")
    with measured(moonpad, "logs", "-f", "k2") as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == "small\n"
        block = [f"{number:05d} {'y' * 493}" for number in range(10_000)]
        for _ in range(3):
            say(log, *block)
        with log.open("ab") as file:
            for _ in range(ENDLESS_BYTES // 1_000_000):
                file.write(b"x" * 1_000_000)
        say(log, "")
        assert bound_log(str(log), 40_000_000) == 0
        for _ in range(3):
            say(log, *block)
        renew_log(str(log))
        say(log, "the next generation")
        seen: list[str] = []
        while seen[-1:] != ["the next generation"]:
            line = running.stdout.readline()
            assert line, "it goes on while the run is up"
            seen.append(line.rstrip("\n")[:80])
        writer.kill()
        writer.wait()
        assert running.stdout.read() == ""
        kib = int(running.stderr.read())
    assert running.returncode == 0
    plain = [line[:80] for line in block]
    assert seen == [*plain * 3, "x" * 80, *plain * 3, "the next generation"], "no line is lost, and none comes twice"
    assert kib < small_kib + MORE_KIB


def test_the_lines_before_a_rotation_are_shown_too(moonpad: Moonpad, log: Path) -> None:
    """A restart seconds ago must not hide why the last generation ended."""
    say(log.with_name("engine.log.2"), "the first one")
    say(log.with_name("engine.log.1"), "loading", "ValueError: the tensor is too large")
    say(log, "loading again")
    shown = moonpad("logs", "k2", "-n", "3").stdout.splitlines()
    assert shown == ["loading", "ValueError: the tensor is too large", "loading again"]
    assert moonpad("logs", "k2").stdout.splitlines() == ["the first one", *shown]
    assert moonpad("logs", "k2", "-n", "0").stdout == ""


def test_following_begins_with_the_last_lines(moonpad: Moonpad, log: Path, writer: subprocess.Popen[bytes]) -> None:
    say(log.with_name("engine.log.1"), "1", "2")
    say(log, "3")
    running = moonpad.start("logs", "-f", "k2", "-n", "2")
    assert running.stdout is not None
    assert [running.stdout.readline() for _ in range(2)] == ["2\n", "3\n"]
    say(log, "4", "5")
    with log.open("a") as file:
        file.write("last words")
    writer.kill()
    writer.wait()
    assert running.communicate(timeout=20)[0].splitlines() == ["4", "5", "last words"]


def test_a_redrawn_bar_is_shown_as_it_stands(moonpad: Moonpad, log: Path) -> None:
    """Fault 56 with it: no escape of a log reaches the terminal."""
    say(log, "\rloading  1%\rloading 50%\rloading 99%", "\x1b]52;c;aGk=\x07 red")
    assert moonpad("logs", "k2").stdout == "loading 99%\n" + r"\x1b]52;c;aGk=\x07 red" + "\n"


@pytest.mark.usefixtures("clean_world")
def test_the_log_of_a_flooding_engine(moonpad: Moonpad, fake_spec: Path) -> None:
    """With the real keeper: the last lines are those of the flood, and the log does not grow without end."""
    up = moonpad("up", str(fake_spec), FAKE_FLOOD_BYTES_S="10000000", FAKE_ENDLESS_LINE_BYTES=str(ENDLESS_BYTES))
    assert up.code == 0, up.stderr
    begun = time.monotonic()
    log = next(moonpad.state.glob("runs/*/engine.log"))
    while not log.with_name("engine.log.1").exists():
        assert time.monotonic() - begun < 60, "60 MB are there within some seconds"
        time.sleep(0.1)
    kib, lines = peak_kib(moonpad, "logs", "fake", "-n", "50")
    assert len(lines) == 50
    assert kib < peak_kib(moonpad, "logs", "fake", "-n", "1")[0] + MORE_KIB
    assert moonpad("down", "fake").code == 0
