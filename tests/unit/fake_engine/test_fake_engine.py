"""The fake engine has the shape of the real one, and behaves as it was seen to."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from moonpad.engines.log_grammar import first_failure, read_progress
from moonpad.engines.vllm_log import LOG, METRICS
from moonpad.facts.processes import read_stat
from tests.conftest import Moonpad
from tests.fake_environment import FAKE_ENGINE
from tests.faults.helpers import cmdline_of, comm_of, streams, wait_until
from tests.unit.fake_engine.engine import LIMIT_S, Start, files_of

# --- its shape -------------------------------------------------------------------------------------------------------


def test_version() -> None:
    done = subprocess.run((sys.executable, "-I", "-S", str(FAKE_ENGINE), "--version"), capture_output=True, check=True)
    assert done.stdout == b"0.32.0+cpu\n"


def test_shape(start: Start, tmp_path: Path) -> None:
    """API server → core → workers that belong to nobody and carry no environment."""
    engine = start()
    api = engine.process.pid
    assert comm_of(api) == "VLLM::APIServer"
    assert "--served-model-name" in cmdline_of(api)
    core = read_stat(engine.core)
    assert core is not None
    assert core[0] == api
    assert [cmdline_of(pid) for pid in engine.workers] == ["VLLM::Worker_TP0", "VLLM::Worker_TP1"]
    for worker in engine.workers:
        stat = read_stat(worker)
        assert stat is not None
        assert stat[0] == os.getpid(), "an orphan, so a child of the subreaper"
        assert os.getsid(worker) not in (os.getsid(api), worker)
        assert os.getpgid(worker) != os.getpgid(api)
    for pid in (engine.core, *engine.workers):
        assert not Path(f"/proc/{pid}/environ").read_bytes().strip(b"\0")
    assert b"in-environ" in Path(f"/proc/{api}/environ").read_bytes()
    assert len(files_of(engine.port, tmp_path)) == 4, "shared memory of the core and two workers, and one ipc socket"


def test_log(start: Start) -> None:
    """Every phase that vLLM's grammar knows of a start on a CPU, and the figures."""
    engine = start("--enforce-eager")
    seen = [progress for line in engine.text().splitlines() if (progress := read_progress(LOG, line))]
    phases = list(dict.fromkeys(progress.phase for progress in seen))
    assert phases == [
        "starting the engine core",
        "loading weights",
        "sizing the KV cache",
        "compiling and warming up",
        "opening the API",
    ]
    assert {progress.percent for progress in seen} >= {0, 40, 100}
    figures = {name: value for progress in seen for name, value in progress.figures.items()}
    assert (figures["kv_tokens"], figures["kv_set_gib"]) == ("310672", "1.0")
    assert first_failure(LOG, engine.text().splitlines()) is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_end(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    engine = start()
    engine.process.send_signal(number)
    assert engine.ends() == 0
    engine.await_members(0)
    assert not files_of(engine.port, tmp_path)


def test_asked_to_end_while_loading(start: Start, tmp_path: Path) -> None:
    engine = start(wait=False, FAKE_LOAD_S="60")
    engine.await_log("0% Completed")
    engine.process.send_signal(signal.SIGINT)
    assert engine.ends() == 0
    engine.await_members(0)
    assert not files_of(engine.port, tmp_path)


def test_a_kill_leaves_files(start: Start, tmp_path: Path) -> None:
    engine = start()
    everybody = (engine.process.pid, engine.core, *engine.workers)
    for number in (signal.SIGSTOP, signal.SIGKILL):  # who sees another one die would tidy up
        for pid in everybody:
            os.kill(pid, number)
    engine.await_members(0)
    assert len(files_of(engine.port, tmp_path)) == 4


def test_a_long_temporary_folder(start: Start, tmp_path: Path) -> None:
    """A socket's path may have 107 bytes, and the folder alone has more."""
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    engine = start(TMPDIR=str(folder))
    assert [path.name for path in folder.iterdir()] == [f"fake-engine-{engine.port}-{engine.process.pid}"]


# --- its API ---------------------------------------------------------------------------------------------------------


def test_endpoints(start: Start) -> None:
    engine = start()
    assert engine.ask("/health") == (200, "")
    assert json.loads(engine.ask("/version")[1]) == {"version": "0.32.0+cpu"}
    assert [model["id"] for model in json.loads(engine.ask("/v1/models")[1])["data"]] == ["kimi"]
    assert engine.ask("/nothing")[0] == 404
    chat = {"messages": [{"role": "user", "content": "one two"}], "max_tokens": 5}
    status, text = engine.ask("/v1/chat/completions", {**chat, "model": "kimi"})
    answer = json.loads(text)
    assert status == 200
    assert answer["choices"][0]["message"]["content"].split() == ["kimi"] * 5
    assert answer["usage"] == {"prompt_tokens": 6, "completion_tokens": 5, "total_tokens": 11}
    assert json.loads(engine.ask("/tokenize", chat)[1])["count"] == 6
    assert engine.ask("/v1/chat/completions", {**chat, "model": "other"})[0] == 404
    assert engine.ask("/v1/completions", "no object")[0] == 400
    status, text = engine.completion(3)
    assert (status, json.loads(text)["choices"][0]["finish_reason"]) == (200, "length")
    counted = {name: engine.metric(name) for name in (METRICS.generation_tokens, METRICS.prompt_tokens)}
    assert counted == {METRICS.generation_tokens: 8.0, METRICS.prompt_tokens: 7.0}
    assert [engine.metric(name) for name in (METRICS.running, METRICS.waiting, METRICS.kv_cache_usage)] == [0, 0, 0]


def test_64_streams(start: Start) -> None:
    engine = start()
    ended = streams(engine.port, 64, 20).wait()
    assert [(stream.status, stream.tokens, stream.finished, stream.error) for stream in ended] == [
        (200, 20, True, "")
    ] * 64
    assert ended[0].usage == {"prompt_tokens": 7, "completion_tokens": 20, "total_tokens": 27}


def test_a_connection_is_used_again(start: Start) -> None:
    engine = start()
    connection = http.client.HTTPConnection("127.0.0.1", engine.port, timeout=LIMIT_S)
    for _ in range(3):
        connection.request("POST", "/v1/completions", json.dumps({"prompt": "a", "max_tokens": 1, "stream": True}))
        response = connection.getresponse()
        assert response.read().endswith(b"data: [DONE]\n\n")
    connection.close()


def test_key(start: Start) -> None:
    engine = start(VLLM_API_KEY="secret")
    assert engine.ask("/v1/models")[0] == 401
    assert engine.completion()[0] == 401
    assert engine.ask("/v1/models", key="secret")[0] == 200
    assert engine.ask("/health")[0] == engine.ask("/metrics")[0] == 200


def test_bench(start: Start, moonpad: Moonpad) -> None:
    engine = start()
    sizes = ("--requests", "4", "--input-tokens", "8", "--output-tokens", "4")
    done = moonpad("bench", "--url", f"http://127.0.0.1:{engine.port}/v1", *sizes, "--json")
    assert done.code == 0, done.stderr
    result = done.json
    assert (result["completed"], result["failed"]) == (4, 0)
    assert (result["total_output_tokens"], result["total_input_tokens"]) == (16, 32)


def test_slots(start: Start) -> None:
    """Some run, the others wait, and the waiting come to their turn."""
    engine = start(FAKE_SLOTS="2", FAKE_TOKEN_S="0.01")
    open_streams = streams(engine.port, 6, 60)
    wait_until(lambda: engine.metric(METRICS.waiting) == 4, lambda: engine.ask("/metrics")[1], LIMIT_S)
    assert engine.metric(METRICS.running) == 2
    assert engine.metric(METRICS.kv_cache_usage) > 0
    assert [stream.tokens for stream in open_streams.wait()] == [60] * 6


def test_a_client_that_leaves(start: Start) -> None:
    engine = start()
    connection = http.client.HTTPConnection("127.0.0.1", engine.port, timeout=LIMIT_S)
    connection.request("POST", "/v1/completions", json.dumps({"prompt": "a", "max_tokens": 1_000_000, "stream": True}))
    connection.getresponse().readline()
    assert engine.metric(METRICS.running) == 1
    connection.sock.close()
    connection.close()
    wait_until(lambda: engine.metric(METRICS.running) == 0, lambda: "its request still runs", LIMIT_S)


# --- the drain -------------------------------------------------------------------------------------------------------


def test_cut_without_a_drain(start: Start) -> None:
    engine = start()
    streamed = streams(engine.port, 3, 1_000_000)
    streamed.await_tokens()
    engine.process.terminate()
    assert engine.ends() == 0
    assert not any(stream.finished for stream in streamed.wait())


def test_drain(start: Start, tmp_path: Path) -> None:
    """What runs finishes, what is new gets a 503, and then it ends."""
    engine = start("--shutdown-timeout", "30")
    streamed = streams(engine.port, 8, 200)
    streamed.await_tokens()
    engine.process.terminate()
    engine.await_log("Shutting down")
    assert engine.completion()[0] == 503
    assert engine.ends() == 0
    assert [(stream.tokens, stream.finished) for stream in streamed.wait()] == [(200, True)] * 8
    engine.await_members(0)
    assert not files_of(engine.port, tmp_path)


def test_drain_of_the_core_too(start: Start) -> None:
    """TERM to API server and core at once, as a terminal or a keeper may send it."""
    engine = start("--shutdown-timeout=30")
    streamed = streams(engine.port, 4, 100)
    streamed.await_tokens()
    core = engine.core
    engine.process.terminate()
    os.kill(core, signal.SIGTERM)
    assert engine.ends() == 0
    assert all(stream.finished for stream in streamed.wait())


def test_a_drain_that_is_too_short(start: Start) -> None:
    engine = start("--shutdown-timeout", "1")
    streamed = streams(engine.port, 3, 1_000_000)
    streamed.await_tokens()
    engine.process.terminate()
    assert engine.ends() == 0
    assert not any(stream.finished for stream in streamed.wait())
