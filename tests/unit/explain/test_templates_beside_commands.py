"""A command whose model and options are to be filled in, among others of the text."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

PROGRAM = "python3 -m vllm.entrypoints.openai.api_server"
OTHER = "## Kimi K2.5 (4x RTX PRO 6000)\n\n```bash\nvllm serve moonshotai/Kimi-K2.5 -tp 4 --trust-remote-code\n```\n"


def template(model: str, rest: str) -> str:
    return f"## Usage on 4x RTX PRO 6000\n\n```bash\n{PROGRAM} --model {model} {rest}\n```\n\n"


@pytest.mark.parametrize("model", ["<model-path>", "<MODEL>", "<your model>"])
@pytest.mark.parametrize("rest", ["<additional flags>", "<your other options>", "[more arguments]", "..."])
def test_a_template_gets_no_model_of_other_commands(model: str, rest: str) -> None:
    first, second = ask(template(model, rest) + OTHER)
    assert first.checkpoint is None
    assert not any(each.severity.value in ("error", "warning") for each in first.findings)
    assert second.checkpoint is not None
    assert second.checkpoint.name == "moonshotai/Kimi-K2.5"


@pytest.mark.parametrize(("model", "rest"), [("<model-path>", "-tp 4"), ("moonshotai/Kimi-K2.5", "<additional flags>")])
def test_half_a_template_is_none(model: str, rest: str) -> None:
    assert ask(template(model, rest) + OTHER)[0].checkpoint is not None


def test_alone_it_is_of_the_model_that_the_text_names() -> None:
    (judged,) = ask("# How to serve Kimi-K2.5\n\n" + template("<model-path>", "<additional flags>"))
    assert judged.checkpoint is not None
