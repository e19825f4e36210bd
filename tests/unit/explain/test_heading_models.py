"""A command below a heading of one model that starts the model of another heading."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

A, B = "Qwen/Qwen3-8B", "Qwen/Qwen3-32B"


def guide(first: str, *second: str, titles: tuple[str, str] = ("Qwen3-8B on one GPU", "Qwen3-32B on four")) -> str:
    lines = ["# Guide", ""]
    for title, models in ((titles[0], (first,)), (titles[1], second)):
        lines += [f"## {title}", ""]
        for at, model in enumerate(models):
            lines += ["```bash", "# start", f"vllm serve {model} --port 80{at}", "```", ""]
    return "\n".join(lines)


def told(text: str) -> list[str]:
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [finding.remedy for finding in findings if "below the heading" in finding.message]


def test_the_second_command_was_copied() -> None:
    assert told(guide(A, B, A)) == ["write Qwen3-32B"]


@pytest.mark.parametrize(
    "text",
    [
        guide(A, B, B),
        guide(A, A),
        guide(A, B, A, titles=("One GPU", "Four GPUs")),
        guide(A, B, A, titles=("One GPU", "Qwen3-32B")),
        guide(A, B, A, titles=("Qwen3-8B", "Qwen3-32B and Qwen3-8B")),
    ],
)
def test_other_models_below_a_heading(text: str) -> None:
    assert not told(text)
