"""Data-parallel ranks of experts with the executor of Ray: over several machines Ray has to start them too."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask

START = "vllm serve moonshotai/Kimi-K2.6 --trust-remote-code --distributed-executor-backend ray"
EXPERTS = "--enable-expert-parallel"


def told(text: str, on: str = "4x8xH200", version: str = "0.22.0") -> list[Finding]:
    found = [finding for judgement in ask(text, on, version) for finding in judgement.findings]
    return [each for each in found if each.where == "--data-parallel-backend" and "DistStoreError" in each.message]


def test_ranks_that_the_head_takes_for_its_own() -> None:
    (finding,) = told(f"{START} -tp 8 -dp 4 {EXPERTS}")
    assert "4 data-parallel ranks, 32 devices in all" in finding.message
    assert finding.remedy == "add --data-parallel-backend ray"


def test_the_corrected_command_starts_them_by_ray() -> None:
    (judgement,) = ask(f"{START} -tp 8 -dp 4 {EXPERTS}", "4x8xH200", "0.22.0")
    assert judgement.corrected is not None
    assert "--data-parallel-backend ray" in str(judgement.corrected).replace("', '", " ")


@pytest.mark.parametrize(
    "options",
    [
        f"-tp 8 -dp 4 {EXPERTS} --data-parallel-backend ray",
        f"-tp 8 -dp 4 {EXPERTS} --data-parallel-size-local 1 --data-parallel-address 10.0.0.1",
        "-tp 8 -dp 4",
        f"-tp 32 {EXPERTS}",
        f"-tp 4 -dp 2 {EXPERTS}",
    ],
)
def test_other_layouts(options: str) -> None:
    assert told(f"{START} {options}") == []


def test_one_machine_and_mp() -> None:
    assert told(f"{START} -tp 4 -dp 2 {EXPERTS}", "8xH200") == []
    assert told(f"{START.replace(' ray', ' mp')} -tp 8 -dp 4 {EXPERTS}") == []
    assert told(f"{START} -tp 8 -dp 4 {EXPERTS}", version="0.9.1") == []
