"""What devices do now, by what each vendor's tool prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.facts import amd, ascend, nvidia
from moonpad.facts.device import DeviceUse
from moonpad.facts.devices import device_use
from moonpad.facts.probe import Unknown

RECORDED = Path(__file__).with_name("recorded")
MIB = 2**20


def test_amd_smi() -> None:
    assert amd.parse_use((RECORDED / "amd-smi-use-rocm7.json").read_text()) == (
        DeviceUse(0, 612.0, 0.97, 181412 * MIB),
        DeviceUse(1, None, None, 284 * MIB),
    )


def test_rocm_smi() -> None:
    assert amd.parse_rocm_use((RECORDED / "rocm-smi-use.json").read_text()) == (
        DeviceUse(0, 141.0, 0.0, 298647552),
        DeviceUse(1, 128.0, 1.0, 10981376),
    )


def test_npu_smi_says_the_power_of_a_package_once() -> None:
    uses = ascend.parse_use((RECORDED / "npu-smi-a3-busy.txt").read_text())
    assert uses[:3] == (
        DeviceUse(0, 166.5, 0.0, 51166 * MIB),
        DeviceUse(1, None, 0.0, 52518 * MIB),
        DeviceUse(2, 166.5, 0.0, 51780 * MIB),
    )
    assert len(uses) == 16
    (first, *_) = ascend.parse_use((RECORDED / "npu-smi-a2.txt").read_text())
    assert first == DeviceUse(0, 98.5, 0.0, 3318 * MIB)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"gpu_data": []}', "null", '{"card0": 1}', "no driver"])
def test_output_without_a_device_is_refused(text: str) -> None:
    for parse in (amd.parse_use, amd.parse_rocm_use, ascend.parse_use):
        with pytest.raises(ValueError, match=r"\S"):
            parse(text)


def test_the_first_tool_that_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moonpad.facts.devices.PLACES", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    assert isinstance(device_use(5.0), Unknown)
    for name, recorded in (("nvidia-smi", None), ("npu-smi", RECORDED / "npu-smi-a2.txt")):
        says = f"/bin/cat {recorded}" if recorded else "echo broken >&2; exit 9"
        (tmp_path / name).write_text(f"#!/bin/sh\n{says}\n")
        (tmp_path / name).chmod(0o755)
    uses = device_use(5.0)
    assert isinstance(uses, tuple)
    assert len(uses) == 8
    (tmp_path / "npu-smi").unlink()
    broken = device_use(5.0)
    assert isinstance(broken, Unknown)
    assert "broken" in broken.reason


def test_nvidia_smi_with_and_without_the_temperature() -> None:
    with_heat, without = "0, 612.00, 97, 181412, 71\n", "1, [N/A], [N/A], 284\n"
    assert nvidia.parse_use(with_heat + without) == (
        DeviceUse(0, 612.0, 0.97, 181412 * MIB, 71.0),
        DeviceUse(1, None, None, 284 * MIB),
    )


def test_nvidia_smi_says_what_holds_the_clocks_back() -> None:
    """The masks of nvml.h: 0x1 idle, 0x4 software power cap, 0x20 software and 0x40 hardware thermal slowdown."""
    row = "{}, 612.00, 97, 181412, 71, {}\n"
    masks = ("0x0000000000000001", "0x0000000000000004", "0x0000000000000060", "[Not Supported]")
    uses = nvidia.parse_use("".join(row.format(index, mask) for index, mask in enumerate(masks)))
    thermal = ("software thermal slowdown", "hardware thermal slowdown")
    assert [use.throttled_by for use in uses] == [(), ("its power limit",), thermal, None]
    assert {use.temperature_c for use in uses} == {71.0}


def test_a_driver_that_does_not_know_what_holds_clocks_back(tmp_path: Path) -> None:
    tool = tmp_path / "nvidia-smi"
    refusal = 'Field "clocks_throttle_reasons.active" is not a valid field to query.'
    tool.write_text(
        f"#!/bin/sh\ncase $1 in *throttle*) echo '{refusal}'; exit 2;; esac\necho '0, 612.00, 97, 284, 71'\n"
    )
    tool.chmod(0o755)
    assert nvidia.nvidia_use(str(tool), 5.0) == (DeviceUse(0, 612.0, 0.97, 284 * MIB, 71.0),)
