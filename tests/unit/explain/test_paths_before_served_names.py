"""The path or the repository says which weights are served; the name for clients only where the path says nothing."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

SERVE = "# 8x B300\nvllm serve {path} --tensor-parallel-size 8 --max-model-len 32768 --trust-remote-code"


def checkpoint(path: str, served: str) -> str:
    judged = ask_one(f"{SERVE.format(path=path)} --served-model-name {served}\n", on="")
    return judged.checkpoint.name if judged.checkpoint is not None else ""


@pytest.mark.parametrize(
    ("path", "served", "name"),
    [
        ("/PATH/TO/amd-Kimi-K2.5-MXFP4", "kimi-k2.5", "amd/Kimi-K2.5-MXFP4"),
        ("/models/nvidia-Kimi-K2.5-NVFP4", "kimi-k2.5", "nvidia/Kimi-K2.5-NVFP4"),
        ("/models/nvidia_Kimi-K2.5-NVFP4/", "moonshotai/Kimi-K2.5", "nvidia/Kimi-K2.5-NVFP4"),
        ("/models/nvidia--Kimi-K2-Thinking-NVFP4", "kimi-k2-thinking", "nvidia/Kimi-K2-Thinking-NVFP4"),
        ("/models/Kimi-K2.5-MXFP4", "kimi-k2.5", "amd/Kimi-K2.5-MXFP4"),
        ("/models/moonshotai-Kimi-K2.5", "k", "moonshotai/Kimi-K2.5"),
        ("/models/Kimi-K2.5-INT4", "kimi-k2.5", "moonshotai/Kimi-K2.5"),
        ("/models/current", "kimi-k2.5", "moonshotai/Kimi-K2.5"),
        ("/model", "kimi-k2.5", "moonshotai/Kimi-K2.5"),
    ],
)
def test_the_weights_are_those_of_the_path(path: str, served: str, name: str) -> None:
    assert checkpoint(path, served) == name


@pytest.mark.parametrize("path", ["/models/team-Kimi-K2.5-FP8", "/w/Kimi-K2.5-AWQ"])
def test_weights_in_a_format_of_which_nothing_is_known_are_not_the_original(path: str) -> None:
    assert checkpoint(path, "kimi-k2.5") == ""
