"""An option that older builds read without a value, in a command for a model that came after those builds."""

from __future__ import annotations

import pytest

from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

START = "./llama-server --model /w/{} --port 8077 --ctx-size 32768 --n-gpu-layers 99 {} --metrics"
K25 = "Kimi-K2.5-UD-Q4_K_XL-00001-of-00013.gguf"
R1 = "DeepSeek-R1-UD-Q2_K_XL-00001-of-00005.gguf"


@pytest.mark.parametrize("option", ["--flash-attn", "-fa"])
def test_builds_that_read_it_so_are_older_than_the_model(option: str) -> None:
    (judged,) = ask(START.format(K25, option), "8xH200")
    (finding,) = [each for each in judged.findings if "needs a value" in each.message]
    assert finding.severity is Severity.WARNING
    assert "builds before b6325" in finding.message
    assert verdict(judged)[0].startswith("Will likely fail: ")
    assert any(option in line.argv and "on" in line.argv for line in judged.corrected)


def test_of_an_older_model_an_older_build_may_be_meant() -> None:
    (judged,) = ask(START.format(R1, "--flash-attn"), "8xH200")
    (finding,) = [each for each in judged.findings if "needs a value" in each.message]
    assert "not recorded" in finding.message
    assert not verdict(judged)[0].startswith("Will likely fail")
