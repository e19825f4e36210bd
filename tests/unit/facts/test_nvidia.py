"""nvidia-smi, from outputs in its published form (recorded/README.md says after which). Faults 26 and 28."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.facts.device import DeviceFacts
from moonpad.facts.nvidia import BASIC, FIELDS, nvidia_devices, parse_nvidia_smi, question
from moonpad.facts.probe import Unknown

RECORDED = Path(__file__).parent / "recorded"
MIB = 2**20


def parsed(name: str) -> DeviceFacts:
    return parse_nvidia_smi((RECORDED / f"nvidia-{name}.txt").read_text())


def test_the_question_in_full() -> None:
    assert question() == (
        "nvidia-smi",
        "--query-gpu=index,name,uuid,memory.total,memory.used,driver_version,mig.mode.current,compute_cap,"
        "ecc.errors.uncorrected.volatile.total",
        "--format=csv,noheader,nounits",
    )


@pytest.mark.parametrize(
    ("name", "product", "mib", "driver", "capability"),
    [
        ("8xh100", "NVIDIA H100 80GB HBM3", 81559, "550.127.05", "9.0"),
        ("8xh200", "NVIDIA H200", 143771, "570.133.20", "9.0"),
        ("8xb300", "NVIDIA B300 SXM6 AC", 275040, "580.95.05", "10.3"),
    ],
)
def test_eight_healthy_devices(name: str, product: str, mib: int, driver: str, capability: str) -> None:
    facts = parsed(name)
    assert (facts.tool, facts.vendor, facts.driver, facts.lost) == ("nvidia-smi", "NVIDIA", driver, ())
    assert [device.index for device in facts.devices] == list(range(8))
    assert len({device.uuid for device in facts.devices}) == 8
    for device in facts.devices:
        assert (device.name, device.memory_bytes, device.capability) == (product, mib * MIB, capability)
        assert (device.mig, device.ecc_errors, device.health) == (False, 0, "")
        assert device.used_bytes in (0, MIB)


def test_what_a_geforce_has_not_is_unknown_and_never_zero() -> None:
    device = parsed("2x4090-48g").devices[0]
    assert device.ecc_errors == Unknown("nvidia-smi reports [N/A]")
    assert device.mig is False
    assert not device.health


def test_memory_that_the_driver_does_not_say() -> None:
    device = parsed("gb10").devices[0]
    assert device.memory_bytes == device.used_bytes == Unknown("nvidia-smi reports [N/A]")


def test_in_use_mig_and_errors() -> None:
    assert [device.used_bytes for device in parsed("busy").devices[:2]] == [75318 * MIB, 75318 * MIB]
    assert [device.mig for device in parsed("mig").devices[:3]] == [False, True, False]
    assert [device.ecc_errors for device in parsed("ecc").devices[2:5]] == [0, 12, 0]


def test_one_fell_off_the_bus() -> None:
    facts = parsed("one-lost")
    assert [device.index for device in facts.devices] == [0, 1, 2, 3, 4, 6, 7]
    assert facts.lost == ("Unable to determine the device handle for GPU0000:9D:00.0: Unknown Error",)


def test_the_only_one_fell_off_the_bus() -> None:
    facts = parsed("lost")
    assert facts.devices == ()
    assert "GPU is lost" in facts.lost[0]


def test_a_device_in_an_error_state() -> None:
    facts = parsed("reset")
    assert [device.health for device in facts.devices[1:4]] == ["", "GPU requires reset", ""]
    assert facts.devices[2].used_bytes == Unknown("nvidia-smi reports [GPU requires reset]")


@pytest.mark.parametrize("name", ["no-driver", "no-devices"])
def test_a_sentence_instead_of_rows(name: str) -> None:
    text = (RECORDED / f"nvidia-{name}.txt").read_text()
    with pytest.raises(ValueError, match=text[:20]):
        parse_nvidia_smi(text)


def test_a_driver_that_does_not_work_is_unknown_with_its_own_words(fake_tool: Callable[..., str]) -> None:
    tool = fake_tool("nvidia-smi", "nvidia-no-driver.txt", code=9)
    printed = (RECORDED / "nvidia-no-driver.txt").read_text().strip()
    assert nvidia_devices(tool) == Unknown(f"{tool} failed with 9: {printed}")


def test_no_devices_is_unknown_too(fake_tool: Callable[..., str]) -> None:
    tool = fake_tool("nvidia-smi", "nvidia-no-devices.txt", code=6)
    assert nvidia_devices(tool) == Unknown(f"{tool} failed with 6: No devices were found")


def test_rows_count_whatever_the_exit_code_says(fake_tool: Callable[..., str]) -> None:
    facts = nvidia_devices(fake_tool("nvidia-smi", "nvidia-one-lost.txt", code=14))
    assert isinstance(facts, DeviceFacts)
    assert (len(facts.devices), len(facts.lost)) == (7, 1)


def test_an_old_driver_is_asked_again_for_what_it_knows(tmp_path: Path) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text(
        f'#!/bin/sh\ncase "$1" in *compute_cap*) cat {RECORDED}/nvidia-old-refuses.txt; exit 2;; esac\n'
        f"cat {RECORDED}/nvidia-old-basic.txt\n"
    )
    tool.chmod(0o755)
    facts = nvidia_devices(str(tool))
    assert isinstance(facts, DeviceFacts)
    assert (len(facts.devices), facts.driver) == (8, "470.82.01")
    assert facts.devices[0].ecc_errors == Unknown("nvidia-smi reports [N/A]")


def test_a_tool_that_hangs_is_unknown(hanging_tool: Callable[[str], str]) -> None:
    tool = hanging_tool("nvidia-smi")
    assert nvidia_devices(tool, 0.5) == Unknown(f"{tool} timed out after 0.50 s")


@given(st.text(max_size=300) | st.lists(st.text(max_size=20), min_size=9, max_size=9).map(", ".join))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    for fields in (FIELDS, BASIC):
        try:
            facts = parse_nvidia_smi(text, fields)
        except ValueError:
            continue
        assert facts.devices or facts.lost
