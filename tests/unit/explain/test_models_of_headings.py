"""Of a page whose heading names one model of the family, a reference to another is not the command's model."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "```bash\nvllm serve <model-path> --tensor-parallel-size 16 --trust-remote-code\n```\n"


def named_models(text: str) -> list[str]:
    return [judged.checkpoint.name if judged.checkpoint is not None else "" for judged in ask(f"8 x H200.\n{text}")]


@pytest.mark.parametrize(
    "reference",
    [
        "> See also: the Kimi-K2.5 configuration `Kimi-K2_5-W4A8-A2-dual-nodes.yaml`",
        "The layout is similar to that of Kimi-K2.5.",
        "参考：Kimi-K2.5 部署配置",
        "### Baseline\n\nKimi-K2.6 reaches 40 tok/s.",
    ],
)
def test_a_reference_to_another_model(reference: str) -> None:
    text = f"# Kimi K3\n\n{SERVE}\n{reference}\n\n## More nodes\n\n{SERVE}"
    assert named_models(text) == ["moonshotai/Kimi-K3"] * 2


def test_a_file_of_another_model_right_before_the_command() -> None:
    text = f"# Kimi K3\n\n## More nodes\n\n> See also: `Kimi-K2_5-A2.yaml`, Kimi-K2.5\n\n{SERVE}"
    assert named_models(text) == ["moonshotai/Kimi-K3"]


@pytest.mark.parametrize(
    ("text", "model"),
    [
        (f"# Kimi K3\n\n## The older one\n\nFor Kimi-K2.5 it is:\n\n{SERVE}", "moonshotai/Kimi-K2.5"),
        (f"# Kimi K3\n\n## Kimi-K2.6\n\n{SERVE}", "moonshotai/Kimi-K2.6"),
        (f"# Kimi K2\n\n## Files\n\nof Kimi-K2-Thinking\n\n## Go\n\n{SERVE}", "moonshotai/Kimi-K2-Thinking"),
        (f"# Kimi K2\n\n## Weights\n\nKimi-K2.5, 595 GB\n\n## Start\n\n{SERVE}", "moonshotai/Kimi-K2.5"),
        (f"# Kimi K3 or Kimi-K2.6\n\n## Why\n\nKimi-K2.6 is small.\n\n## Go\n\n{SERVE}", "moonshotai/Kimi-K2.6"),
    ],
)  # fmt: skip
def test_what_a_section_is_about(text: str, model: str) -> None:
    assert named_models(text) == [model]
