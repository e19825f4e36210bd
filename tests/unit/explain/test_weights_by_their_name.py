"""What the name of a model or an option says of the size of its weights, against the devices."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask


def too_much(text: str, on: str = "") -> list[Finding]:
    (one,) = ask(text, on=on)
    return [each for each in one.findings if "at least" in each.message and "GiB" in each.message]


@pytest.mark.parametrize(
    ("start", "on", "count"),
    [
        ("vllm serve /models/Tulip-Chat-235B -tp 1", "1xH100", 1),
        ("vllm serve /models/Tulip-Chat-235B -tp 8", "8xH100", 0),
        ("vllm serve acme/Tulip-1T -tp 8", "8xH100", 1),
        ("vllm serve acme/Tulip-397B-A17B-AWQ -tp 2", "2xH100", 1),
        ("vllm serve acme/Tulip-397B-A17B-AWQ -tp 4", "4xH100", 0),
        ("vllm serve /models/397b -tp 1", "1xH100", 0),  # a name for anything
        ("vllm serve /models/Tulip-235B-REAP50 -tp 1", "1xH100", 0),
        ("vllm serve Qwen/Qwen3-235B-A22B --quantization fp8 -tp 2", "2xH100", 1),
        ("vllm serve Qwen/Qwen3-235B-A22B --quantization fp8 -tp 4", "4xH100", 0),
        ("vllm serve Qwen/Qwen3-235B-A22B --quantization bitsandbytes -tp 2", "2xH100", 0),
        ("vllm serve Qwen/Qwen3-235B-A22B --quantization gguf -tp 1", "1xH100", 0),
    ],
)
def test_a_lower_bound_of_the_weights_against_the_devices(start: str, on: str, count: int) -> None:
    found = too_much(f"{start} --max-model-len 4096\n", on)
    assert len(found) == count
    assert all(each.severity is Severity.WARNING for each in found if "/models/" in start or "fp8" in start)


@pytest.mark.parametrize(
    ("around", "count"),
    [
        ("It ends by `ValueError: wanted bfloat16, got …`.", 1),
        ("Then add your own: `vllm serve /models/Qwen3-Coder-480B-A35B-Instruct ... --port 80`.", 0),
        ("vllm serve /models/Qwen3-Coder-480B-A35B-Instruct --tensor-parallel-size ...", 0),
    ],
)
def test_dots_that_leave_options_out_and_others(around: str, count: int) -> None:
    start = "sglang serve --model-path /models/Qwen3-Coder-480B-A35B-Instruct"
    judged = ask(f"{around}\n\n```bash\n{start}\n```\n")
    found = [each for one in judged for each in one.findings if "at least" in each.message and "GiB" in each.message]
    assert bool(found) == bool(count)
