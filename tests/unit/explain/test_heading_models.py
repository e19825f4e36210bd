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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# How to run Kimi-K2-Thinking\n\n```\nvllm serve moonshotai/Kimi-K2-Instruct -tp 16\n```\n", True),
        ("# Kimi K2 Thinking\n\n## Start\n\n```\nvllm serve moonshotai/Kimi-K2-Instruct -tp 16\n```\n", True),
        (
            "## Qwen3-235B-A22B-Instruct-2507\n\n```\nvllm serve Qwen/Qwen3-235B-A22B-Thinking-2507 -tp 8\n```\n",
            True,
        ),
        ("# How to run Kimi-K2-Instruct\n\n```\nvllm serve moonshotai/Kimi-K2-Instruct -tp 16\n```\n", False),
        ("# Kimi-K2\n\nThinking\n\n```\nvllm serve moonshotai/Kimi-K2-Instruct -tp 16\n```\n", False),
        (
            "# Kimi-K2-Thinking\n\nFirst the same with Kimi K2 Instruct:\n\n"
            "```\nvllm serve moonshotai/Kimi-K2-Instruct -tp 16\n```\n",
            False,
        ),
        (
            "# Kimi-K2-Thinking and Kimi-K2-Instruct\n\n```\nvllm serve moonshotai/Kimi-K2-Instruct -tp 16\n```\n",
            False,
        ),
        ("```\nvllm serve moonshotai/Kimi-K2-Instruct -tp 16\n```\n\n# Kimi-K2-Thinking\n", False),
        ("## Kimi-K2-Thinking\n\n## More\n\n```\nvllm serve moonshotai/Kimi-K2-Instruct -tp 16\n```\n", False),
    ],
)
def test_the_other_kind_of_a_model_below_its_heading(text: str, told: bool) -> None:
    (judged,) = ask(text, on="")
    found = [each for each in judged.findings if "and the command starts another model" in each.message]
    assert [each.severity for each in found] == ["warning"] * told
