"""The remedy of a layout over machines is one that the engine takes: its own answer to it has no error."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one

SGLANG = "sglang serve --model-path moonshotai/Kimi-K3 --nnodes 2 --node-rank 0 --dist-init-addr 10.0.0.1:20000"
VLLM = "vllm serve moonshotai/Kimi-K3 --nnodes 2 --node-rank 0 --master-addr 10.0.0.1"


@pytest.mark.parametrize(
    ("wide", "named", "narrow"),
    [
        (f"{SGLANG} --tp-size 16", "--tp-size 8, with pp for", f"{SGLANG} --tp-size 8 --pp-size 2"),
        (f"{VLLM} -tp 16", "--tensor-parallel-size 8, with pp for", f"{VLLM} -tp 8 -pp 2"),
    ],
)
def test_its_own_answer_has_no_error(wide: str, named: str, narrow: str) -> None:
    told = ask_one(wide, "2x8xH200").findings
    assert any(named in finding.remedy for finding in told)
    made = ask_one(narrow, "2x8xH200").findings
    assert not [finding.message for finding in made if finding.severity is Severity.ERROR]
    assert not any("reaches over machines" in finding.message for finding in made)


@pytest.mark.parametrize(
    ("more", "version", "proposed"),
    [
        ("moonshotai/Kimi-K2.5", "0.5.9", False),  # its class takes stages since 0.5.10
        ("moonshotai/Kimi-K2.5", "0.5.10", True),
        ("deepseek-ai/DeepSeek-R1 --speculative-algorithm EAGLE", "0.5.9", False),  # an assertion of server_args.py
        ("deepseek-ai/DeepSeek-R1", "0.5.9", True),
    ],
)
def test_stages_are_proposed_where_the_release_takes_them(more: str, version: str, proposed: bool) -> None:
    line = f"{SGLANG.replace('moonshotai/Kimi-K3', more)} --tp-size 16"
    told = [each for each in ask_one(line, "2x8xH200", version).findings if "reaches over machines" in each.message]
    assert len(told) == 1
    assert (told[0].remedy.startswith("set ") and " with pp for the machines" in told[0].remedy) is proposed
    assert (told[0].severity is Severity.WARNING) is (proposed or "take SGLang 0.5.10 or newer" in told[0].remedy)
