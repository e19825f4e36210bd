"""Engines of one machine: methods of experts, and chat templates."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask_one

KT = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --kt-cpuinfer 64 --kt-num-gpu-experts 8"
LLAMA = "llama-server -m /models/Kimi-K2.6-UD-Q2_K_XL-00001-of-00008.gguf"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--kt-method RAWINT4 --kt-weight-path moonshotai/Kimi-K2.5", []),
        ("--kt-method FP8_PERCHANNEL --kt-weight-path moonshotai/Kimi-K2.5", [Severity.WARNING]),
        ("--kt-method FP8 --kt-weight-path moonshotai/Kimi-K2.5", [Severity.WARNING]),
        ("--kt-method BF16 --kt-weight-path moonshotai/Kimi-K2.5", [Severity.WARNING]),
        ("--kt-method AMXINT4 --kt-weight-path /converted", []),
        ("--kt-method FP8 --kt-weight-path /converted", []),
        ("--kt-method $METHOD --kt-weight-path moonshotai/Kimi-K2.5", []),
    ],
)
def test_methods(options: str, expected: list[Severity]) -> None:
    one = ask_one(f"{KT} {options}", "8xRTX5090")
    of_releases = (Code.KNOWN_REPORT, Code.MENDED_LATER)
    found = [finding for finding in one.findings if finding.where == "--kt-method" and finding.code not in of_releases]
    assert [finding.severity for finding in found] == expected
    if expected:
        assert "RAWINT4" in one.corrected[0].argv


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (f"{LLAMA} --jinja --chat-template Kimi.jinja", "--chat-template-file"),
        (f"{LLAMA} --chat-template /models/template.j2", "--chat-template-file"),
        (f"{LLAMA} --chat-template deepseek3", "leave it out"),
        (f"{LLAMA} --chat-template kimi-k2", ""),
        (f"{LLAMA} --chat-template-file Kimi.jinja", ""),
        ("llama-server -m /models/DeepSeek-R1-Q4_K_M.gguf --chat-template deepseek3", ""),
        (f"{LLAMA} --chat-template '{{% for m in messages %}}x.jinja{{% endfor %}}'", ""),
        ("vllm serve moonshotai/Kimi-K2.5 -tp 8 --chat-template kimi.jinja", ""),
    ],
)
def test_templates(command: str, expected: str) -> None:
    one = ask_one(command, "")
    found = [finding.remedy for finding in one.findings if finding.where == "--chat-template"]
    assert bool(found) == bool(expected)
    assert all(expected in remedy for remedy in found)
