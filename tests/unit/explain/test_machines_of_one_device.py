"""Tensor parallelism over machines that hold one device each, and what is proposed for it."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask_one

KIMI = "vllm serve moonshotai/Kimi-K2.6 --trust-remote-code --max-model-len 131072"


def test_it_is_a_note_that_proposes_no_smaller_group() -> None:
    judged = ask_one(f"{KIMI} -tp 8 --distributed-executor-backend ray", "8x1xGB10", "0.26.0")
    (told,) = [each for each in judged.findings if "reaches over machines" in each.message]
    assert (told.severity, told.code) == (Severity.NOTE, Code.SUBOPTIMAL)
    assert "122 all-reduces" in told.message
    assert "tensor-parallel-size 1" not in told.remedy


@pytest.mark.parametrize(
    ("model", "remedy"),
    [
        ("moonshotai/Kimi-K3", ", with pp for the machines"),
        ("moonshotai/Kimi-K2.6", ", with pp or dp for the machines"),
    ],
)
def test_replicas_are_proposed_only_where_a_machine_holds_one(model: str, remedy: str) -> None:
    judged = ask_one(f"vllm serve {model} --trust-remote-code -tp 16", "2x8xH200", "0.30.0")
    (told,) = [each for each in judged.findings if "reaches over machines" in each.message]
    assert (told.severity, told.remedy) == (Severity.WARNING, f"set --tensor-parallel-size 8{remedy}")


@pytest.mark.parametrize(("on", "proposed"), [("8x1xGB10", False), ("8xH200", True)])
def test_a_cache_is_not_shared_out_over_the_network_where_the_context_fits(on: str, proposed: bool) -> None:
    judged = ask_one(f"{KIMI} -tp 8", on, "0.30.0")
    assert any("dcp" in dict(each.changes) for each in judged.better) is proposed
