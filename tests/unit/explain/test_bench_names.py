"""What a measurement in the text asks for, and requests to a deployment of several nodes."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVER = "vllm serve Qwen/Qwen3-Next-80B-A3B-Instruct -tp 4 --served-model-name qwen3-next\n\n"
BENCH = "vllm bench serve --backend vllm --dataset-name random --num-prompts 100 --model "
NODE = (
    "vllm serve /models/ds --host 0.0.0.0 --port 8004 --data-parallel-size 4 --data-parallel-size-local 2 "
    "--data-parallel-address 10.0.0.1 --data-parallel-rpc-port 13389 --tensor-parallel-size 4 "
    "--served-model-name deepseek_v3"
)
NODES = f"{NODE}\n\n{NODE} --headless --data-parallel-start-rank 2\n\n"
CURL = 'curl http://10.0.0.1:8004/v1/completions -d \'{"model": "%s"}\'\n'


def told(text: str, part: str) -> bool:
    return any(part in finding.message for judged in ask(text) for finding in judged.findings)


@pytest.mark.parametrize(
    "text",
    [SERVER + BENCH + "qwen3-next", SERVER + SERVER.replace("-tp 4", "-tp 8") + BENCH + "qwen3-next --port 8000"],
)
def test_a_served_name_is_no_tokenizer(text: str) -> None:
    assert told(text, "looks for its tokenizer")


@pytest.mark.parametrize(
    "text",
    [
        SERVER + BENCH + "Qwen/Qwen3-Next-80B-A3B-Instruct --served-model-name qwen3-next",
        SERVER + BENCH + "qwen3-next --tokenizer Qwen/Qwen3-Next-80B-A3B-Instruct",
        SERVER + BENCH + "$MODEL",
        "vllm serve gpt2 --served-model-name gpt2\n\n" + BENCH + "gpt2",
    ],
)
def test_a_measurement_that_is_right(text: str) -> None:
    assert not told(text, "looks for its tokenizer")
    assert not told(text, "the measurement asks for")


def test_a_measurement_of_another_name() -> None:
    assert told(SERVER + BENCH + "Qwen/Qwen3-Next-80B-A3B-Instruct", "the measurement asks for")


@pytest.mark.parametrize(
    "text",
    [
        SERVER + BENCH + "Qwen/Qwen3-Next-80B-A3B-Instruct --port 8001",
        SERVER + BENCH + "Qwen/Qwen3-Next-80B-A3B-Instruct --base-url http://gateway:8000",
        SERVER + "vllm serve Qwen/Qwen3-8B --port 8001\n\n" + BENCH + "Qwen/Qwen3-8B",
        SERVER.replace("serve", "serve --enable-lora") + BENCH + "Qwen/Qwen3-Next-80B-A3B-Instruct",
    ],
)
def test_a_measurement_of_another_server(text: str) -> None:
    assert not told(text, "the measurement asks for")


def test_a_request_to_two_nodes() -> None:
    assert told(NODES + CURL % "/models/ds", "it answers 404")
    assert not told(NODES + CURL % "deepseek_v3", "it answers 404")


EVALUATION = (
    "lm_eval --model local-completions --tasks gsm8k "
    "--model_args model={},base_url=http://127.0.0.1:{}/v1/completions,tokenized_requests=False\n"
)


def test_an_evaluation_of_another_name() -> None:
    assert told(SERVER + EVALUATION.format("Qwen/Qwen3-Next-80B-A3B-Instruct", 8000), "the evaluation asks for")
    assert not told(SERVER + EVALUATION.format("qwen3-next", 8000), "the evaluation asks for")
    assert not told(SERVER + EVALUATION.format("Qwen/Qwen3-8B", 8001), "the evaluation asks for")
