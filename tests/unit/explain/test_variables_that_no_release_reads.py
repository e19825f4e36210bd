"""Variables that only a change which was never merged reads are told, all in one note."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Finding, Severity
from tests.unit.explain.judging import ask, ask_one

SERVE = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code --tensor-parallel-size 8"
OF_A_CHANGE = ("VLLM_FORCE_NUM_KV_SPLITS", "VLLM_ROCM_USE_AITER_MLA_PREFILL")
"""Of vllm-project/vllm#28955, which was closed."""


def told(text: str, version: str = "", on: str = "8xMI300X") -> list[Finding]:
    return [each for each in ask_one(text, on, version).findings if each.message.startswith("no release of vLLM")]


@pytest.mark.parametrize("version", ["", "0.19.0"])
def test_both_are_in_one_note(version: str) -> None:
    (note,) = told(f"{OF_A_CHANGE[0]}=9 VLLM_ROCM_USE_AITER=1 {OF_A_CHANGE[1]}=1 {SERVE}\n", version)
    assert (note.severity, note.code) == (Severity.NOTE, Code.DEAD_ENV)
    assert all(name in note.message for name in OF_A_CHANGE)
    assert "VLLM_ROCM_USE_AITER," not in note.message


def test_they_stay_in_the_command() -> None:
    """A build of its own may read them."""
    text = f"{OF_A_CHANGE[0]}=9 {SERVE} --tool-call-parser kimi_k2\n"
    judged = ask_one(text, "8xMI300X")
    assert told(text)
    (line,) = judged.corrected
    assert line.env[OF_A_CHANGE[0]] == "9"


@pytest.mark.parametrize(
    "text",
    [
        f"VLLM_ROCM_USE_AITER=1 VLLM_ROCM_USE_AITER_MLA=0 {SERVE}\n",
        f"VLLM_GPU_MEMORY_UTILIZATION=0.95 {SERVE}\n",
        f"NCCL_MY_OWN_SETTING=9 MY_OWN_NUM_SPLITS=1 {SERVE}\n",
        f"export VLLM_MY_OWN_PATH=/x\necho $VLLM_MY_OWN_PATH\n{SERVE}\n",
        f"VLLM_MODEL=x VLLM_IMAGE=y {SERVE}\n",
        f"On Gaudi 3:\n```\nVLLM_PROMPT_BS_BUCKET_MAX=9 {SERVE}\n```\n",
        f"docker run --gpus all -e {OF_A_CHANGE[0]}=9 somebody/own-vllm:k2 {SERVE}\n",
        "SGLANG_FORCE_NUM_KV_SPLITS=9 sglang serve --model-path moonshotai/Kimi-K2-Instruct --tp 8\n",
    ],
)
def test_what_is_read_or_of_others(text: str) -> None:
    assert not told(text)


def test_a_release_from_before_the_recorded_ones() -> None:
    assert not told(f"{OF_A_CHANGE[0]}=9 {SERVE}\n", "0.8.5")


KSERVE = """apiVersion: serving.kserve.io/v1alpha2
kind: {}
metadata: {{name: kimi}}
spec:
  model: {{uri: "hf://moonshotai/Kimi-K2.6", name: moonshotai/Kimi-K2.6}}
  parallelism: {{tensor: 8}}
  template:
    containers:
    - name: main
      env:
      - {{name: VLLM_API_SERVER_COUNT, value: "2"}}
      - {{name: VLLM_ADDITIONAL_ARGS, value: "--max-model-len 65536"}}
      - {{name: VLLM_MAX_MODEL_LEN, value: "8192"}}
"""


@pytest.mark.parametrize("kind", ["LLMInferenceService", "LLMInferenceServiceConfig"])
def test_variables_of_the_templates_of_kserve(kind: str) -> None:
    """Its templates end in `--api-server-count ${VLLM_API_SERVER_COUNT:-8}` and `${VLLM_ADDITIONAL_ARGS}`."""
    dead = [each for judged in ask(KSERVE.format(kind)) for each in judged.findings if "no effect" in each.message]
    assert [each.where for each in dead] == ["VLLM_MAX_MODEL_LEN"]


def test_elsewhere_they_do_nothing() -> None:
    text = "VLLM_API_SERVER_COUNT=2 vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8"
    dead = [each.where for judged in ask(text) for each in judged.findings if "no effect" in each.message]
    assert dead == ["VLLM_API_SERVER_COUNT"]
