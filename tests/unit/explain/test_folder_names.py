"""Folders that are called after a checkpoint, as people write it."""

from __future__ import annotations

import pytest

from moonpad.explain.folder_names import usual_name
from tests.unit.explain.judging import ask


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("/models/kimi_k2_5", "Kimi-K2.5"),
        ("/models/kimik2.5-W4A8/", "Kimi-K2.5-W4A8"),
        ("/models/Kimi2.6", "Kimi-K2.6"),
        ("/mnt/kimi-k26-nvfp4", "Kimi-K2.6-nvfp4"),
        ("kimi_k2_thinking", "Kimi-K2-thinking"),
        ("kimi-k3", "Kimi-K3"),
        ("kimi-k2-0905", "Kimi-K2-0905"),
        ("/models/kimi2", ""),
        ("/models/kimi_k2", ""),
        ("/models/kimi-vl", ""),
        ("/models/my-kimi-k2.5", ""),
    ],
)
def test_a_name(written: str, expected: str) -> None:
    assert usual_name(written) == expected


def test_the_folder_says_more_of_the_weights_than_the_name_that_clients_use() -> None:
    (judged,) = ask("vllm serve /mnt/kimi-k26-nvfp4 --served-model-name moonshotai/Kimi-K2.6 -tp 4", "4xB200")
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == "nvidia/Kimi-K2.6-NVFP4"


def test_weights_that_a_flag_calls_otherwise_are_not_the_published_ones() -> None:
    (judged,) = ask("vllm serve /models/kimi_k2_5 --quantization ascend -tp 16", "16xA3")
    assert judged.checkpoint is None or judged.checkpoint.name != "moonshotai/Kimi-K2.5"
