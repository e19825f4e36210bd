"""Devices that a text calls too small for the model are not those of its command, where it names others."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

START = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 --trust-remote-code"


def devices_of(text: str) -> str:
    (judged,) = ask(f"{text}\n\n```bash\n{START}\n```\n")
    return judged.cluster.name if judged.cluster is not None else ""


@pytest.mark.parametrize(
    "text",
    [
        "| Machine | Cards | Verdict |\n|---|---|---|\n| small | 8x H100 80GB (640 GB) | ❌ does not fit |\n"
        "| large | 8x H200 141GB | ✅ |",
        "Take 8x H200. A node of 8x H100 cannot hold the weights.",
        "8x H200, not on 8x H100.",
        "8x H100 (640 GB) is too small; 8x H200 is needed.",
        "The weights will not fit on 8x H100. Use 8x H200.",
        "8 卡 H200。8x H100 放不下。",
        "| 8x H100 | too small |\n|---|---|\n| 8x H200 | fits |",
        "8x H200 or more. It is too large for 8x H100.",
        "8x H100 (8x 80 GB) won't fit, 8x H200 will.",
    ],
)
def test_another_one_is_judged(text: str) -> None:
    assert devices_of(text) == "8xH200"


@pytest.mark.parametrize(
    "text",
    [
        "On 8x H100 it does not fit.",  # none is left
        "I have 8x H100, and it does not fit. Others have 8x H200.",
        "8x H100 does not fit the full context of 131,072 tokens.",
        "It runs on 8x H100. It is not fast.",
        "| 8x H100 | FP8 ❌ does not fit | INT4 ✅ |",
        "It does not fit on one card: use 8x H100.",
    ],
)
def test_it_is_judged_itself(text: str) -> None:
    assert devices_of(text) == "8xH100"


MARKED = "| 8x B200 | FP8 | ✅✅ best |\n|---|---|---|\n| 8x H200 | FP8 | ✅ |\n| 8x H100 | FP8 | ❌ too small |"


def test_of_machines_that_a_table_marks_as_good_the_smallest_is_judged() -> None:
    (judged,) = ask(f"{MARKED}\n\n```bash\n{START}\n```\n")
    assert judged.cluster is not None
    assert judged.cluster.name == "8xH200"
    assert "8xB200" in judged.cluster_because


def test_of_machines_that_a_table_only_names_none_is_chosen() -> None:
    assert devices_of(MARKED.replace("✅", "")) == ""


@pytest.mark.parametrize("text", ["Before, on L40S: another model.", "An RTX 4090 runs Moonlight well."])
def test_a_name_without_a_number_whose_devices_hold_less_than_half_of_the_weights_is_not_the_machine(text: str) -> None:
    (judged,) = ask(f"{text}\n\n```bash\n{START}\n```\n")
    assert judged.cluster is None
    assert "hold less than half of the weights: name others with --on 8xH200" in judged.unjudged
    assert not any(finding.severity is Severity.ERROR for finding in judged.findings)


def test_devices_that_are_counted_are_judged_however_small() -> None:
    assert devices_of("I have 8x RTX 4090.") == "8xRTX4090"


def test_what_the_command_leaves_to_the_hosts_memory_is_not_put_on_the_devices() -> None:
    (judged,) = ask(f"I have RTX 4090.\n\n```bash\n{START} --cpu-offload-gb 120\n```\n")
    assert judged.cluster is not None
