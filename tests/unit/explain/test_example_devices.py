"""Where no devices are known, those that are proposed are of the maker for whom the text is."""

from __future__ import annotations

import pytest

from moonpad.catalog.models import find_model
from moonpad.engines import ENGINES
from moonpad.explain.proposed_devices import NO_AMD_DEVICE, NO_DEVICES, example_of, of_ranks
from moonpad.plan.tensors import catalog_checkpoint
from tests.unit.explain.judging import ask


@pytest.mark.parametrize(
    ("engine", "ranks", "because", "example"),
    [
        ("vllm", 8, NO_DEVICES, "8xH200"),
        ("vllm", 4, NO_DEVICES, "4xH200"),
        ("vllm", 32, NO_DEVICES, "4x8xH200"),
        ("sglang", 8, f"{NO_AMD_DEVICE}: more", "8xMI300X"),
        ("vllm-ascend", 1, NO_DEVICES, "16xA3"),
        ("vllm-ascend", 32, NO_DEVICES, "2x16xA3"),
        ("llama-cpp-cpu", 1, NO_DEVICES, "8xH200"),
    ],
)
def test_examples(engine: str, ranks: int, because: str, example: str) -> None:
    assert example_of(ranks, ENGINES[engine], because) == example


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("VLLM_ROCM_USE_AITER=1 vllm serve moonshotai/Kimi-K2-Instruct -tp 8", "--on 8xMI300X"),
        ("vllm serve moonshotai/Kimi-K2-Instruct -tp 8", "--on 8xH200"),
        ("vllm serve moonshotai/Kimi-K3 -tp 8 --trust-remote-code", "--on 8xB300"),  # 1,454 GiB of weights
        ("vllm serve moonshotai/Kimi-K3 -tp 16 --trust-remote-code", "--on 2x8xH200"),
        ("VLLM_ROCM_USE_AITER=1 vllm serve moonshotai/Kimi-K3 -tp 8 --trust-remote-code", "--on 8xMI355X"),
    ],
)
def test_they_are_named_in_the_answer(text: str, named: str) -> None:
    assert ask(text)[0].unjudged.endswith(named)


@pytest.mark.parametrize(
    ("ranks", "expected"), [(12, "2x6xH200"), (20, "4x5xH200"), (6, "6xH200"), (24, "3x8xH200"), (11, "8xH200")]
)
def test_ranks_that_no_machine_has_are_spread_evenly(ranks: int, expected: str) -> None:
    assert of_ranks("H200", ranks, None) == expected


def test_weights_of_nvfp4_want_devices_that_multiply_them() -> None:
    model = find_model("nvidia/Kimi-K2.5-NVFP4")
    assert model is not None
    assert example_of(8, ENGINES["vllm"], NO_DEVICES, checkpoint=catalog_checkpoint(model)) == "8xB200"
