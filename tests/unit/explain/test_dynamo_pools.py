"""Workers of Dynamo that do not say which half of a request is theirs."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

WORKER = "python3 -m dynamo.sglang --model-path Qwen/Qwen3-32B --served-model-name q"
PREFILL = f"{WORKER} --disaggregation-mode prefill --port 30001 &\n"


def messages(text: str) -> list[str]:
    return [finding.message for judgement in ask(text) for finding in judgement.findings]


def test_a_decoder_says_that_it_is_one() -> None:
    assert any("is for prefill alone" in message for message in messages(f"{PREFILL}{WORKER}\n"))


@pytest.mark.parametrize(
    "text",
    [
        f"{WORKER}\n",
        f"{PREFILL}{WORKER} --disaggregation-mode decode\n",
        f"{PREFILL}{WORKER} --disaggregation-mode=decode &\n{WORKER}\n",
        f"{PREFILL}{WORKER} $MODE\n",
        f"{PREFILL}{WORKER} --config decode.yaml\n",
        f"{PREFILL}{WORKER.replace('Qwen3-32B', 'Qwen3-8B').replace('-name q', '-name other')}\n",
        f"{PREFILL}{WORKER.replace('dynamo.sglang', 'dynamo.vllm')}\n",
        f"{PREFILL.replace('prefill', '$ROLE')}{WORKER}\n",
        PREFILL.replace("dynamo.sglang", "sglang.launch_server")
        + WORKER.replace("dynamo.sglang", "sglang.launch_server"),
    ],
)
def test_the_role_may_be_said_elsewhere(text: str) -> None:
    assert not any("is for prefill alone" in message for message in messages(text))


FRONTEND = "python -m dynamo.frontend --http-port 8000 &\n"
BEHIND = "python -m dynamo.sglang --model-path Qwen/Qwen2.5-VL-7B-Instruct --multimodal-worker\n"


def test_a_worker_behind_others_registers_no_model() -> None:
    assert any("registers no model" in message for message in messages(FRONTEND + BEHIND))


@pytest.mark.parametrize(
    "text",
    [
        BEHIND,
        FRONTEND + BEHIND.replace(" --multimodal-worker", ""),
        f"{FRONTEND}{BEHIND.strip()} &\n{BEHIND.replace('--multimodal-worker', '--multimodal-processor')}",
    ],
)
def test_the_others_may_be_there(text: str) -> None:
    assert not any("registers no model" in message for message in messages(text))
