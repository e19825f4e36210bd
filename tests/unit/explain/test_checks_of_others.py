"""What is said of models outside the catalogue, of names in requests, and of slips between words."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask

SGL = "sglang serve --model-path"
EAGLE = "--speculative-algorithm EAGLE --speculative-num-steps {} --speculative-eagle-topk {}"
POD = """apiVersion: v1
kind: Pod
metadata:
  name: engine
spec:
  containers:
    - name: engine
      image: vllm/vllm-openai:v0.20.0
      args: ["--model", "Qwen/Qwen3-32B", "--tensor-parallel-size", "2"]
      resources:
        limits:
          nvidia.com/gpu: 2
"""
VOLUME = """      volumeMounts:
        - name: shm
          mountPath: /dev/shm
"""
CONNECTOR = (
    '--kv-transfer-config \'{{"kv_connector":"SimpleCPUOffloadConnector","kv_role":"kv_both",'
    '"kv_connector_extra_config":{{"lazy_offload":{}}}}}\''
)


def told(text: str, part: str, version: str = "", on: str = "") -> bool:
    findings = [finding for judged in ask(text, on, version) for finding in judged.findings]
    return any(part in f"{finding.where} {finding.message} {finding.remedy}" for finding in findings)


@pytest.mark.parametrize(
    ("wrong", "right", "part"),
    [
        # sizes_of_others
        (f"{SGL} Qwen/Qwen3-235B-A22B-FP8 --tp-size 8", f"{SGL} Qwen/Qwen3-235B-A22B-FP8 --tp-size 4", "blocks of 128"),
        (
            "vllm serve openai/gpt-oss-120b --max-model-len 262144",
            "vllm serve openai/gpt-oss-120b --max-model-len 131072",
            "131072",
        ),
        # draft_checks
        (
            f"{SGL} Qwen/Qwen3-8B {EAGLE.format(1, 8)} --speculative-num-draft-tokens 64",
            f"{SGL} Qwen/Qwen3-8B {EAGLE.format(4, 8)} --speculative-num-draft-tokens 64",
            "1 steps of 8 branches have 9",
        ),
        # request_names
        (
            "vllm serve Qwen/Qwen3-32B --served-model-name qwen\n\n"
            'curl http://localhost:8000/v1/chat/completions -d \'{"model": "Qwen/Qwen3-32B"}\'',
            "vllm serve Qwen/Qwen3-32B --served-model-name qwen\n\n"
            'curl http://localhost:8000/v1/chat/completions -d \'{"model": "qwen"}\'',
            "404",
        ),
        # stray_words
        (
            "vllm serve Qwen/Qwen3-32B -tensor-parallel-size 8",
            "vllm serve Qwen/Qwen3-32B --tensor-parallel-size 8",
            "with one dash",
        ),
        # setting_slips
        (
            f"vllm serve Qwen/Qwen3-32B {CONNECTOR.format(chr(34) + 'false' + chr(34))}",
            f"vllm serve Qwen/Qwen3-32B {CONNECTOR.format('false')}",
            "counts as true",
        ),
        # script_slips
        (
            "export VLLM_LOGGING_LEVEL =DEBUG\nvllm serve Qwen/Qwen3-32B",
            "export VLLM_LOGGING_LEVEL=DEBUG\nvllm serve Qwen/Qwen3-32B",
            "a blank before the sign",
        ),
        # shared_memory
        (POD, POD + VOLUME, "emptyDir"),
        # flags: a variable of other releases
        (
            "VLLM_USE_AITER_UNIFIED_ATTENTION=1 vllm serve openai/gpt-oss-120b",
            "VLLM_ROCM_USE_AITER_UNIFIED_ATTENTION=1 vllm serve openai/gpt-oss-120b",
            "does not read this variable",
        ),
    ],
)
def test_the_wrong_is_told_and_the_right_is_not(wrong: str, right: str, part: str) -> None:
    assert told(wrong, part)
    assert not told(right, part)


def test_python_in_a_fence_without_a_language_is_read() -> None:
    text = (
        "```\nimport subprocess\n\ncommand = (\n"
        '    "vllm serve Qwen/Qwen3-32B --tensor-parallel-size 2 "\n    "--lora-path a/b"\n)\n'
        "subprocess.Popen(command, shell=True)\n```\n"
    )
    (judged,) = ask(text)
    assert judged.layout is not None
    assert judged.layout.tp == 2
    assert told(text, "--lora-path")


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("RuntimeError: expected scalar type Half but found BFloat16", "half precision only"),
        ("TypeError: AWQMoEMethod.create_weights() missing 1 required positional argument: 'x'", "AWQMoEMethod"),
        ("TypeError: Error: --enable-a and --enable-b cannot be enabled at the same time", "--enable-b together"),
        ("api_server.py: error: argument --quantization/-q: invalid choice: 'hqq' (choose from 'awq')", "hqq"),
        ("TypeError: moe_fused_gate() takes 5 positional arguments but 7 were given", "another release"),
        ("ValueError: too many values to unpack (expected 12)", "another release"),
    ],
)
def test_a_line_of_the_log_has_its_cause(line: str, part: str) -> None:
    text = f"I got this error:\n\n```\n{SGL} Qwen/Qwen3-32B --tp-size 4\n{line}\n```\n"
    findings = [finding for judged in ask(text) for finding in judged.findings]
    (found,) = [finding for finding in findings if finding.code is Code.LOGGED_FAILURE]
    assert part in found.message
    assert found.severity is Severity.WARNING
