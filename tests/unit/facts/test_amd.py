"""amd-smi and rocm-smi, from outputs in their published form (recorded/README.md)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.facts.amd import amd_devices, join, parse_metric, parse_rocm_smi, parse_static
from moonpad.facts.device import DeviceFacts
from moonpad.facts.probe import Unknown

RECORDED = Path(__file__).parent / "recorded"
MIB = 2**20


def text(name: str) -> str:
    return (RECORDED / name).read_text()


@pytest.mark.parametrize("release", ["rocm6", "rocm7"])
def test_both_forms_say_the_same(release: str) -> None:
    facts = parse_static(text(f"amd-smi-static-{release}.json"))
    assert (facts.tool, facts.vendor, facts.driver) == ("amd-smi", "AMD", "6.10.5")
    assert [device.index for device in facts.devices] == list(range(8))
    for device in facts.devices:
        assert (device.name, device.memory_bytes, device.capability) == ("AMD Instinct MI300X", 196592 * MIB, "gfx942")


def test_what_is_in_use_and_errors_come_from_the_second_question() -> None:
    facts = parse_static(text("amd-smi-static-rocm7.json"))
    joined = join(facts, parse_metric(text("amd-smi-metric-rocm7-ecc.json")))
    assert [device.ecc_errors for device in joined.devices] == [0, 0, 0, 0, 0, 0, 3, 0]
    assert joined.devices[0].used_bytes == 284 * MIB
    assert joined.devices[7].used_bytes == Unknown("amd-smi reports None")
    assert joined.devices[3].memory_bytes == 196592 * MIB


def test_without_an_answer_to_the_second_they_are_unknown() -> None:
    joined = join(parse_static(text("amd-smi-static-rocm6.json")), Unknown("amd-smi timed out"))
    assert joined.devices[0].used_bytes == joined.devices[0].ecc_errors == Unknown("amd-smi timed out")
    assert joined.devices[0].memory_bytes == 196592 * MIB


def test_rocm_smi() -> None:
    facts = parse_rocm_smi(text("rocm-smi-8xmi300x.json"))
    assert (facts.tool, facts.driver, len(facts.devices)) == ("rocm-smi", "6.10.5", 8)
    device = facts.devices[5]
    assert (device.index, device.name, device.capability) == (5, "AMD Instinct MI300X", "gfx942")
    assert (device.memory_bytes, device.used_bytes) == (206141652992, 298647552)
    assert isinstance(device.ecc_errors, Unknown)


def test_the_older_spelling_of_rocm_smi() -> None:
    facts = parse_rocm_smi('{"card0": {"Card series": "AMD Instinct MI250X", "VRAM Total Memory (B)": "68702699520"}}')
    assert (facts.devices[0].name, facts.devices[0].memory_bytes) == ("AMD Instinct MI250X", 68702699520)
    assert isinstance(facts.driver, Unknown)


def test_a_warning_before_the_json() -> None:
    assert len(parse_rocm_smi("WARNING: no amdgpu here\n" + text("rocm-smi-8xmi300x.json")).devices) == 8


@pytest.mark.parametrize("wrong", ["", "Driver not initialized", "{}", "[]", "3", "[[", '{"card0": {}}', "[" * 5000])
def test_what_names_no_device(wrong: str) -> None:
    for parse in (parse_static, parse_rocm_smi):
        with pytest.raises(ValueError, match=r"."):
            parse(wrong)


def test_the_two_questions(tmp_path: Path) -> None:
    tool = tmp_path / "amd-smi"
    tool.write_text(
        "#!/bin/sh\n"
        f'test "$*" = "static --asic --vram --driver --json" && exec cat {RECORDED}/amd-smi-static-rocm6.json\n'
        f'test "$*" = "metric --mem-usage --ecc --json" && exec cat {RECORDED}/amd-smi-metric-rocm6.json\n'
        "exit 1\n"
    )
    tool.chmod(0o755)
    facts = amd_devices(str(tool))
    assert isinstance(facts, DeviceFacts)
    assert [(device.used_bytes, device.ecc_errors) for device in facts.devices] == [(284 * MIB, 0)] * 8


KEYS = st.sampled_from(
    ("gpu", "gpu_data", "asic", "vram", "size", "value", "unit", "market_name", "ecc", "driver", "card0", "Card Series")
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_parsed_or_refused(document: object) -> None:
    for parse in (parse_static, parse_metric, parse_rocm_smi):
        try:
            parse(json.dumps(document))
        except ValueError:
            continue
