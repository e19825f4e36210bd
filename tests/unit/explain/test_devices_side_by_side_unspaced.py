"""Kinds of devices that are written side by side are alternatives: where the larger one fits, nothing is an error."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code\n"


@pytest.mark.parametrize(
    "said", ["8xH100/H200", "8×H100/H200 (one node)", "8xH100/8xH200", "8xH100|H200", "8x H100/H200", "8xH100 or H200"]
)
def test_the_larger_one_may_be_meant(said: str) -> None:
    (judged,) = ask(f"{said}\n\n{SERVE}")
    assert not [each for each in judged.findings if each.severity is Severity.ERROR]
    assert [each for each in judged.findings if "on 8xH200, which the text names beside it" in each.message]


@pytest.mark.parametrize("said", ["8xH100", "8xH100/A100", "8xH100 (no H200 here)"])
def test_without_it_the_memory_does_not_hold_it(said: str) -> None:
    (judged,) = ask(f"{said}\n\n{SERVE}")
    assert [each for each in judged.findings if each.severity is Severity.ERROR]


PAGE = "# Start\n\n- Hardware: {}\n\n```bash\n{}```\n"


@pytest.mark.parametrize(
    ("said", "least", "others"),
    [
        ("8x H200 or 8x B200", "8xH200", ["8xB200"]),
        ("8x B200 or 8x H200", "8xH200", ["8xB200"]),
        ("H200 or B300 (8 GPUs)", "8xH200", ["8xB300"]),
        ("8×B300 / 8×H200", "8xH200", ["8xB300"]),
        ("8x NVIDIA B200 or H200", "8xH200", ["8xB200"]),
        ("8x B300, 8x B200 or 8x H200", "8xH200", ["8xB200", "8xB300"]),
        ("MI325X, MI300X, or MI355X (8 GPUs)", "8xMI300X", ["8xMI325X", "8xMI355X"]),
    ],
)
def test_of_alternatives_the_smallest_is_judged_and_the_others_are_named(
    said: str, least: str, others: list[str]
) -> None:
    (judged,) = ask(PAGE.format(said, SERVE))
    assert judged.cluster is not None
    assert judged.cluster.name == least
    assert all(other in judged.cluster_because for other in others)
    assert judged.cluster_because.endswith("judged by the smallest")


def test_alternatives_of_more_devices_than_the_command_uses() -> None:
    (judged,) = ask(PAGE.format("MI355X or MI300X (8 GPUs)", SERVE.replace("size 8", "size 4")))
    assert judged.cluster is not None
    assert judged.cluster.name == "4xMI300X"
    assert "MI300X or MI355X" in judged.cluster_because


@pytest.mark.parametrize(
    "said", ["8x H200, 4x H100", "8x H200 or 16x H20", "8x H200 and one B200", "8x H200 or 8x MI300X"]
)
def test_other_numbers_and_makers_are_no_such_alternatives(said: str) -> None:
    (judged,) = ask(PAGE.format(said, SERVE))
    assert judged.cluster is not None
    assert judged.cluster.name == "8xH200"
    assert "smallest" not in judged.cluster_because


@pytest.mark.parametrize("said", ["8x H200/H20", "8x H200 or 8x H20", "8xH200 / 8xH20"])
def test_a_kind_of_two_sizes_is_not_taken_for_the_smaller_one(said: str) -> None:
    """H20 has 96 or 141 GB: beside H200 as much as that may be meant."""
    (judged,) = ask(PAGE.format(said, SERVE))
    assert judged.cluster is not None
    assert judged.cluster.name == "8xH200"
    assert judged.cluster_because == "the text names 8xH200 or 8xH20: judged by 8xH200"


def test_an_error_of_the_format_that_another_of_them_has_not() -> None:
    command = SERVE.replace("moonshotai/Kimi-K2-Thinking", "nvidia/Kimi-K2-Thinking-NVFP4")
    (judged,) = ask(PAGE.format("8x H200 or 8x B200", command))
    assert not [each for each in judged.findings if each.severity is Severity.ERROR]


@pytest.mark.parametrize(
    "said", ["MI350 Series and MI300 Series GPUs", "the MI350 series, MI300 series and later ones"]
)
def test_generations_name_no_device(said: str) -> None:
    (judged,) = ask(PAGE.format(f"verified on {said}", SERVE))
    assert judged.cluster is None


def test_one_generation_is_taken_for_its_device() -> None:
    (judged,) = ask(PAGE.format("MI300 series GPUs", SERVE))
    assert judged.cluster is not None
    assert judged.cluster.name == "8xMI300X"
