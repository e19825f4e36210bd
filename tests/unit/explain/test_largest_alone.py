"""Layouts whose weights only the very largest devices hold."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code"


def found(text: str, on: str = "") -> list[Finding]:
    return [each for one in ask(text, on) for each in one.findings if "of the devices known only" in each.message]


@pytest.mark.parametrize("text", [f"{SERVE} -tp 4", f"Any GPU will do.\n\n```bash\n{SERVE} -tp 2 -pp 2\n```\n"])
def test_few_devices_hold_it(text: str) -> None:
    (finding,) = found(text)
    assert finding.severity is Severity.WARNING
    assert "B300" in finding.message
    assert "H200" not in finding.message


@pytest.mark.parametrize(
    "text",
    [
        f"{SERVE} -tp 8",
        f"# on B300\n{SERVE} -tp 4",
        SERVE.replace("Instruct", "Thinking") + " -tp 4",
        "vllm serve /models/kimi-k2 -tp 4",
        f"{SERVE} -tp 4 --cpu-offload-gb 100",
        f"{SERVE} -tp $TP",
    ],
)
def test_many_do_or_it_is_not_known(text: str) -> None:
    assert found(text) == []


def test_where_the_devices_are_known_the_memory_is_judged() -> None:
    assert found(f"{SERVE} -tp 4", on="4xB200") == []


NPUS = "vllm serve Kimi-K2-Base --enable-expert-parallel --gpu-memory-utilization 0.9"


@pytest.mark.parametrize(
    ("layout", "meant"),
    [("--tensor-parallel-size 16", "32 or more, for"), ("--tensor-parallel-size 8 --pipeline-parallel-size 2", "16")],
)
def test_share_of_the_memory_that_may_be_used(layout: str, meant: str) -> None:
    (finding,) = found(f"# vllm-ascend v0.17.0rc1, NPUs\nexport HCCL_IF_IP=1.2.3.4\n{NPUS} {layout}\n")
    assert "in 0.9 of the memory" in finding.message
    assert f"--tensor-parallel-size {meant}" in finding.remedy
    assert "32" in finding.remedy


def test_more_npus_hold_it() -> None:
    assert found(f"# vllm-ascend v0.17.0rc1, NPUs\nexport HCCL_IF_IP=1.2.3.4\n{NPUS} --tensor-parallel-size 32\n") == []


def test_default_share_counts_and_remedy_names_the_memory() -> None:
    (finding,) = found(f"Any GPU will do.\n\n```bash\n{SERVE} -tp 2 -pp 2\n```\n")
    assert "MI325X" not in finding.message  # 256 GB, of which 0.92 are 235 GiB
    assert "8 devices with the memory of H200 or more" in finding.remedy
