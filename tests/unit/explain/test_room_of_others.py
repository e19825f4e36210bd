"""One sequence of the whole context against what the weights of a model that is not planned leave free."""

from __future__ import annotations

import pytest

from moonpad.catalog.other_models import context_bytes, other_model
from moonpad.values.finding import Severity
from moonpad.values.units import GIB
from tests.unit.explain.judging import ask


@pytest.mark.parametrize(
    ("model", "tokens", "gib"),
    [
        # What engines said that they needed.
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", 262_144, 62.0),  # github.com/vllm-project/recipes/pull/12
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct-FP8", 262_144, 24.0),  # github.com/vllm-project/vllm/issues/34076
    ],
)
def test_the_arithmetic_is_the_engines(model: str, tokens: int, gib: float) -> None:
    known = other_model(model)
    assert known is not None
    assert context_bytes(known, tokens, 1, 1, 2) / GIB == pytest.approx(gib, abs=0.005)


def test_ranks_beyond_the_heads_have_copies() -> None:
    known = other_model("Qwen/Qwen3-30B-A3B")
    assert known is not None
    assert known.kv_heads == 4
    assert context_bytes(known, 1024, 8, 1, 2) == context_bytes(known, 1024, 4, 1, 2)
    assert context_bytes(known, 1024, 2, 1, 2) == 2 * context_bytes(known, 1024, 4, 1, 2)


def found(command: str, on: str, version: str = "0.10.1") -> list[tuple[Severity, str]]:
    (one,) = ask(f"{command}\n", on=on, version=version)
    return [(finding.severity, finding.message) for finding in one.findings if "one sequence of" in finding.message]


def test_the_default_context_of_a_large_model() -> None:
    ((severity, message),) = found("vllm serve meta-llama/Llama-3.1-70B-Instruct -tp 4", "4xA100-40G")
    assert severity is Severity.ERROR
    assert "131,072 tokens, which is the model's default, takes at least 10.00 GiB" in message


def test_a_little_too_much_is_a_warning() -> None:
    """What the weights leave is enough, and what most starts took beside them is not."""
    ((severity, message),) = found("vllm serve Qwen/Qwen3-32B -tp 1 --max-model-len 40960", "1xA100-80G")
    assert severity is Severity.WARNING
    assert message.endswith("hardly succeeds")


@pytest.mark.parametrize(
    ("command", "on"),
    [
        ("vllm serve meta-llama/Llama-3.1-70B-Instruct -tp 4 --max-model-len 8192", "4xA100-40G"),
        ("vllm serve meta-llama/Llama-3.1-70B-Instruct -tp 4 --kv-cache-dtype fp8 --max-model-len 16384", "4xA100-40G"),
        ("vllm serve meta-llama/Llama-3.1-70B-Instruct -tp 4 --cpu-offload-gb 20", "4xA100-40G"),
        ("vllm serve meta-llama/Llama-3.1-70B-Instruct -tp 4 --num-gpu-blocks-override 512", "4xA100-40G"),
        ("vllm serve meta-llama/Llama-3.1-70B-Instruct -tp 8", "8xH100"),
        ("vllm serve Qwen/Qwen3-32B -tp 2", "2xH100"),
        ("vllm serve nobody/some-34B-chat -tp 1", "1xA100-80G"),
        ("python -m sglang.launch_server --model-path meta-llama/Llama-3.1-70B-Instruct --tp-size 4", "4xA100-40G"),
    ],
)
def test_what_fits_or_is_not_refused(command: str, on: str) -> None:
    assert found(command, on, "" if "sglang" in command else "0.10.1") == []


def test_the_remedy_fits() -> None:
    (one,) = ask("vllm serve Qwen/QwQ-32B-AWQ -tp 2 --max-model-len 40960\n", on="2xRTX-3090", version="0.8.5")
    assert not [finding for finding in one.findings if "one sequence of" in finding.message]
    (one,) = ask("vllm serve Qwen/Qwen3-Coder-30B-A3B-Instruct -tp 1\n", on="1xA100-80G", version="0.10.1")
    (finding,) = [finding for finding in one.findings if "one sequence of" in finding.message]
    assert finding.remedy.startswith("write --max-model-len ")
    shorter = finding.remedy.split()[2]
    command = f"vllm serve Qwen/Qwen3-Coder-30B-A3B-Instruct -tp 1 --max-model-len {shorter}"
    assert found(command, "1xA100-80G") == []


@pytest.mark.parametrize(
    ("command", "version", "told"),
    [
        ("vllm serve meta-llama/Llama-3.1-70B-Instruct --quantization fp8 -tp 1 --max-model-len 4096", "0.10.1", True),
        ("vllm serve meta-llama/Llama-3.1-70B-Instruct --quantization fp8 -tp 1 --max-model-len 4096", "0.13.0", False),
        ("vllm serve meta-llama/Llama-3.1-70B-Instruct --quantization fp8 -tp 2 --max-model-len 4096", "0.10.1", False),
        ("vllm serve Qwen/Qwen3-32B --quantization fp8 -tp 1 --max-model-len 4096", "0.10.1", False),
        ("sglang serve --model-path meta-llama/Llama-3.1-70B-Instruct --quantization fp8 --tp-size 1", "0.5.9", True),
    ],
)
def test_weights_are_whole_before_they_become_fp8(command: str, version: str, told: bool) -> None:
    (one,) = ask(f"{command}\n", on="2xH100", version=version)
    assert any("read in BF16 before they become FP8" in finding.message for finding in one.findings) == told


def test_the_share_that_an_engine_takes_by_itself() -> None:
    """377 GiB of weights are less than 8 × 47.4 GiB, and more than nine tenths of it."""
    command = "vllm serve meta-llama/Llama-3.1-405B-Instruct-FP8 -tp 8 --max-model-len 4096"
    (one,) = ask(f"{command}\n", on="8xA6000", version="0.10.1")
    assert any("have 341 GiB for the engine (0.9 of 379 GiB)" in finding.message for finding in one.findings)
    (one,) = ask(f"{command} --gpu-memory-utilization 1.0\n", on="8xA6000", version="0.10.1")
    assert not any("are at least 377 GiB" in finding.message for finding in one.findings)


@pytest.mark.parametrize(
    ("model", "on", "count"),
    [("DeepSeek-V3.2-W8A8", "8xA2", 1), ("DeepSeek-V3.2-W8A8", "16xA3", 0), ("MiniMax-M2.5-w8a8c8", "8xA2", 0)],
)
def test_weights_that_were_converted_before(model: str, on: str, count: int) -> None:
    """`--quantization ascend` reads them and makes none smaller."""
    command = f"vllm serve /w/{model} --tensor-parallel-size {on.partition('x')[0]} --quantization ascend"
    (one,) = ask(f"{command} --max-model-len 8192\n", on=on, version="0.13.0")
    assert sum("the weights of" in finding.message for finding in one.findings) == count


def of_size(text: str) -> list[tuple[Severity, str]]:
    (one,) = ask(f"{text}\n\n```bash\nvllm serve zai-org/GLM-5-FP8 -tp 8\n```\n")
    return [
        (each.severity, each.message) for each in one.findings if "at least" in each.message and "GiB" in each.message
    ]


def test_weights_that_the_larger_of_two_named_kinds_holds_are_no_error() -> None:
    ((severity, message),) = of_size("On 8x H100/H200.")
    assert severity is Severity.WARNING
    assert "8xH200" in message


def test_weights_that_none_of_the_named_kinds_holds_are_an_error() -> None:
    ((severity, message),) = of_size("On 8x H100.")
    assert severity is Severity.ERROR
    assert "8xH200" not in message
