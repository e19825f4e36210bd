"""npu-smi, from outputs in its published form (recorded/README.md)."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.facts.ascend import parse_npu_smi
from moonpad.facts.device import DeviceFacts
from moonpad.facts.probe import Unknown

RECORDED = Path(__file__).parent / "recorded"
MIB = 2**20


def parsed(name: str) -> DeviceFacts:
    return parse_npu_smi((RECORDED / f"npu-smi-{name}.txt").read_text())


def test_an_a3_has_sixteen_dies_in_eight_packages() -> None:
    facts = parsed("a3")
    assert (facts.tool, facts.vendor, facts.driver) == ("npu-smi", "Huawei", "25.2.1")
    assert [device.index for device in facts.devices] == list(range(16))
    assert [device.package for device in facts.devices] == [number // 2 for number in range(16)]
    assert {device.name for device in facts.devices} == {"Ascend910"}
    assert {device.memory_bytes for device in facts.devices} == {65536 * MIB}
    assert (facts.devices[0].used_bytes, facts.devices[1].used_bytes) == (3131 * MIB, 2885 * MIB)
    assert all(not device.health for device in facts.devices)


def test_an_a2_counts_by_the_npu() -> None:
    facts = parsed("a2")
    assert [device.index for device in facts.devices] == list(range(8))
    assert {(device.name, device.package, device.used_bytes) for device in facts.devices} == {
        ("910B3", None, 3318 * MIB)
    }


def test_a_row_that_is_not_ok() -> None:
    assert [device.health for device in parsed("a3-alarm").devices[4:7]] == ["", "Alarm", ""]


def test_processes_are_no_devices() -> None:
    facts = parsed("a3-busy")
    assert len(facts.devices) == 16
    assert facts.devices[3].used_bytes == 52526 * MIB


def test_a_chip_that_says_nothing_of_its_memory() -> None:
    facts = parse_npu_smi(
        "| 0     910B3               | Critical      | 0.0         0                 0    / 0             |\n"
        "| 0                         | NA            | 0           0    / 0          NA   / NA            |\n"
    )
    assert facts.devices[0].memory_bytes == facts.devices[0].used_bytes == Unknown("npu-smi reports NA")
    assert facts.devices[0].health == "Critical"


@pytest.mark.parametrize("wrong", ["", "dcmi module initialize failed. ret is -8005", "| NPU   Name  | Health |"])
def test_what_names_no_device(wrong: str) -> None:
    with pytest.raises(ValueError, match="npu-smi"):
        parse_npu_smi(wrong)


@given(st.text(alphabet="| 0123456789ABCNAOK:./-\n", max_size=400))
def test_any_table_is_parsed_or_refused(text: str) -> None:
    with suppress(ValueError):
        assert parse_npu_smi(text).devices
