"""Parsers of tool calls and thoughts are advised where a server answers in words, and nowhere else."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code

from .judging import ask

SGLANG = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --trust-remote-code --tp 8"
VLLM = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code"


def advised(text: str) -> list[list[str]]:
    """Of each command the parsers that it is said to lack."""
    return [
        [each.where for each in judged.findings if each.code is Code.MISSING_FLAG and "-parser" in each.where]
        for judged in ask(text)
    ]


def test_a_usual_server_is_told_of_both() -> None:
    assert advised(f"{SGLANG}\n") == [["--tool-call-parser", "--reasoning-parser"]]


def test_clients_get_the_answers_of_decode() -> None:
    pool = f"{SGLANG} --disaggregation-mode prefill\n\n{SGLANG} --port 30001 --disaggregation-mode decode\n"
    assert advised(pool) == [[], ["--tool-call-parser", "--reasoning-parser"]]


PAIR = """\
VLLM --port 8100 --kv-transfer-config '{"kv_connector": "NixlConnector", "kv_role": "kv_producer"}'

VLLM --port 8200 --kv-transfer-config '{"kv_connector": "NixlConnector", "kv_role": "kv_consumer"}'
""".replace("VLLM", VLLM)


def test_a_server_that_looks_at_requests_first_needs_the_parser_of_tools_for_prefill_too() -> None:
    assert advised(PAIR) == [["--tool-call-parser"], ["--tool-call-parser", "--reasoning-parser"]]
    prefill, decode = (judged.findings for judged in ask(PAIR))
    (told,) = [each.message for each in prefill if each.where == "--tool-call-parser"]
    assert told == "requests with tools are refused: a proxy sends each of them to prefill first, tools included"
    assert [each.message for each in decode if each.where == "--tool-call-parser"] == [
        "requests with tools are refused"
    ]


def test_prefill_that_has_the_parser_lacks_none() -> None:
    given = PAIR.replace("--port 8100", "--port 8100 --enable-auto-tool-choice --tool-call-parser kimi_k2")
    assert advised(given)[0] == []


@pytest.mark.parametrize("start", [SGLANG, VLLM])
@pytest.mark.parametrize("model", ["Kimi-K2-Thinking", "Kimi-K3", "Kimi-K2-Instruct"])
def test_a_server_that_hands_out_tokens_parses_nothing(start: str, model: str) -> None:
    text = start.replace("Kimi-K2.5", model)
    assert advised(f"{text}\n") != [[]]
    assert advised(f"{text} --skip-tokenizer-init\n") == [[]]


@pytest.mark.parametrize(("model", "parsers"), [("Kimi-K2-Base", []), ("Kimi-K2-Instruct", ["--tool-call-parser"])])
def test_a_base_model_calls_no_tools(model: str, parsers: list[str]) -> None:
    assert advised(f"vllm serve moonshotai/{model} --trust-remote-code --tensor-parallel-size 16\n") == [parsers]


MEASURED = """\
model: moonshotai/Kimi-K2.5
serve_args: >-
  --tensor-parallel-size 8
  --trust-remote-code
{key}:
  tasks: [gsm8k]
"""
VALUES = """\
workload:
  model: moonshotai/Kimi-K3
  image: lmsysorg/sglang:kimi-k3
  framework: sglang
  nnodes: 4
  tpSize: 16
"""


@pytest.mark.parametrize(("key", "count"), [("lm_eval", 0), ("vllm_bench", 0), ("notes", 2)])
def test_a_measurement_takes_answers_as_they_come(key: str, count: int) -> None:
    (parsers,) = advised(MEASURED.format(key=key))
    assert len(parsers) == count


def test_the_template_of_a_chart_adds_its_own() -> None:
    (judged,) = ask(VALUES)
    assert judged.layout_words == "TP16"
    assert advised(VALUES) == [[]]
    assert not judged.corrected
