"""What is said of hosts that differ: two sets of facts, one field apart (fault 33)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from moonpad.values.finding import Code, Severity
from moonpad.values.host import HostFacts, compare

ADDRESSES = {"node-0": "10.0.0.1", "node-1": "10.0.0.2"}
FIRST = HostFacts("node-0", "alpha", {"vllm": "0.32.0", "torch": "2.13.0"}, "nvidia 580.1", "d1", 0.0, True, "eth0", "")
SECOND = replace(FIRST, node="node-1", host="beta")


def test_equal_hosts_are_fine() -> None:
    assert compare(ADDRESSES, (FIRST, SECOND)) == ()


@pytest.mark.parametrize(
    ("field", "value", "severity", "code", "words"),
    [
        ("engine", {"vllm": "0.31.0", "torch": "2.13.0"}, "error", "hosts-differ", "vllm 0.31.0 against 0.32.0"),
        ("engine", {"torch": "2.13.0"}, "error", "hosts-differ", "vllm none against 0.32.0"),
        ("engine", None, "error", "engine-missing", "no engine"),
        ("driver", "nvidia 570.9", "warning", "hosts-differ", "driver nvidia 570.9, on alpha nvidia 580.1"),
        ("driver", None, "warning", "hosts-differ", "driver none"),
        ("checkpoint", "d2", "error", "hosts-differ", "another checkpoint than on alpha"),
        ("checkpoint", None, "error", "checkpoint-missing", "no checkpoint"),
        ("clock_off_s", -7.26, "warning", "hosts-differ", "-7.3 s off that of alpha"),
        ("has_address", False, "error", "hosts-differ", "10.0.0.2 is no address of beta"),
        ("trouble", "timed out", "error", "hosts-differ", "cannot reach alpha: timed out"),
    ],
)
def test_one_field_differs(field: str, value: Any, severity: str, code: str, words: str) -> None:
    (finding,) = compare(ADDRESSES, (FIRST, replace(SECOND, **{field: value})))
    assert (finding.severity, finding.code) == (Severity(severity), Code(code))
    assert words in finding.message
    assert finding.where == "node-1"
    assert finding.remedy


def test_a_clock_is_never_quite_the_same() -> None:
    assert compare(ADDRESSES, (FIRST, replace(SECOND, clock_off_s=1.9))) == ()
