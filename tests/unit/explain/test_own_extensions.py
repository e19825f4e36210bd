"""Classes of one's own that a command loads, and names of devices that are no devices."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, ask_one

SERVER = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code --tensor-parallel-size 8 --max-model-len 32768"


def levels(command: str) -> set[Severity]:
    return {each.severity for each in ask_one(command).findings if "lora" in each.where}


def test_adapters_for_a_class_that_has_none_end_the_start() -> None:
    assert Severity.ERROR in levels(f"{SERVER} --enable-lora --max-loras 1 --lora-modules a=/a\n")


def test_but_not_where_the_command_loads_what_may_bring_them() -> None:
    extended = (
        f"{SERVER} --enable-lora --max-loras 1 --lora-modules a=/a --worker-extension-cls my_lora_patch.Workers\n"
    )
    assert levels(extended) == {Severity.NOTE}


def test_a_class_for_something_else_changes_nothing() -> None:
    other = f"{SERVER} --enable-lora --max-loras 1 --lora-modules a=/a --worker-extension-cls steering.Workers\n"
    assert Severity.ERROR in levels(other)


@pytest.mark.parametrize(
    "line", ["# the baseline minus L4 (the all-to-all)", "# step T4: warm the cache", "rail is one (no L4 split)"]
)
def test_a_label_is_no_device(line: str) -> None:
    (judged,) = ask(f"{line}\n{SERVER}\n")
    assert judged.cluster is None
    assert "L4" not in judged.cluster_because


@pytest.mark.parametrize("line", ["on 8x L4", "eight NVIDIA L4", "runs on an L4", "L4 (24 GB) and slow", "8 L4 GPUs"])
def test_a_device_is_one(line: str) -> None:
    (judged,) = ask(f"{line}\n\nvllm serve Qwen/Qwen2.5-7B-Instruct\n")
    assert "L4" in judged.cluster_because
