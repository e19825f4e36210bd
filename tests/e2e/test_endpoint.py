"""Real questions to the real engine: seed 0's two requests, the openai client, tool calls, verify and bench."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openai
import pytest

from moonpad.verify.probes import PROBES
from tests.e2e.conftest import CHECKPOINT, Served

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather in a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "City name"}},
            "required": ["city"],
        },
    },
}
KIMI = {"role": "system", "content": "You are Kimi, an AI assistant created by Moonshot AI."}


def post(served: Served, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """A plain request, as curl would send it."""
    request = urllib.request.Request(
        f"{served.base_url}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@pytest.mark.parametrize(
    ("question", "max_tokens"),
    [("Explain quantum computing in simple terms", 4096), ("What is 84 * 3 / 2?", 2048)],
)
def test_seed0_requests(served: Served, question: str, max_tokens: int) -> None:
    """Answered 200 with content and, apart from it, reasoning; the token budgets are cut to the context. Eight times,
    since at the temperature of the document so small a model loses its thread in one answer of ten."""
    status, answer = post(
        served,
        "/chat/completions",
        {
            "model": "kimi-k2-thinking",
            "messages": [KIMI, {"role": "user", "content": question}],
            "temperature": 1.0,
            "max_tokens": min(max_tokens, 2048),
            "n": 8,
        },
    )
    assert status == 200, answer
    messages = [choice["message"] for choice in answer["choices"] if choice["finish_reason"] == "stop"]
    apart = [
        message
        for message in messages
        if (message["content"] or "").strip() and (message.get("reasoning") or "").strip()
    ]
    assert len(apart) >= 4, answer
    assert not any(re.search(r"<\|?[a-z_]+\|?>", message["content"]) for message in apart), "a special token shows"
    assert answer["usage"]["completion_tokens"] > 0


def test_seed0_sum_is_right(served: Served) -> None:
    """Greedy, so that the answer is the model's best."""
    _, answer = post(
        served,
        "/chat/completions",
        {
            "model": "kimi-k2-thinking",
            "messages": [KIMI, {"role": "user", "content": "What is 84 * 3 / 2?"}],
            "temperature": 0,
            "max_tokens": 256,
        },
    )
    assert "126" in answer["choices"][0]["message"]["content"]


def test_seed2_who_are_you(served: Served) -> None:
    status, answer = post(
        served,
        "/chat/completions",
        {
            "model": "kimi-k2-thinking",
            "messages": [{"role": "user", "content": "Who are you?"}],
            "temperature": 1.0,
        },
    )
    assert status == 200
    assert answer["choices"][0]["message"]["content"].strip()


def test_health(served: Served) -> None:
    with urllib.request.urlopen(served.base_url.replace("/v1", "/health"), timeout=10) as response:
        assert response.status == 200


def test_served_name_and_404(served: Served) -> None:
    """Seed 2's FAQ: the served name answers, another one is 404."""
    body = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 8}
    assert post(served, "/chat/completions", {"model": "kimi-k2-thinking", **body})[0] == 200
    assert post(served, "/chat/completions", {"model": "moonshotai/Kimi-K2-Thinking", **body})[0] == 404


def test_up_said_where_the_time_went(served: Served) -> None:
    start = served.up["start"]
    phases = {row["phase"]: row["seconds"] for row in start["phases"]}
    assert {"loading weights", "opening the API", "first token"} <= phases.keys()
    assert sum(phases.values()) == pytest.approx(served.up["start_s"], abs=0.02)
    assert start["weights"]["checkpoint_bytes"] == sum(file.stat().st_size for file in CHECKPOINT.glob("*.safetensors"))
    assert start["advice"] == "", "nothing is to be saved on 70 MB"


def test_openai_client_streams(served: Served) -> None:
    """Seed 0's Python client: base_url, a dummy key, messages; streamed, and equal to the answer in one piece."""
    client = openai.OpenAI(base_url=served.base_url, api_key="dummy-key")
    messages: Any = [KIMI, {"role": "user", "content": "What is 84 * 3 / 2?"}]
    whole = (
        client.chat.completions.create(model="kimi-k2-thinking", messages=messages, temperature=0, max_tokens=256)
        .choices[0]
        .message
    )
    content = reasoning = ""
    stream = client.chat.completions.create(
        model="kimi-k2-thinking", messages=messages, temperature=0, max_tokens=256, stream=True
    )
    for chunk in stream:
        delta = chunk.choices[0].delta.model_dump() if chunk.choices else {}
        content += delta.get("content") or ""
        reasoning += delta.get("reasoning") or delta.get("reasoning_content") or ""
    assert content == whole.content
    assert reasoning == (whole.model_dump().get("reasoning") or whole.model_dump().get("reasoning_content"))
    assert content.strip()
    assert reasoning.strip()


def test_tool_call(served: Served) -> None:
    """Parsed, with the family's id; the result goes back and is used."""
    client = openai.OpenAI(base_url=served.base_url, api_key="dummy-key")
    messages: Any = [{"role": "user", "content": "What is the weather in Paris?"}]
    first = client.chat.completions.create(
        model="kimi-k2-thinking",
        messages=messages,
        tools=[WEATHER],
        temperature=0,
        max_tokens=256,  # type: ignore[list-item]
    ).choices[0]
    assert first.finish_reason == "tool_calls"
    (call,) = first.message.tool_calls or []
    assert call.id == "functions.get_weather:0"
    assert (call.function.name, json.loads(call.function.arguments)) == ("get_weather", {"city": "Paris"})
    assert first.message.model_dump().get("reasoning") or first.message.model_dump().get("reasoning_content")
    messages += [first.message.model_dump(exclude_none=True)]
    messages += [{"role": "tool", "tool_call_id": call.id, "content": "sunny, 21 C"}]
    second = client.chat.completions.create(
        model="kimi-k2-thinking",
        messages=messages,
        tools=[WEATHER],
        temperature=0,
        max_tokens=256,  # type: ignore[list-item]
    ).choices[0]
    assert second.finish_reason == "stop"
    assert (second.message.content or "").strip()


QUICK = (
    *("health", "models", "metrics", "chat", "completions", "streaming", "count", "limit", "stop", "end_tokens"),
    *("logprobs", "reasoning", "reasoning_cut", "tool_call", "tool_stream", "tool_choice_required", "tool_ids"),
    *("tool_parallel", "json_schema", "regex", "own_cuts", "echo", "bad_requests", "cancellation"),
)
"""Probes of each kind; all of them take two minutes."""


@pytest.mark.parametrize("only", [pytest.param([], marks=pytest.mark.slow, id="all"), pytest.param(QUICK, id="quick")])
def test_verify_passes(served: Served, only: Sequence[str]) -> None:
    done = served.moonpad("verify", str(served.spec), "--json", *(["--only", *only] if only else []), timeout_s=600)
    assert done.code == 0, done.stdout + done.stderr
    assert done.json["failed"] == 0
    skipped = {probe["id"]: probe["because"] for probe in done.json["probes"] if probe["status"] == "skip"}
    # The last: other work on the machine of the test can hold its client up.
    fair = ("kimi-k2-tiny is too small to judge", "this client stood still for")
    others = {name for name, because in skipped.items() if not any(reason in because for reason in fair)}
    assert others <= {"auth", "concurrency", "seed"}, skipped
    assert done.json["passed"] >= len(only or PROBES) - (3 if only else 6), done.stdout


def test_verify_by_url_finds_a_wrong_name(served: Served) -> None:
    done = served.moonpad("verify", "--url", served.base_url, "--model", "kimi-k2", "--json", timeout_s=300)
    assert done.code == 5
    assert done.json["failed"] >= 1


def test_bench_counts(served: Served) -> None:
    """What the client counted is what the server says that it generated. Of so many tokens not all come at once, on a
    busy machine too."""
    done = served.moonpad(
        "bench",
        str(served.spec),
        "--requests",
        "8",
        "--concurrency",
        "4",
        "--input-tokens",
        "64",
        "--output-tokens",
        "64",
        "--ignore-eos",
        "--temperature",
        "0",
        "--json",
        timeout_s=300,
    )
    assert done.code == 0, done.stdout + done.stderr
    result = done.json
    assert (result["completed"], result["total_output_tokens"]) == (8, 8 * 64)
    assert result["mean_ttft_ms"] > 0
    assert result["mean_tpot_ms"] > 0


def test_bench_block(served: Served) -> None:
    """The report block that readers of `vllm bench serve` know."""
    done = served.moonpad(
        "bench", str(served.spec), "--requests", "4", "--concurrency", "2", "--temperature", "0", timeout_s=300
    )
    assert done.code == 0
    for label in (
        "Serving Benchmark Result",
        "Successful requests:",
        "Mean TTFT (ms):",
        "P99 TPOT (ms):",
        "Mean ITL (ms):",
    ):
        assert label in done.stdout


def test_chat_in_a_pipe(served: Served) -> None:
    done = served.moonpad(
        "chat", str(served.spec), "--once", "What is 84 * 3 / 2?", "--temperature", "0", timeout_s=120
    )
    assert done.code == 0, done.stderr
    assert "126" in done.stdout


def test_second_up_changes_nothing(served: Served) -> None:
    again = served.moonpad("up", str(served.spec), "--json")
    assert again.code == 0
    assert (again.json["changed"], again.json["run"]) == (False, served.up["run"])


def test_kv_cache_as_logged(served: Served) -> None:
    """1 GiB over 576 values of two bytes a layer, in blocks of 16, with AMX of 128: the engine's own figure."""
    config = json.loads((served.checkpoint / "config.json").read_text())
    bytes_per_token = config["num_hidden_layers"] * (config["kv_lora_rank"] + config["qk_rope_head_dim"]) * 2
    block = 128 if "amx_tile" in Path("/proc/cpuinfo").read_text().split() else 16
    assert served.up["kv_tokens"] == (1 << 30) // (bytes_per_token * block) * block


def test_a_short_loop_is_kept_beside_its_run(served: Served) -> None:
    """By the spec's own gate, which asks for nothing here but that the loop is whole."""
    done = served.moonpad("verify", str(served.spec), "--loop", "3", "--gate", "--json", timeout_s=120)
    assert done.json["made"] == 3, done.json
    turns = Path(done.json["turns"])
    assert turns.parent.parent.name == "verdicts"
    assert turns.parents[2].parent.name == "runs"
    assert [json.loads(line).get("turn") for line in turns.read_text().splitlines()] == [None, 1, 2, 3, 4]
    assert (done.code == 0) is (done.json["gate"] == []) is (done.json["drift"] is None)
