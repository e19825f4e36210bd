"""What is told of a release from before the one that a fault was seen in, and of kernels that are asked for by name."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity

from .judging import ask_one

K3 = "vllm serve moonshotai/Kimi-K3 --trust-remote-code --tensor-parallel-size 16 --data-parallel-size 2"
DRAFT = """--speculative-config '{"method":"dspark","model":"Inferact/Kimi-K3-DSpark","num_speculative_tokens":7}'"""


def severity_of(text: str, version: str, words: str) -> Severity:
    judged = ask_one(text, "4x8xH200", version)
    (told,) = [each.severity for each in judged.findings if words in each.message]
    return told


@pytest.mark.parametrize(("version", "severity"), [("0.27.0", Severity.NOTE), ("0.28.0", Severity.WARNING)])
def test_by_its_date_alone_an_older_release_may_have_it(version: str, severity: Severity) -> None:
    """https://github.com/vllm-project/vllm/pull/55924 is of the time of 0.28.0."""
    assert severity_of(f"{K3} {DRAFT}", version, "KDA kernels end in Triton Error") is severity


@pytest.mark.parametrize(("option", "severity"), [("", Severity.WARNING), (" --moe-backend marlin", Severity.NOTE)])
def test_a_backend_that_was_chosen_is_known_to_whoever_chose_it(option: str, severity: Severity) -> None:
    assert severity_of(f"{K3}{option}", "0.28.0", "(Marlin)") is severity
