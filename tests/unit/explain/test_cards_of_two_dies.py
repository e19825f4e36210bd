"""`8卡16芯`: a card of two dies counts as two devices."""

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask_one


@pytest.mark.parametrize(
    ("said", "machines"),
    [
        ("硬件：2台 910C ，每台 8卡16芯", "2x16xA3"),
        ("2台 910C，每台8卡(16 dies)", "2x16xA3"),
        ("2台 910C ，每台 16卡", "2x16xA3"),
        ("2台 H100 ，每台 8卡", "2x8xH100"),
    ],
)
def test_devices_of_each_machine(said: str, machines: str) -> None:
    assert [machine for machine, _ in read_script(f"# {said}\n").placed_hints] == [machines]


def test_one_machine_is_enough_for_sixteen_ranks() -> None:
    image = "quay.io/ascend/vllm-ascend:v0.23.0rc1-a3-openeuler"
    serve = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 16 --enable-expert-parallel"
    judged = ask_one(f"硬件：2台 910C ，每台 8卡16芯\n\n镜像： {image}\n\n```\n{serve}\n```\n", "")
    assert not any("Ray" in finding.message for finding in judged.findings)
