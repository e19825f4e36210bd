"""Each fault of the fake engine is what its switch says."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from moonpad.engines.log_grammar import first_failure, read_progress
from moonpad.engines.vllm_log import LOG, METRICS
from moonpad.facts.processes import read_stat
from tests.fake_environment import FAKE_ENGINE
from tests.faults.helpers import streams, wait_until
from tests.unit.fake_engine.engine import LIMIT_S, Engine, Start, files_of

# --- what goes wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("moment", ["load:40%", "loading", "load:73%"])
def test_crash_while_loading(start: Start, tmp_path: Path, moment: str) -> None:
    engine = start(wait=False, FAKE_CRASH_AT=moment, FAKE_EXIT="7")
    assert engine.ends() == 7
    engine.await_members(0)
    lines = engine.text().splitlines()
    percents = [progress.percent for line in lines if (progress := read_progress(LOG, line)) and progress.percent]
    assert percents[-1] == (73 if "73" in moment else 40)
    failure = first_failure(LOG, lines)
    assert failure is not None
    assert failure.message == "ValueError: the tensor is too large"
    assert lines[-1].endswith("RuntimeError: Engine core initialization failed. See root cause above.")
    assert not files_of(engine.port, tmp_path)


def test_crash_after_ready(start: Start) -> None:
    engine = start(FAKE_CRASH_AT="ready+100ms")
    assert engine.completion()[0] == 200
    assert engine.ends() == 1
    failure = first_failure(LOG, engine.text().splitlines())
    assert failure is not None
    assert failure.message == "ValueError: the tensor is too large"
    engine.await_members(0)


def test_crash_at_a_request(start: Start) -> None:
    """What is in flight gets an error: a 500, or inside the stream whose 200 was sent before."""
    engine = start(FAKE_CRASH_AT="request:3")
    assert engine.completion()[0] == 200
    streamed = streams(engine.port, 1, 1_000_000)
    streamed.await_tokens()
    assert engine.completion()[0] == 500
    (stream,) = streamed.wait()
    assert (stream.status, stream.finished) == (200, False)
    assert "EngineCore" in stream.error
    assert engine.ends() == 1


def test_only_the_first_starts_crash(start: Start, tmp_path: Path) -> None:
    switches = {"FAKE_CRASH_AT": "load:40%", "FAKE_CRASHES": "2", "FAKE_COUNT": str(tmp_path / "starts")}
    assert [start(wait=False, **switches).ends() for _ in range(2)] == [1, 1]
    assert start(**switches).completion()[0] == 200
    assert (tmp_path / "starts").stat().st_size == 3


@pytest.mark.parametrize("victim", ["worker", "core"])
def test_a_lost_process(start: Start, victim: str) -> None:
    engine = start()
    streamed = streams(engine.port, 2, 1_000_000)
    streamed.await_tokens()
    os.kill(engine.workers[0] if victim == "worker" else engine.core, signal.SIGKILL)
    assert all("EngineCore" in stream.error for stream in streamed.wait())
    assert engine.ask("/health") == (200, ""), "for half a second more"
    assert engine.completion()[0] == 500
    assert engine.ends() == 1
    engine.await_members(0)


def test_a_lost_worker_and_a_lying_health(start: Start) -> None:
    engine = start(FAKE_HEALTH_LIES="1")
    os.kill(engine.workers[1], signal.SIGKILL)
    wait_until(lambda: engine.completion()[0] == 500, engine.text, LIMIT_S)
    engine.await_members(3)
    with pytest.raises(subprocess.TimeoutExpired):
        engine.process.wait(1.0)
    assert engine.ask("/health") == (200, "")


def test_a_killed_api_server(start: Start) -> None:
    """vllm#34643: core and workers do not notice; the workers end with the core."""
    engine = start()
    engine.process.kill()
    engine.process.wait()
    core, workers = engine.core, engine.workers
    time.sleep(0.5)
    assert set(engine.members()) == {core, *workers}
    os.kill(core, signal.SIGKILL)
    engine.await_members(0)


def test_workers_that_survive_their_core(start: Start) -> None:
    """vllm#55510."""
    engine = start(FAKE_IGNORE_TERM="1")
    workers = engine.workers
    for pid in (engine.process.pid, engine.core):
        os.kill(pid, signal.SIGKILL)
    engine.process.wait()
    engine.await_members(2)
    for pid in workers:
        os.kill(pid, signal.SIGTERM)
    time.sleep(0.3)
    assert set(engine.members()) == set(workers)


def test_term_ignored(start: Start) -> None:
    engine = start(FAKE_IGNORE_TERM="1")
    for pid in engine.members():
        os.kill(pid, signal.SIGINT)
        os.kill(pid, signal.SIGTERM)
    time.sleep(0.3)
    assert len(engine.members()) == 4
    assert engine.completion()[0] == 200


def test_an_aborted_core(start: Start) -> None:
    """sglang#18421: the API server does not notice, does not collect it, and answers no request any more."""
    engine = start(FAKE_CORE_ABORT_AT="ready+200ms")
    core = engine.core
    assert engine.completion()[0] == 200
    wait_until(lambda: (read_stat(core) or (0, 0, "?"))[2] == "Z", engine.text, LIMIT_S)
    code = int(Path(f"/proc/{core}/stat").read_text().rpartition(")")[2].split()[49])
    assert os.WTERMSIG(code) == signal.SIGABRT
    engine.await_members(1)
    assert engine.ask("/health") == (200, "")
    assert engine.metric(METRICS.running) == 0
    open_stream = streams(engine.port, 1, 1, timeout_s=0.5)
    assert [(stream.tokens, stream.error) for stream in open_stream.wait()] == [(0, "timed out")]
    engine.process.terminate()
    assert engine.ends() == 0


@pytest.mark.parametrize(("switches", "health"), [({}, 503), ({"FAKE_HEALTH_LIES": "1"}, 200)])
def test_hang(start: Start, switches: dict[str, str], health: int) -> None:
    """All three signs of a stall: requests run, no token moves, and one more is never answered."""
    engine = start(FAKE_HANG_AFTER="20", **switches)
    assert engine.completion()[0] == 200
    streamed = streams(engine.port, 2, 1_000, timeout_s=1.0)
    wait_until(lambda: engine.metric(METRICS.generation_tokens) == 20, engine.text, LIMIT_S)
    open_stream = streams(engine.port, 1, 1, timeout_s=0.5)
    assert [(stream.tokens, stream.error) for stream in open_stream.wait()] == [(0, "timed out")]
    assert sum(stream.tokens for stream in streamed.wait()) == 19
    assert engine.metric(METRICS.generation_tokens) == 20
    assert engine.metric(METRICS.running) >= 2, "their clients have gone, and nobody has noticed"
    assert engine.ask("/health")[0] == health
    engine.process.terminate()
    assert engine.ends() == 0


def test_flapping(start: Start) -> None:
    engine = start(FAKE_FLAP_S="0.2", FAKE_FLAP_UNTIL_S="1.2")
    seen = []
    until = time.monotonic() + 1.3
    while time.monotonic() < until:
        seen.append(engine.ask("/health")[0])
        time.sleep(0.02)
    changes = [status for status, before in zip(seen, [0, *seen], strict=False) if status != before]
    assert {200, 503} == set(seen)
    assert len(changes) >= 4
    assert engine.ask("/health")[0] == engine.ask("/health")[0] == 200


def test_healthy_and_unable(start: Start) -> None:
    engine = start(FAKE_FIRST_REQUEST="500")
    assert engine.ask("/health")[0] == 200
    status, text = engine.completion()
    assert (status, "the engine core died" in text) == (500, True)


def test_port_taken_before(start: Start, free_port: int) -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", free_port))
        sock.listen()
        engine = start(wait=False)
        assert engine.ends() == 1
    failure = first_failure(LOG, engine.text().splitlines())
    assert failure is not None
    assert "the port was taken" in failure.message


def test_port_taken_meanwhile(start: Start, free_port: int) -> None:
    engine = start(wait=False, FAKE_LOAD_S="1")
    engine.await_log("0% Completed")
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", free_port))
        sock.listen()
        assert engine.ends() == 1
    assert "[Errno 98] Address already in use" in engine.text()
    engine.await_members(0)


def test_no_port(start: Start) -> None:
    engine = start(wait=False, FAKE_NO_PORT="1")
    engine.await_log("init engine")
    time.sleep(0.2)
    assert "Starting vLLM server" not in engine.text()
    with pytest.raises(ConnectionRefusedError):
        engine.ask("/health")
    engine.process.send_signal(signal.SIGINT)
    assert engine.ends() == 0


# --- the log ---------------------------------------------------------------------------------------------------------


def test_flood(start: Start) -> None:
    """The promised rate, from readiness on, while tokens flow."""
    engine = start(FAKE_FLOOD_BYTES_S="2000000")
    assert engine.completion(20)[0] == 200
    begun, before = time.monotonic(), engine.log.stat().st_size
    time.sleep(1.0)
    rate = (engine.log.stat().st_size - before) / (time.monotonic() - begun)
    assert 500_000 < rate < 8_000_000


def test_an_endless_line(start: Start) -> None:
    engine = start(FAKE_ENDLESS_LINE_BYTES="3000000")
    wait_until(lambda: "xxxx\n" in engine.text(), lambda: "no end of the line", LIMIT_S)
    assert max(len(line) for line in engine.text().splitlines()) == 3_000_000
    assert engine.completion()[0] == 200


def test_a_log_that_nobody_reads(tmp_path: Path, free_port: int, start: Start) -> None:
    """A full pipe stops it, as it would the real one: who reads its log must go on reading."""
    here, there = os.pipe()
    argv = ("serve", "/models/tiny", "--host", "127.0.0.1", "--port", str(free_port))
    process = subprocess.Popen(
        (sys.executable, "-I", "-S", str(FAKE_ENGINE), *argv),
        env={"TMPDIR": str(tmp_path), "FAKE_LOAD_S": "0.05", "FAKE_FLOOD_BYTES_S": "10000000", "FAKE_WORKERS": "0"},
        stdout=there,
        stderr=there,
    )
    os.close(there)
    engine = Engine({}, free_port, tmp_path / "none", process)

    def answers() -> Any:
        try:
            return engine.ask("/health")[0] == 200
        except OSError:
            return False

    wait_until(answers, lambda: "it does not listen", LIMIT_S)
    time.sleep(0.3)  # the pipe fills
    open_stream = streams(free_port, 1, 1)
    time.sleep(0.3)
    assert open_stream.tokens == 0
    reader = threading.Thread(target=_read_on, args=(here,), daemon=True)
    reader.start()
    assert [stream.finished for stream in open_stream.wait()] == [True]
    process.terminate()
    assert process.wait(LIMIT_S) == 0
    reader.join(LIMIT_S)


def _read_on(handle: int) -> None:
    while os.read(handle, 1 << 16):
        pass
    os.close(handle)
