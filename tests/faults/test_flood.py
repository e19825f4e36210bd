"""Fault 19: an engine that floods its log, or writes a line without an end. Our memory is constant, the disk bounded,
and nobody waits for us."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.run.keeper.log_file import LOG_BYTES, LOG_HEAD_BYTES, LOGS_KEPT
from tests.conftest import Moonpad
from tests.faults.helpers import (
    await_event,
    controller_of,
    events_of,
    keeper_document,
    keeper_of,
    run_folder,
    status_of,
    streams,
    wait_until,
)

pytestmark = pytest.mark.usefixtures("clean_world")

GROWTH_BYTES = 20 << 20
LOOK_LIMIT_S = 4.0  # the log may grow for so long between two looks of the keeper, on a busy machine too


def resident_bytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) << 10


def logged_bytes(moonpad: Moonpad) -> int:
    return sum(path.stat().st_size for path in run_folder(moonpad).glob("engine.log*"))


def written_bytes(pid: int) -> int:
    """What a process has written in all, whatever became of it."""
    return int(Path(f"/proc/{pid}/io").read_text().split("wchar:")[1].split()[0])


def flood(moonpad: Moonpad, spec: Path, port: int, bytes_s: int, line_bytes: int, total_bytes: int) -> None:
    """Until the engine has written so much; one client streams all the while."""
    env = {"FAKE_FLOOD_BYTES_S": str(bytes_s), "FAKE_ENDLESS_LINE_BYTES": str(line_bytes)}
    up = moonpad("up", str(spec), **env)
    assert up.code == 0, up.stderr
    watched = {"keeper": keeper_of(moonpad)[0], "controller": controller_of(moonpad)[0]}
    before = {name: resident_bytes(pid) for name, pid in watched.items()}
    writers = [process["pid"] for process in keeper_document(moonpad)["owned"]]
    bound = (1 + LOGS_KEPT) * (LOG_BYTES + LOOK_LIMIT_S * bytes_s) + line_bytes + LOG_HEAD_BYTES

    def served() -> bool:
        (stream,) = streams(port, 1, 20).wait()
        assert stream.finished, stream
        assert logged_bytes(moonpad) <= bound
        return max(written_bytes(pid) for pid in writers) >= total_bytes

    wait_until(served, lambda: str([written_bytes(pid) for pid in writers]), 10 * total_bytes / bytes_s + 30)
    grown = {name: resident_bytes(pid) - before[name] for name, pid in watched.items()}
    assert max(grown.values()) < GROWTH_BYTES, grown
    assert status_of(moonpad)["state"] == "ready"
    assert not events_of(moonpad, "stalled")
    assert controller_of(moonpad)[0] == watched["controller"], "it was not ended by the flood"
    down = moonpad("down", "fake")
    assert down.code == 0, down.stderr
    document = keeper_document(moonpad)
    assert document["log"]["rotations"] >= total_bytes // (2 * LOG_BYTES), document["log"]
    assert (run_folder(moonpad) / "engine.log.head").stat().st_size == LOG_HEAD_BYTES
    assert b"checkpoint shards" in (run_folder(moonpad) / "engine.log.head").read_bytes(), "the start is kept"
    assert await_event(moonpad, "stopped")["killed"] == 0, "no process had to be killed"


def test_flood(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    """Fault 19, reduced: some 150 MB, one line of 50 MB among them."""
    flood(moonpad, fake_spec, free_port, bytes_s=30_000_000, line_bytes=50_000_000, total_bytes=150_000_000)


@pytest.mark.slow
def test_flood_in_full(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    """Fault 19, in full: 10 MB/s for a minute, and one line of 50 MB."""
    flood(moonpad, fake_spec, free_port, bytes_s=10_000_000, line_bytes=50_000_000, total_bytes=650_000_000)


@pytest.mark.slow
def test_logs_of_an_endless_line(moonpad: Moonpad, fake_spec: Path) -> None:
    """Fault 19: `logs` shows an end of it, and does not hold the line in memory."""
    assert moonpad("up", str(fake_spec), FAKE_ENDLESS_LINE_BYTES="50000000").code == 0
    log = run_folder(moonpad) / "engine.log"
    wait_until(lambda: log.stat().st_size > 50_000_000, lambda: str(log.stat()), 20.0)
    shown = moonpad("logs", "fake", "-n", "2")
    assert shown.code == 0, shown.stderr[-500:]
    assert len(shown.stdout) < 5_000_000
    assert moonpad("down", "fake").code == 0
