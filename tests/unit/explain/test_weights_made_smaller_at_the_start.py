"""`--quantization fp8` of a checkpoint in BF16: half the bytes of its matrices lie on the device."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

GIB = 2**30
LINEAR = "moonshotai/Kimi-Linear-48B-A3B-Instruct"
ENGINES = {"vllm": "vllm serve {}", "sglang": "python -m sglang.launch_server --model-path {} --tp-size 1"}


def weights(command: str) -> float:
    judged = ask_one(f"{command} --trust-remote-code\n", on="1xH200")
    assert judged.memory is not None
    return sum(judged.memory.weights.values()) / GIB


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_start_of_that_model_has_logged(engine: str) -> None:
    """91.5 GiB without it, and 46.7 GiB with it, as vLLM logged on one H200."""
    command = ENGINES[engine].format(LINEAR)
    assert weights(command) == pytest.approx(91.5, rel=0.01)
    assert weights(f"{command} --quantization fp8") == pytest.approx(46.7, rel=0.02)


def test_what_is_quantised_in_the_files_stays() -> None:
    command = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 16"
    sizes = {sum(ask_one(f"{command}{more}\n", on="2x8xH200").memory.weights.values())  # type: ignore[union-attr]
             for more in ("", " --quantization fp8")}  # fmt: skip
    assert len(sizes) == 1
