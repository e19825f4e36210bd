"""Entries of a program's catalogue: what is served from where, on which devices, with which arguments."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question

CATALOGUE = """\
from dataclasses import dataclass

ARGS = ("--ctx-size", "65536", "--flash-attn", "on", "--jinja", "--n-gpu-layers", "99")

PROFILES = (
    Profile(id="a", {model}, {gpus}, server_args=ARGS),
    Profile(id="b", repo_id="unsloth/Kimi-K2-Instruct-GGUF", gpu_type="B200", gpu_count=4, server_args=ARGS),
)
"""


def judged_of(text: str) -> list[Judged]:
    return list(judge(read_script(text), Question()))


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ('repo_id="unsloth/Kimi-K2.5-GGUF", quant="UD-Q2_K_XL"', "unsloth/Kimi-K2.5-GGUF:UD-Q2_K_XL"),
        ('repo_id="unsloth/Kimi-K2.5-GGUF"', "unsloth/Kimi-K2.5-GGUF"),
        ('model="/models/k-00001-of-00009.gguf"', "/models/k-00001-of-00009.gguf"),
        ("owner=me", "${model}"),
    ],
)
def test_the_model_of_an_entry(model: str, expected: str) -> None:
    first, _ = judged_of(CATALOGUE.format(model=model, gpus='gpu_type="H200", gpu_count=8'))
    assert expected in first.commands[0].argv


@pytest.mark.parametrize(
    ("gpus", "expected"),
    [
        ('gpu_type="H200", gpu_count=8', "8xH200"),
        ('accelerator="H100", num_gpus=4', "4xH100"),
        ("gpu_count=8", ""),
        ("gpu_type=kind, gpu_count=8", ""),
    ],
)
def test_the_devices_of_an_entry(gpus: str, expected: str) -> None:
    text = CATALOGUE.format(model='repo_id="unsloth/Kimi-K2.5-GGUF"', gpus=gpus)
    first, second = judged_of(text)
    assert second.cluster is not None
    assert second.cluster.name == "4xB200"
    assert (first.cluster.name if first.cluster is not None else "") == expected
