"""Tables, cut commands, tags of build arguments and served names: what they say, and what they leave open."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, ask_one, found

SERVE = "vllm serve moonshotai/Kimi-K2-Instruct --port 8000 --trust-remote-code"


@pytest.mark.parametrize(
    "sentence", ["(cut here: the page shows no more)", "... (truncated)", "(the rest is left out)", "以下省略"]
)
def test_a_command_that_is_said_to_be_cut(sentence: str) -> None:
    judged = ask_one(f"```\n{SERVE}\n```\n\n{sentence}\n")
    assert "tp" in judged.unknown
    assert not judged.corrected


@pytest.mark.parametrize("sentence", ["It cut our costs.", "The answers are truncated at 4,096 tokens."])
def test_other_sentences_behind_a_command(sentence: str) -> None:
    assert not ask_one(f"```\n{SERVE}\n```\n\n{sentence}\n").unknown


TABLE = """# Kimi-K2.5 with KTransformers

| Parameter | Value | For |
|-----------|-------|---------|
| `--tensor-parallel-size 2` | 2 | two devices |
| `--kt-num-gpu-experts 60` | 60 | experts on the devices |
| `--kt-cpuinfer 128` | 128 | threads |
| `--kt-method RAWINT4` | RAWINT4 | as published |
"""


def test_a_table_of_some_options_lacks_none() -> None:
    (judged,) = [each for each in ask(TABLE) if each.layout is not None]
    assert not [each for each in judged.findings if "parser" in each.where]


def test_the_tag_of_a_build_argument_has_the_day() -> None:
    text = (
        "docker build -f Dockerfile --build-arg SGLANG_IMAGE_TAG=nightly-dev-20251019-fda0cb2a .\n\n"
        "python3 -m dynamo.sglang --model-path /m/DeepSeek-R1 --tp-size 8 --attention-backend cutlass_mla\n"
    )
    (judged,) = [each for each in ask(text) if each.layout is not None]
    assert judged.version.startswith("0.5.3")
    assert not [each for each in judged.findings if "does not take" in each.message]
    assert found(text.replace("SGLANG_IMAGE_TAG", "OTHER_TAG"), "does not take")


@pytest.mark.parametrize(
    ("folder", "served", "known"),
    [
        ("/m/DeepSeek-V3.1-Terminus", "DeepSeek-R1", False),
        ("/m/model", "DeepSeek-R1", True),
        ("/m/DeepSeek", "DeepSeek-R1", True),
    ],
)
def test_a_served_name_of_another_generation(folder: str, served: str, known: bool) -> None:
    judged = ask_one(f"vllm serve {folder} --served-model-name {served} -tp 8")
    assert (judged.checkpoint is not None and "R1" in judged.checkpoint.name) is known


def test_options_of_the_program_that_starts_the_engine() -> None:
    text = "./dynamo-run in=http out=vllm /m/DeepSeek-R1 --tensor-parallel-size 8 --num-nodes 2 --node-rank 0"
    log = "\n\nINFO VLLM: (VllmWorkerProcess 03-31 03:33:02 multiproc_worker_utils.py:242] Exception in worker"
    assert not found(text + log, "has no --node-rank")
    assert found("vllm serve /m/DeepSeek-R1 -tp 8 --nnodes 2 --node-rank 0" + log, "has no --node-rank")


FILE = """worker:
  envs:
  - name: {name}
    value: "256"
---
# options.yaml
model-path: deepseek-ai/DeepSeek-R1
disaggregation-mode: decode
tp-size: "32"
dp-size: "32"
enable-dp-attention: true
moe-a2a-backend: "deepep"
deepep-mode: "low_latency"
cuda-graph-max-bs: "256"
trust-remote-code: true
"""


@pytest.mark.parametrize(("name", "told"), [("SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK", False), ("TZ", True)])
def test_variables_in_another_document_of_the_file(name: str, told: bool) -> None:
    text = FILE.format(name=name)
    findings = [each for judged in ask(text, version="0.5.4") for each in judged.findings]
    assert any("takes 128 tokens a rank" in each.message for each in findings) is told
