"""What comes over the wire, by kind of request, as a server sees it."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import orjson
import pytest

from moonpad.bench.config import BenchConfig
from moonpad.bench.result import BenchResult, as_json
from moonpad.bench.run import measure, resume_bench
from moonpad.bench.run_header import plan_from
from moonpad.load.arrivals import Arrivals
from moonpad.load.event_loop import run_in_loop
from moonpad.load.workloads.workload import Workload
from moonpad.values.errors import UsageError
from tests.faults.streaming_server import (
    CUT,
    DONE,
    FINISH,
    HEAD,
    Script,
    StreamingServer,
    answer,
    delta,
    event,
    streaming_server,
    usage,
)
from tests.unit.bench.test_run import command, in_thread

TEMPLATE = 10  # of the server's chat


def ran(
    config: BenchConfig, script_of: Callable[[int], Script] = lambda number: answer(3), out: Path | None = None
) -> tuple[BenchResult, StreamingServer]:
    async def main() -> tuple[BenchResult, StreamingServer]:
        async with streaming_server(script_of) as server:
            return await measure(server.endpoint, config, out_dir=out), server

    return run_in_loop(main())


def messages_of(body: dict[str, Any]) -> list[tuple[str, str]]:
    return [(message["role"], message.get("content") or "") for message in body["messages"]]


def test_random_prompts_have_exactly_their_length() -> None:
    result, server = ran(BenchConfig(input_tokens=77, requests=12, warmup=2))
    assert {server.tokens_of(body) for body in server.bodies} == {77}
    assert len({messages_of(body)[0][1] for body in server.bodies}) == 14
    assert as_json(result)["moonpad"]["input_tokens"]["exact"] is True


def test_shared_prefixes_are_shared_and_counted() -> None:
    workload = Workload(prefix_tokens=50, prefixes=3)
    result, server = ran(BenchConfig(input_tokens=40, requests=30, warmup=0, workload=workload))
    beginnings = {" ".join(messages_of(body)[0][1].split()[:51]) for body in server.bodies}
    assert len(beginnings) == 3
    assert len({messages_of(body)[0][1] for body in server.bodies}) == 30
    assert {server.tokens_of(body) for body in server.bodies} == {90}
    assert {record.requested_input_tokens for record in result.records} == {90}


def test_the_command_names_what_is_asked(tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").write_bytes(TRACE)
    with in_thread(lambda number: answer(2)) as server:
        at = ("--url", server.endpoint.base_url, "--no-calibrate", "--warmup", "0", "--json")
        trace = subprocess.run(
            command(*at, "--dataset", f"trace:{tmp_path}/trace.jsonl", "--speed", "4"), capture_output=True, check=False
        )
        agent = subprocess.run(
            command(*at, "--dataset", "agent", "--turns", "2", "--requests", "3"), capture_output=True, check=False
        )
        wrong = subprocess.run(command(*at, "--dataset", "trace:/nowhere"), capture_output=True, check=False)
    assert (trace.returncode, agent.returncode, wrong.returncode) == (0, 0, 2), (trace.stderr, agent.stderr)
    document = orjson.loads(trace.stdout)
    assert (document["completed"], document["max_concurrency"]) == (4, None)
    assert document["moonpad"]["workload"]["said"] == "trace, trace.jsonl"
    assert orjson.loads(agent.stdout)["moonpad"]["workload"]["said"] == "agent, 2 turns, tool results of 256 tokens"
    assert b"Traceback" not in wrong.stderr


def test_completions_have_a_text_and_no_messages() -> None:
    def script_of(number: int) -> Script:
        words = [event(json.dumps({"choices": [{"index": 0, "text": f" w{word}"}]}).encode()) for word in range(3)]
        return [HEAD, *words, FINISH + usage(12, 3) + DONE]

    result, server = ran(BenchConfig(input_tokens=30, requests=5, warmup=1, api="completions"), script_of)
    assert all(head.startswith("POST /v1/completions ") for head in server.heads if "completions" in head)
    assert {len(body["prompt"].split()) for body in server.bodies} == {30}
    assert all("messages" not in body for body in server.bodies)
    assert (result.metrics.completed, result.metrics.output_tokens) == (5, 15)
    assert as_json(result)["backend"] == "openai"


def test_a_chat_holds_all_that_was_said_before() -> None:
    config = BenchConfig(
        input_tokens=30, requests=11, concurrency=3, warmup=0, workload=Workload("turns", turns=4), output_tokens=5
    )
    result, server = ran(config)
    assert [record.index for record in result.records] == list(range(11))
    by_length: dict[int, list[dict[str, Any]]] = {}
    for body in server.bodies:
        by_length.setdefault(len(body["messages"]), []).append(body)
    assert {length: len(bodies) for length, bodies in by_length.items()} == {1: 3, 3: 3, 5: 3, 7: 2}
    for body in by_length[7]:
        rows = messages_of(body)
        assert [role for role, _ in rows] == ["user", "assistant"] * 3 + ["user"]
        assert [text for role, text in rows if role == "assistant"] == ["w0 w1 w2 "] * 3
        assert [len(text.split()) for role, text in rows if role == "user"] == [30 - TEMPLATE, 30, 30, 30]
        assert rows[:5] in [messages_of(shorter) for shorter in by_length[5]]
    for first in (0, 4, 8):
        turns = [record for record in result.records if first <= record.index < first + 4]
        assert all(later.scheduled_s == earlier.closed_s for earlier, later in pairwise(turns))
        assert [record.requested_input_tokens for record in turns[1:]] == [12 + 3 + 30] * len(turns[1:])


def test_a_turn_that_fails_ends_its_chat_and_no_other() -> None:
    def script_of(number: int) -> Script:
        return [HEAD, delta(content="a"), CUT] if number == 1 else answer(2)

    config = BenchConfig(requests=8, concurrency=1, warmup=0, workload=Workload("turns", turns=4))
    result, server = ran(config, script_of)
    assert [(record.index, record.ok) for record in result.records] == [
        (0, True), (1, False), (4, True), (5, True), (6, True), (7, True),
    ]  # fmt: skip
    assert len(server.bodies) == 6


def calling(number: int) -> Script:
    """Thinks, says something, and calls two tools; every third answer was cut inside its arguments."""
    arguments = '{"path": "a"}' if number % 3 else '{"path": '
    return [
        HEAD + delta(reasoning="hm"),
        delta(content="I look. "),
        delta(tool_calls=[{"index": 0, "id": "a:0", "function": {"name": "read_file", "arguments": arguments}}]),
        delta(tool_calls=[{"index": 1, "id": "b:1", "function": {"name": "run", "arguments": "{}"}}]),
        FINISH + usage(50, 9) + DONE,
    ]


def test_an_agent_gets_a_result_for_each_call_and_its_thinking_back() -> None:
    workload = Workload("agent", turns=3, tool_tokens=20)
    result, server = ran(BenchConfig(requests=9, concurrency=2, warmup=0, workload=workload), calling)
    assert all(record.ok and record.tool_call_chunks == 2 for record in result.records)
    longest = [body for body in server.bodies if len(body["messages"]) > 6]
    assert len(longest) == 3
    for body in server.bodies:
        assert {tool["function"]["name"] for tool in body["tools"]} == {"read_file", "search", "run"}
        assert "tool_choice" not in body
    for body in longest:
        roles = [message["role"] for message in body["messages"]]
        assert roles == ["user", *["assistant", "tool", "tool"] * 2]
        for message in body["messages"]:
            if message["role"] == "assistant":
                assert message["reasoning"] == message["reasoning_content"] == "hm"
                assert all(
                    isinstance(orjson.loads(entry["function"]["arguments"]), dict) for entry in message["tool_calls"]
                )
            if message["role"] == "tool":
                assert len(message["content"].split()) == 20
        assert [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"] == ["a:0", "b:1"] * 2


def test_an_agent_that_calls_nothing_is_spoken_to() -> None:
    workload = Workload("agent", turns=2, tool_tokens=20)
    _, server = ran(BenchConfig(requests=2, concurrency=1, warmup=0, workload=workload))
    assert [role for role, _ in messages_of(server.bodies[1])] == ["user", "assistant", "user"]


def file_of(folder: Path, data: bytes, kind: str, **more: Any) -> Workload:
    (folder / "file").write_bytes(data)
    return Workload(kind, str(folder / "file"), hashlib.sha256(data).hexdigest(), **more)  # type: ignore[arg-type]


def chats(*counts: int) -> bytes:
    rows = []
    for number, count in enumerate(counts):
        pairs = ({"from": "human", "value": f"question {number} {at}"} for at in range(count))
        rows.append([turn for pair in pairs for turn in (pair, {"from": "gpt", "value": "a b c d e"})])
    return orjson.dumps([{"conversations": turns} for turns in rows])


def test_chats_of_a_file_are_asked_in_an_order_of_the_seed(tmp_path: Path) -> None:
    workload = file_of(tmp_path, chats(1, 1, 1, 1, 1), "sharegpt")
    seen = []
    for seed in (0, 0, 1):
        config = BenchConfig(requests=10, warmup=0, concurrency=1, workload=workload, output_tokens=None, seed=seed)
        result, server = ran(config)
        seen.append([messages_of(body)[0][1] for body in server.bodies])
        assert {body["max_tokens"] for body in server.bodies} == {7}  # five words of people, by the estimate
        assert as_json(result)["moonpad"]["output_tokens"]["requested"] == "the file's"
    assert seen[0] == seen[1] != seen[2]
    assert sorted(seen[0][:5]) == sorted(seen[0][5:]) == [f"question {number} 0" for number in range(5)]


def test_chats_of_a_file_with_several_turns(tmp_path: Path) -> None:
    workload = file_of(tmp_path, chats(1, 2, 3), "sharegpt", turns=2)
    config = BenchConfig(requests=4, warmup=0, concurrency=1, workload=workload, output_tokens=9)
    _, server = ran(config)
    last = [messages_of(body) for body in server.bodies if len(body["messages"]) == 3]
    assert sorted(rows[2][1] for rows in last) == ["question 1 1", "question 2 1"]
    assert all(rows[1] == ("assistant", "w0 w1 w2 ") for rows in last)


TRACE = b"\n".join(
    orjson.dumps({"timestamp": at, "input_length": tokens, "output_length": out, "hash_ids": blocks})
    for at, tokens, out, blocks in (
        (1000, 1100, 5, [1, 2, 3]),
        (1100, 1400, 6, [1, 2, 4]),
        (1400, 600, 7, [9, 10]),
        (1500, 200, 8, []),
    )
)


def test_a_trace_is_replayed_at_its_instants_with_its_shared_blocks(tmp_path: Path) -> None:
    workload = file_of(tmp_path, TRACE, "trace", speed=2.0)
    config = BenchConfig(requests=4, concurrency=None, warmup=0, workload=workload, output_tokens=None)
    result, server = ran(config)
    instants = [record.scheduled_s - result.records[0].scheduled_s for record in result.records]
    assert instants == pytest.approx([0.0, 0.05, 0.2, 0.25], abs=1e-6)
    assert [server.tokens_of(body) for body in server.bodies] == [1100, 1400, 600, 200]
    assert [body["max_tokens"] for body in server.bodies] == [5, 6, 7, 8]
    first, second, third, _ = (messages_of(body)[0][1].split() for body in server.bodies)
    shared = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))))
    assert shared == 1 + 1024
    assert first[:20] != third[:20]
    assert as_json(result)["moonpad"]["arrivals"]["kind"] == "trace"


def test_a_trace_at_a_rate_of_ones_own(tmp_path: Path) -> None:
    workload = file_of(tmp_path, TRACE, "trace")
    config = BenchConfig(
        requests=4,
        concurrency=None,
        warmup=0,
        workload=workload,
        output_tokens=None,
        arrivals=Arrivals(100.0, "constant"),
    )
    result, _ = ran(config)
    instants = [record.scheduled_s for record in result.records]
    assert instants == pytest.approx([0.0, 0.01, 0.02, 0.03], abs=1e-6)


def test_a_trace_has_no_more_requests_than_it_has(tmp_path: Path) -> None:
    workload = file_of(tmp_path, TRACE, "trace")
    with pytest.raises(UsageError, match="has only 4 requests, not 5"):
        ran(BenchConfig(requests=5, concurrency=None, workload=workload, output_tokens=None))


def test_a_chat_that_was_cut_is_led_again_and_told_once(tmp_path: Path) -> None:
    """Of two chats of three turns the records of the second are lost but for its first."""
    folder = tmp_path / "run"
    config = BenchConfig(requests=6, concurrency=1, warmup=0, workload=Workload("turns", turns=3), measure_client=False)
    ran(config, out=folder)
    lines = (folder / "requests.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "requests.jsonl").write_bytes(b"".join(lines[:4]))
    plan = orjson.loads((folder / "run.json").read_bytes())
    with in_thread(lambda number: answer(2)) as server:  # one that answers otherwise stands in for the first
        (folder / "run.json").write_bytes(orjson.dumps({**plan, "base_url": server.endpoint.base_url}))
        result = resume_bench(server.endpoint, folder)
    assert [len(body["messages"]) for body in server.bodies] == [1, 3, 5]
    assert [(record.index, record.output_tokens) for record in result.records] == [
        (0, 3), (1, 3), (2, 3), (3, 3), (4, 2), (5, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["random", "turns", "agent"])
def test_a_plan_with_a_workload_comes_back(tmp_path: Path, kind: Any) -> None:
    workload = Workload(kind, turns=1 if kind == "random" else 5, prefix_tokens=9, prefixes=2)
    config = BenchConfig(requests=2, warmup=0, workload=workload, measure_client=False)
    ran(config, out=tmp_path / "run")
    document = orjson.loads((tmp_path / "run" / "run.json").read_bytes())
    assert plan_from(document).config == config


@pytest.mark.parametrize("workload", [Workload("turns", turns=2), Workload("agent", turns=2)])
def test_a_conversation_by_completions_is_refused(workload: Workload) -> None:
    with pytest.raises(UsageError, match="a conversation needs messages"):
        BenchConfig(workload=workload, api="completions")
