"""Requests that are answered, and otherwise than they are meant."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve {} -tp 8 --trust-remote-code{}\n\n"
THINKING = SERVE.format("moonshotai/Kimi-K2-Thinking", " --reasoning-parser kimi_k2")
INSTRUCT = SERVE.format("moonshotai/Kimi-K2-Instruct-0905", "")
CREATE = 'client.chat.completions.create(model="{}", messages=messages{})\n\n'
PLAIN = (
    'curl http://localhost:8000/v1/completions -H "Content-Type: application/json" -d \'{{"prompt": "Once"{}}}\'\n\n'
)
CUT = '{"choices":[{"text":" upon a time","finish_reason": "length"}],"usage":{"completion_tokens": 16}}\n'


def found(text: str, part: str) -> list[Finding]:
    return [finding for each in ask(text, "", "") for finding in each.findings if part in finding.message]


def test_a_plain_completion_that_is_cut() -> None:
    part = "a plain completion has 16 tokens"
    assert found(INSTRUCT + PLAIN.format("") + CUT, part)
    assert not found(INSTRUCT + PLAIN.format(""), part)
    assert not found(INSTRUCT + PLAIN.format(', "max_tokens": 16') + CUT, part)
    assert not found(INSTRUCT + PLAIN.format(", ...") + CUT, part)


@pytest.mark.parametrize("zero", ["temperature=0", "temperature=0.0"])
def test_greedy_thoughts_that_run_in_circles(zero: str) -> None:
    call = CREATE.format("moonshotai/Kimi-K2-Thinking", f", {zero}")
    (finding,) = found(THINKING + call + "It repeats one sentence until the limit.\n", "may run in circles")
    assert finding.severity is Severity.WARNING
    assert not found(THINKING + call, "may run in circles")
    warm = call.replace(zero, "temperature=0.6")
    assert not found(THINKING + warm + "It repeats one sentence.\n", "may run in circles")
    without = call.replace(zero, f'{zero}, extra_body={{"chat_template_kwargs": {{"thinking": False}}}}')
    assert not found(THINKING + without + "It repeats one sentence.\n", "may run in circles")


def test_a_model_whose_page_forbids_greedy_answers() -> None:
    model = "deepseek-ai/DeepSeek-R1"
    (finding,) = found(SERVE.format(model, "") + CREATE.format(model, ", temperature=0"), "may run in circles")
    assert finding.severity is Severity.NOTE


@pytest.mark.parametrize("stop", [', stop=["\\n"]', ', stop="\\n"'])
def test_a_stop_at_the_first_line(stop: str) -> None:
    (finding,) = found(INSTRUCT + CREATE.format("m", stop), "at its first line break")
    assert finding.severity is Severity.NOTE
    assert not found(INSTRUCT + CREATE.format("m", stop.replace("\\n", "\\n\\n")), "at its first line break")
    assert not found(INSTRUCT + CREATE.format("m", stop.replace("\\n", "<|im_end|>")), "at its first line break")


def test_parts_of_a_stream_that_have_no_text() -> None:
    part = "delta.content is None"
    loop = "for chunk in stream:\n    {}\n"
    bare = "answer += chunk.choices[0].delta.content"
    assert found(THINKING + loop.format(bare), part)
    assert not found(THINKING + loop.format(f"{bare} or ''"), part)
    assert not found(THINKING + loop.format(f"if chunk.choices[0].delta.content:\n        {bare}"), part)
    assert not found(INSTRUCT + loop.format(bare), part)


def test_few_tokens_are_told_of_a_request_that_names_a_thinking_model() -> None:
    assert found(THINKING + CREATE.format("moonshotai/Kimi-K2-Thinking", ", max_tokens=200"), "200 are often spent")


def test_a_measurement_by_a_path_of_another_engine() -> None:
    bench = "python3 -m sglang.bench_serving --backend {} --port {} --model moonshotai/Kimi-K2-Instruct-0905\n"
    part = "asks at /generate, which vLLM does not have"
    assert found(INSTRUCT + bench.format("sglang", 8000), part)
    assert not found(INSTRUCT + bench.format("vllm", 8000), part)
    assert not found(INSTRUCT + bench.format("sglang-oai", 8000), part)
    assert not found(INSTRUCT + bench.format("sglang", 30000), part)


def test_usage_of_a_stream_that_nobody_asked_for() -> None:
    part = "no part of a stream has usage"
    loop = "for chunk in stream:\n    if chunk.usage:\n        bill(chunk.usage.total_tokens)\n"
    call = CREATE.format("m", ", stream=True{}")
    assert found(INSTRUCT + call.format("") + loop, part)
    assert not found(INSTRUCT + call.format(', stream_options={"include_usage": True}') + loop, part)
    assert not found(INSTRUCT + call.format(""), part)
    assert not found(INSTRUCT.replace("code", "code --enable-force-include-usage") + call.format("") + loop, part)


@pytest.mark.parametrize("model", ["moonshotai/Moonlight-16B-A3B", "moonshotai/Kimi-K2-Base"])
def test_a_chat_with_a_base_model(model: str) -> None:
    part = "is a base model"
    assert found(SERVE.format(model, "") + CREATE.format(model, ""), part)
    assert not found(SERVE.format(model, "") + PLAIN.format(', "max_tokens": 16'), part)
    assert not found(SERVE.format("moonshotai/Moonlight-16B-A3B-Instruct", "") + CREATE.format(model, ""), part)


def test_a_measurement_of_fewer_requests_than_at_once() -> None:
    bench = "vllm bench serve --model moonshotai/Kimi-K2-Instruct-0905 --num-prompts {} --max-concurrency 256\n"
    (finding,) = found(INSTRUCT + bench.format(64), "are never 256 at once")
    assert finding.severity is Severity.NOTE
    assert not found(INSTRUCT + bench.format(256), "at once")


def test_a_request_by_another_library_of_python() -> None:
    post = (
        'requests.post("http://localhost:8000/v1/chat/completions", json={{\n    "messages": m, "max_tokens": {}}})\n'
    )
    server = INSTRUCT.replace("-code", "-code --max-model-len 32768")
    assert found(server + post.format(65536), "wants 65,536 tokens")
    assert not found(server + post.format(8192), "beside its prompt")
