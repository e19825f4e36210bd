"""Whole runs against a server of known answers, by the API and by the command."""

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest

from moonpad.bench.config import BenchConfig
from moonpad.bench.result import BenchResult, as_json
from moonpad.bench.run import BenchProgress, measure
from moonpad.load.event_loop import run_in_loop
from moonpad.load.lengths import parse_lengths
from moonpad.load.prompt_calibration import GROUP
from moonpad.load.prompts import WORDS
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import ContactLost, UsageError
from tests.faults.streaming_server import (
    DONE,
    FINISH,
    HEAD,
    Script,
    StreamingServer,
    answer,
    delta,
    streaming_server,
    usage,
)


def run(
    config: BenchConfig, script_of: Callable[[int], Script], seen: list[BenchProgress] | None = None
) -> BenchResult:
    async def main() -> BenchResult:
        async with streaming_server(script_of) as server:
            return await measure(server.endpoint, config, on_progress=(seen if seen is not None else []).append)

    return run_in_loop(main())


def test_warm_up_is_sent_and_not_measured() -> None:
    seen: list[BenchProgress] = []
    served: list[int] = []

    def script_of(number: int) -> Script:
        served.append(number)
        return answer(2 if number < 3 else 5)

    result = run(BenchConfig(requests=4, concurrency=1, warmup=3), script_of, seen)
    assert (len(served), len(result.records)) == (7, 4)
    assert [record.output_tokens for record in result.records] == [5, 5, 5, 5]
    assert [(step.phase, step.done) for step in seen if step.phase == "warm-up"] == [("warm-up", n) for n in (1, 2, 3)]
    assert [step.done for step in seen if step.phase == "measure"] == [1, 2, 3, 4]


def test_concurrency_is_kept_and_connections_are_reused() -> None:
    async def main() -> tuple[BenchResult, StreamingServer]:
        slow: Script = [HEAD, 0.02, delta(content="a"), FINISH + usage(9, 1) + DONE]
        async with streaming_server(lambda number: slow) as server:
            before = server.connections
            result = await measure(server.endpoint, BenchConfig(requests=20, concurrency=5, warmup=0))
            server.connections -= before
            return result, server

    result, server = run_in_loop(main())
    instants = sorted([(record.started_s, 1) for record in result.records] + [(r.closed_s, -1) for r in result.records])
    running = peak = 0
    for _, change in instants:
        running += change
        peak = max(peak, running)
    assert peak == 5
    asked_first = server.connections - 5
    assert asked_first <= 12 + len(WORDS) / GROUP  # models and calibration come on connections of their own


def test_the_input_length_is_calibrated_by_the_server() -> None:
    calibration = run(BenchConfig(input_tokens=200, requests=1, warmup=0), lambda number: answer(1)).plan.calibration
    assert (calibration.words, calibration.tokens, calibration.judge) == (190, 200, "/tokenize")


def test_lengths_that_differ() -> None:
    config = BenchConfig(parse_lengths("50..90"), parse_lengths("lognormal:8,1"), requests=30, warmup=1, seed=5)
    result = run(config, lambda number: answer(2))
    inputs = [record.requested_input_tokens for record in result.records]
    assert tuple(inputs) == parse_lengths("50..90").draw(30, 5, "input")
    assert len(set(inputs)) > 10
    assert {record.requested_output_tokens for record in result.records} != {64}
    assert result.plan.calibration.words_of(70) == 60
    document = as_json(result)["moonpad"]
    assert (document["input_tokens"]["requested"], document["output_tokens"]["requested"]) == (
        "50..90",
        "lognormal:8,1",
    )
    assert document["input_tokens"]["requested_mean"] == sum(inputs) / 30


def test_the_only_model_is_asked_for() -> None:
    assert run(BenchConfig(requests=1, warmup=0), lambda number: answer(1)).plan.model == "kimi-k2"


def test_nothing_answers(free_port: int) -> None:
    with pytest.raises(ContactLost, match="nothing listens"):
        run_in_loop(measure(Endpoint(f"http://127.0.0.1:{free_port}/v1", ""), BenchConfig()))


def test_several_models_are_named() -> None:
    async def main() -> None:
        async with streaming_server(lambda number: answer(1)) as server:
            server.model = "a"
            server.more_models = ("b",)
            await measure(server.endpoint, BenchConfig())

    with pytest.raises(UsageError, match="2 models: a, b"):
        run_in_loop(main())


@contextmanager
def in_thread(script_of: Callable[[int], Script]) -> Iterator[StreamingServer]:
    """The server in a loop of its own, for a command in a process of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    context = streaming_server(script_of)
    try:
        yield asyncio.run_coroutine_threadsafe(context.__aenter__(), loop).result(10)
    finally:
        asyncio.run_coroutine_threadsafe(context.__aexit__(None, None, None), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def command(*argv: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "moonpad", "bench", *argv)


def test_the_command_prints_one_document_and_keeps_the_run(tmp_path: Path) -> None:
    with in_thread(lambda number: answer(4)) as server:
        done = subprocess.run(
            command("--url", server.endpoint.base_url, "--requests", "5", "--out", str(tmp_path / "run"), "--json"),
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    document = orjson.loads(done.stdout)
    assert (document["completed"], document["total_output_tokens"]) == (5, 20)
    assert document == orjson.loads((tmp_path / "run" / "result.json").read_bytes())
    assert b"Next: moonpad bench --url" in done.stderr


def test_an_open_loop_with_limits_by_the_command() -> None:
    with in_thread(lambda number: answer(4)) as server:
        argv = ("--url", server.endpoint.base_url, "--requests", "20", "--rate", "200", "--arrivals", "gamma")
        more = ("--burstiness", "0.5", "--slo", "ttft=60s,tpot=1ms,e2el=2m")
        done = subprocess.run(command(*argv, *more, "--json"), capture_output=True, timeout=60, check=False)
        block = subprocess.run(command(*argv, "--slo", "e2el=1h"), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    document = orjson.loads(done.stdout)
    assert (document["request_rate"], document["burstiness"], document["max_concurrency"]) == (200.0, 0.5, None)
    assert document["moonpad"]["arrivals"]["kind"] == "gamma"
    assert document["moonpad"]["slo"]["ttft_s"] == 60.0
    assert 0 <= document["request_goodput"] <= document["request_throughput"]
    assert b"Request rate configured (RPS):           200.00" in block.stdout
    assert b"Request goodput (req/s):" in block.stdout
    assert b"Maximum request concurrency" not in block.stdout
    assert b"requests a second" in block.stderr


def test_no_success_is_exit_5_with_the_kinds() -> None:
    refusal: Script = [b"HTTP/1.1 503 X\r\nContent-Length: 4\r\n\r\nbusy"]
    with in_thread(lambda number: refusal) as server:
        done = subprocess.run(
            command("--url", server.endpoint.base_url, "--requests", "3"), capture_output=True, timeout=60, check=False
        )
    assert done.returncode == 5
    assert b"Failed requests:                         3" in done.stdout
    assert b"none of 3 requests succeeded: 3 \xc3\x97 http-503" in done.stderr
    assert b"Traceback" not in done.stderr


def test_control_characters_of_a_server_do_not_reach_the_terminal() -> None:
    """Fault 56: an error text that would move the cursor or set the clipboard is shown as text."""
    refusal: Script = [b"HTTP/1.1 503 X\r\nContent-Length: 14\r\n\r\n\x1b]52;c;aGk=\x07\x1b["]
    with in_thread(lambda number: refusal) as server:
        done = subprocess.run(
            command("--url", server.endpoint.base_url, "--requests", "1"), capture_output=True, timeout=60, check=False
        )
    assert b"]52;c;aGk=" in done.stderr
    assert b"\x1b" not in done.stderr + done.stdout


def test_ctrl_c_gives_what_was_measured_and_exit_130(tmp_path: Path) -> None:
    reached = threading.Event()

    def script_of(number: int) -> Script:
        if number >= 8:
            reached.set()
            return [HEAD, delta(content="a"), 30.0]
        return answer(3)

    with in_thread(script_of) as server:
        argv = command(
            "--url", server.endpoint.base_url, "--requests", "50", "--concurrency", "2", "--warmup", "2",
            "--out", str(tmp_path / "run"), "--json",
        )  # fmt: skip
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert reached.wait(30)
            lines = tmp_path / "run" / "requests.jsonl"
            while len(lines.read_bytes().splitlines()) < 6:
                pass
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 130, stderr
    document = orjson.loads(stdout)
    assert (document["completed"], document["failed"], document["moonpad"]["partial"]) == (6, 0, True)
    assert document == orjson.loads((tmp_path / "run" / "result.json").read_bytes())
    assert b"interrupted after 6 of 50 requests" in stderr


def test_ctrl_c_before_the_first_request_is_measured() -> None:
    reached = threading.Event()

    def script_of(number: int) -> Script:
        reached.set()
        return [HEAD, 30.0]

    with in_thread(script_of) as server:
        argv = command("--url", server.endpoint.base_url)
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert reached.wait(30)
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout) == (130, b"")
    assert b"interrupted before a request was measured" in stderr
    assert b"Traceback" not in stderr


@pytest.mark.parametrize(
    "argv",
    [
        ("--requests", "0"),
        ("--url", "ftp://h"),
        ("--key-env", "MOONPAD_NO_SUCH"),
        ("--rate", "0"),
        ("--burstiness", "2"),
        ("--arrivals", "constant"),
        ("--slo", "ttft=500"),
        ("--slo", "speed=5s"),
        ("--input-tokens", "9..3"),
        ("--output-tokens", "@/nowhere"),
    ],
)
def test_a_wrong_command_line_is_exit_2(argv: tuple[str, ...]) -> None:
    done = subprocess.run(
        command("--url", "http://127.0.0.1:9/v1", *argv), capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
