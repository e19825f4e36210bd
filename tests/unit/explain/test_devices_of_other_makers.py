"""Weights against the memory of devices that are not planned for: what is proposed has to hold them."""

from __future__ import annotations

import pytest

from moonpad.catalog.other_makers import devices_of_makers
from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Code, Finding, Severity
from tests.unit.explain.judging import ask

R1 = "python3 -m sglang.launch_server --model deepseek-ai/DeepSeek-R1 --trust-remote-code --port 30041"
K25 = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code --port 8041"


def sizes(text: str) -> list[Finding]:
    return [finding for judged in ask(text) for finding in judged.findings if finding.code is Code.DOES_NOT_FIT]


@pytest.mark.parametrize(
    ("devices", "start", "held", "remedy"),
    [
        ("tiles of Intel Max GPUs", R1, "a tile of an Intel Max GPU holds 64 GiB", "--tp-size 16 or more"),
        ("tiles of Intel Max GPUs", f"{R1} --tp-size 8", "a tile of an Intel Max GPU holds 64", "--tp-size 16 or more"),
        ("cards, each an Intel Max 1100", f"{R1} --tp-size 8", "an Intel Max 1100 holds 48", "--tp-size 16 or more"),
        ("Arc Pro B60", f"{K25} --tensor-parallel-size 8", "an Arc Pro B60 holds 24", "--tensor-parallel-size 32 or"),
        ("BW1000", f"{K25} --tensor-parallel-size 4", "a BW1000 holds 64", "--tensor-parallel-size 16 or more"),
        ("Gaudi 2", f"{K25} --tensor-parallel-size 4", "a Gaudi 2 holds 96", "--tensor-parallel-size 8 or more"),
    ],
)
def test_weights_that_no_such_device_holds(devices: str, start: str, held: str, remedy: str) -> None:
    (finding,) = sizes(f"# Our server of {devices}\n\n```bash\n{start}\n```\n")
    assert finding.severity is Severity.WARNING
    assert held in finding.message
    assert remedy in finding.remedy


@pytest.mark.parametrize(
    "text",
    [
        f"# Our server of Gaudi 3\n\n```bash\n{K25} --tensor-parallel-size 8\n```\n",
        f"# Intel Max GPUs, without halves\n\n```bash\n{R1} --tp-size 8\n```\n",
        f"# NVIDIA or Gaudi 2, as you like\n\n```bash\n{K25} --tensor-parallel-size 4\n```\n",
    ],
)
def test_no_such_warning_where_they_hold_them_or_others_may_be_meant(text: str) -> None:
    assert not any("holds 64" in finding.message or "holds 96" in finding.message for finding in sizes(text))


def test_what_is_too_large_is_said_once_in_the_first_line() -> None:
    text = f"# Our server of BW1000\n\n```bash\n{R1} --tp-size 4\n```\n"
    assert verdict(ask(text)[0])[0].count("GiB of weights") == 1


def test_each_kind_has_memory() -> None:
    assert all(row.memory_bytes > row.part_bytes >= 0 for row in devices_of_makers().values())
    assert all(bool(row.part) == bool(row.part_bytes) for row in devices_of_makers().values())
