"""What Dynamo's frontend takes."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

WORKER = "python3 -m dynamo.sglang --model-path Qwen/Qwen3-32B --tp 4\n"
LISTED = """\
containers:
- command: [python3]
  args:
  - -m
  - dynamo.frontend
  - --model-path
  - {}
  - --router-mode
  - kv
"""


def said(text: str) -> int:
    findings = [each for judged in ask(WORKER + "\n" + text) for each in judged.findings]
    return sum("frontend takes a directory" in each.message for each in findings)


@pytest.mark.parametrize(
    "text",
    [
        "python3 -m dynamo.frontend --http-port 8000 --model-path Qwen/Qwen3-32B",
        "python3 -m dynamo.frontend \\\n  --model-path \\\n  Qwen/Qwen3-32B",
        LISTED.format("Qwen/Qwen3-32B"),
    ],
)
def test_a_name_of_the_hub_is_no_directory(text: str) -> None:
    assert said(text) == 1


@pytest.mark.parametrize(
    "text",
    [
        "python3 -m dynamo.frontend --http-port 8000",
        "python3 -m dynamo.frontend --model-path /models/qwen",
        "python3 -m dynamo.frontend --model-path $MODEL_PATH",
        "python3 -m dynamo.frontend --router-mode kv\n\npython3 -m dynamo.sglang --model-path Qwen/Qwen3-32B",
        LISTED.format("/mnt/models/qwen"),
        LISTED.format("models/a/b"),
    ],
)
def test_folders_and_workers_are_none(text: str) -> None:
    assert said(text) == 0


PREFILL = "python3 -m dynamo.vllm --model Qwen/Qwen3-32B --tensor-parallel-size 4 --disaggregation-mode prefill"
DECODE = PREFILL.replace("prefill", "decode")
NIXL = """ --kv-transfer-config '{"kv_connector": "NixlConnector", "kv_role": "kv_both"}'"""


@pytest.mark.parametrize(
    ("text", "severities"),
    [
        (f"{PREFILL} &\n{DECODE}{NIXL}", ["error"]),
        (f"{PREFILL.replace('mode ', 'mode=')} &\n{DECODE}{NIXL}", ["error"]),
        (f'{PREFILL} "$@" &\n{DECODE}{NIXL}', ["warning"]),
        (f"{PREFILL}{NIXL} &\n{DECODE}", []),
        (f"{PREFILL} --config f.yaml &\n{DECODE}", []),
        (f"{PREFILL.replace('--disaggregation-mode prefill', '--is-prefill-worker')} &\n{DECODE}", []),
    ],
)
def test_a_worker_for_prefill_is_told_how_it_hands_over(text: str, severities: list[str]) -> None:
    findings = [each for judged in ask(text) for each in judged.findings]
    assert [str(each.severity) for each in findings if "refuses to start without" in each.message] == severities


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--engine-dir /e --config-path /c.yaml", ["--engine-dir", "--config-path"]),
        ("--model-path a/b --tp_size 8 --extra_llm_api_options c.yaml", ["--tp_size", "--extra_llm_api_options"]),
        ("--model-path a/b --tensor-parallel-size 8 --extra-engine-args c.yaml --disaggregation-mode decode", []),
    ],
)
def test_the_worker_for_tensorrt_llm_has_options_of_its_own(options: str, told: list[str]) -> None:
    findings = [each for judged in ask(f"python3 -m dynamo.trtllm {options}") for each in judged.findings]
    assert [each.where for each in findings if "has no such option" in each.message] == told
