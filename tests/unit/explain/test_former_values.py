"""Values in the form that they had before the releases that are recorded."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one

SERVE = "docker run vllm/vllm-openai:v{} --model moonshotai/Kimi-VL-A3B-Thinking --limit-mm-per-prompt {}"


@pytest.mark.parametrize(
    ("version", "value", "refused"),
    [
        ("0.8.4", "image=256", False),
        ("0.9.2", "image=16,video=2", False),
        ("0.10.0", "image=256", True),
        ("0.19.0", "image=256", True),
        ("0.8.4", "image=many", True),
        ("0.9.2", "images", True),
    ],
)
def test_counts_by_name(version: str, value: str, refused: bool) -> None:
    judged = ask_one(SERVE.format(version, value))
    errors = [each.finding for each in judged.remarks if each.finding.severity is Severity.ERROR]
    assert any("--limit-mm-per-prompt does not take" in finding.message for finding in errors) is refused


@pytest.mark.parametrize(
    ("version", "value", "refused"),
    [
        ("0.19.0", "image=${IMAGES}", True),
        ("0.19.0", "${KIND}=${IMAGES},video=0", True),
        ("0.9.2", "image=${IMAGES}", False),
        ("0.19.0", "${LIMITS}", False),
        ("0.19.0", '{"image": $IMAGES}', False),
    ],
)
def test_counts_by_name_whose_numbers_are_in_variables(version: str, value: str, refused: bool) -> None:
    judged = ask_one(SERVE.format(version, f"'{value}'" if '"' in value else value))
    messages = [finding.message for finding in judged.findings if finding.severity is Severity.ERROR]
    assert any("--limit-mm-per-prompt does not take" in message for message in messages) is refused


def test_counts_by_name_that_a_program_puts_together() -> None:
    program = """import subprocess
LIMITS = {"image": 32}
command = ["vllm", "serve", "moonshotai/Kimi-VL-A3B-Thinking"]
for kind, most in LIMITS.items():
    command.extend(["--limit-mm-per-prompt", f"{kind}={most}"])
subprocess.run(command)
"""
    (finding,) = [each for each in ask_one(program).findings if each.where == "--limit-mm-per-prompt"]
    assert "as JSON" in finding.remedy
