"""Options of a program that starts an engine itself and names it in one of them."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

TASK = """# needs GB200
global_vars:
  hf_model: /models/nvidia/Kimi-K2.5-NVFP4
task_0:
  script: bench/run.sh
  args:
    - --{flag} {engine}
    - --mtbench /data/prompts/question.jsonl
    - --{tp} 4
    - --ep_size 4
    - --concurrency 32
    - --output_length 1024
    - --aa_timing
    - --save_dir /scratch/out
  slurm_config:
    gpus_per_node: 4
    container: {image}
"""
VLLM = "vllm/vllm-openai:v0.22.0"


@pytest.mark.parametrize("tp", ["tp_size", "tensor_parallel_size", "tp"])
@pytest.mark.parametrize(
    ("flag", "named", "image", "engine"),
    [
        ("engine", "VLLM", VLLM, "vllm"),
        ("backend", "vllm", VLLM, "vllm"),
        ("engine", "SGLANG", "lmsysorg/sglang:v0.5.12", "sglang"),
    ],
)
def test_the_engine_is_the_one_that_it_names(flag: str, named: str, image: str, engine: str, tp: str) -> None:
    (judged,) = ask(TASK.format(flag=flag, engine=named, image=image, tp=tp))
    assert judged.engine == engine
    assert judged.layout is not None
    assert (judged.layout.tp, judged.layout.ep) == (4, 4)
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == "nvidia/Kimi-K2.5-NVFP4"
    assert not [each for each in judged.findings if each.code is Code.UNKNOWN_FLAG or "parser" in each.where]
    assert not judged.better
    assert not judged.corrected


def test_of_options_that_the_engine_has_nothing_is_left_out() -> None:
    text = "```\n--backend vllm\n--tensor-parallel-size 4\n--max-model-len 8192\n--trust-remote-code\n```\n"
    assert not [each for each in ask(f"vllm serve moonshotai/Kimi-K2.5\n\n{text}") if each.engine == "tensorrt-llm"]
