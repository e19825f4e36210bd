"""GGUF files of Kimi-K3, by their size, and the devices that llama.cpp has for them."""

from __future__ import annotations

import pytest

from moonpad.catalog.models import find_model, uncounted_file
from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question


def judged_of(text: str) -> Judged:
    (judged,) = judge(read_script(text), Question())
    return judged


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("/m/Kimi-K3-Q4_K_M.gguf", 1.66e12, 1.71e12),
        ("kimi-k3-q8_0-00001-of-00070.gguf", 2.95e12, 2.97e12),
        ("unsloth/Kimi-K3-GGUF:UD-IQ1_S", 594e9, 594e9),
        ("/m/UD-Q2_K_XL/Kimi-K3-UD-Q2_K_XL-00001-of-00019.gguf", 861e9, 861e9),
    ],
)
def test_the_size_follows_from_the_type(name: str, low: float, high: float) -> None:
    model = find_model(name)
    assert model is not None
    assert model.total_bytes is not None
    assert low <= model.total_bytes <= high


def test_the_publishers_own_types_are_not_those_of_k2() -> None:
    assert find_model("Kimi-K3-UD-Q3_K_XL-00001-of-00030.gguf") is None
    assert uncounted_file("Kimi-K3-UD-Q3_K_XL-00001-of-00030.gguf") == "moonshotai/Kimi-K3 in UD-Q3_K_XL"


def test_what_sixteen_devices_of_two_machines_do_not_hold_one_machine_does_not_hold() -> None:
    judged = judged_of("Needs 16x H100:\n\n```\nllama-server -m ./Kimi-K3-Q4_K_M.gguf -ngl 99\n```\n")
    assert judged.cluster is not None
    assert judged.cluster.name == "8xH100"
    assert "one machine" in judged.cluster_because
    assert [each for each in judged.findings if each.severity == "error" and "weights" in each.message]


def test_shares_for_the_devices_of_two_machines_are_refused() -> None:
    shares = ",".join("1" * 16)
    judged = judged_of(f"On 16x H100:\n\n```\nllama-server -m ./Kimi-K3-Q4_K_M.gguf -ngl 99 -ts {shares}\n```\n")
    (refused,) = [each for each in judged.findings if "one machine" in each.message]
    assert refused.remedy == "lay it out over 8 devices"


@pytest.mark.parametrize(
    ("model", "asked", "count"), [("Kimi-K3", 80, 80), ("Kimi-K3", 94, None), ("Kimi-K2.5", 80, None)]
)
def test_layers_on_the_devices_are_counted_against_those_of_the_model(
    model: str, asked: int, count: int | None
) -> None:
    judged = judged_of(f"On 8x H200:\n\n```\nllama-server -m ./{model}-Q4_K_M.gguf -ngl {asked}\n```\n")
    assert judged.settings is not None
    assert judged.settings.device_layers == count
