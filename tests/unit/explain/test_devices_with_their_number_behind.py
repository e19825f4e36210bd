"""`Ascend 910C with 16 GPUs` counts the devices, and prefill context parallelism uses them."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.device_mentions import machines_of
from moonpad.explain.input_limits import Budget
from tests.unit.explain.judging import ask

FENCE = "\n\n```sh\n{}\n```\n"


@pytest.mark.parametrize(
    ("text", "machines"),
    [
        ("Deploying MiniMax M2.7 on Ascend 910C with 16 GPUs stays pending", ["16xA3"]),
        ("Our H100 server with 4 GPUs hangs", ["4xH100"]),
        ("on H200 having eight cards", ["8xH200"]),
        ("I have an AMD MI300X GPU with 4 cards.", ["4xMI300X"]),
        ("Each H100 GPU with 80 GB", []),
        ("H100 with 8 GPUs per node", []),
        ("H100 with 8 GPUs on each node", []),
        ("H100 with 80 GB", []),
        ("H200 nodes with 8 GPUs each", []),
        ("4 H100 machines with 8 GPUs", ["4x8xH100"]),
    ],
)
def test_a_number_behind_the_kind(text: str, machines: list[str]) -> None:
    assert [machine for _, machine in machines_of(text, Budget())] == machines


SERVE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --prefill-context-parallel-size 2"


def messages(text: str) -> list[str]:
    return [finding.message for judged in ask(text) for finding in judged.findings]


@pytest.mark.parametrize("command", [SERVE, "--tensor-parallel-size 8\n--prefill-context-parallel-size 2"])
def test_the_devices_that_are_counted_are_those_of_both_sizes(command: str) -> None:
    text = f"On Ascend 910C with 16 GPUs:{FENCE.format(command)}"
    (judged,) = ask(text)
    assert judged.cluster is not None
    assert judged.cluster.name == "16xA3"
    assert not any("multiplies the devices" in each or "idle" in each for each in messages(text))


def test_a_machine_that_is_only_named_is_not_too_small_for_what_it_holds() -> None:
    assert not any("multiplies the devices" in each for each in messages(f"On Atlas 800 A3:{FENCE.format(SERVE)}"))


def test_more_than_what_is_counted_is_still_too_much() -> None:
    larger = SERVE.replace("size 8", "size 16")
    assert any("16 × 2 = 32" in each for each in messages(f"On 16x Atlas 800 A3:{FENCE.format(larger)}"))
    assert any("16 × 2 = 32" in each for each in messages(f"On Ascend 910C with 16 GPUs:{FENCE.format(larger)}"))
