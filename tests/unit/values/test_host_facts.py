"""What is said of hosts that differ: two sets of facts, one field apart (fault 33)."""

from __future__ import annotations

from typing import Any

import pytest

from moonpad.values.deployment import Resources
from moonpad.values.finding import Code, Severity
from moonpad.values.host_facts import HostFacts, compare
from moonpad.values.records import replace
from moonpad.values.units import GIB

ADDRESSES = {"node-0": "10.0.0.1", "node-1": "10.0.0.2"}
NEEDS = {"node-0": Resources(devices=16), "node-1": Resources(devices=8, memory_bytes=64 * GIB)}
FIRST = HostFacts(
    node="node-0",
    host="alpha",
    engine={"vllm": "0.32.0", "torch": "2.13.0"},
    driver="nvidia 580.1",
    checkpoint="d1",
    clock_off_s=0.0,
    has_address=True,
    interface="eth0",
    trouble="",
    memory_bytes=64 * GIB,
    disk_bytes=GIB,
    devices=8,  # too few, and checked elsewhere
)
SECOND = replace(FIRST, node="node-1", host="beta")


def test_equal_hosts_are_fine() -> None:
    assert compare(ADDRESSES, (FIRST, SECOND), NEEDS) == ()


@pytest.mark.parametrize(
    ("field", "value", "severity", "code", "words"),
    [
        ("engine", {"vllm": "0.31.0", "torch": "2.13.0"}, "error", "hosts-differ", "vllm 0.31.0 against 0.32.0"),
        ("engine", {"torch": "2.13.0"}, "error", "hosts-differ", "vllm none against 0.32.0"),
        ("engine", None, "error", "engine-missing", "no engine"),
        ("driver", "nvidia 570.9", "warning", "hosts-differ", "driver nvidia 570.9, on alpha nvidia 580.1"),
        ("driver", None, "warning", "hosts-differ", "driver none"),
        ("checkpoint", "d2", "error", "hosts-differ", "a different checkpoint from alpha"),
        ("checkpoint", None, "error", "checkpoint-missing", "no checkpoint"),
        ("clock_off_s", -7.26, "warning", "hosts-differ", "-7.3 s off that of alpha"),
        ("has_address", False, "error", "hosts-differ", "10.0.0.2 is not an address of beta"),
        ("memory_bytes", 63 * GIB, "error", "memory-low", "64.00 GiB of RAM is needed; beta has 63.00 GiB available"),
        ("disk_bytes", GIB - 1, "error", "disk-low", "is free for logs on beta"),
        ("devices", 7, "error", "hosts-differ", "8 devices are needed; the drivers of beta report 7"),
        ("trouble", "timed out", "error", "hosts-differ", "cannot reach alpha: timed out"),
    ],
)
def test_one_field_differs(field: str, value: Any, severity: str, code: str, words: str) -> None:
    (finding,) = compare(ADDRESSES, (FIRST, replace(SECOND, **{field: value})), NEEDS)
    assert (finding.severity, finding.code) == (Severity(severity), Code(code))
    assert words in finding.message
    assert finding.where == "node-1"
    assert finding.remedy


def test_room_that_nobody_could_read_refuses_nothing() -> None:
    assert compare(ADDRESSES, (FIRST, replace(SECOND, memory_bytes=None, disk_bytes=None)), NEEDS) == ()


def test_a_clock_is_never_quite_the_same() -> None:
    assert compare(ADDRESSES, (FIRST, replace(SECOND, clock_off_s=1.9)), NEEDS) == ()
