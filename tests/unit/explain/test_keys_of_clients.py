"""A client's key of a hosted service is no variable of the server that a later command of the guide starts."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

SERVE = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code"
GUIDE = "# Setup\n\nUse the API:\n\n```bash\nexport {name}={value}\n```\n\nOr on 8 x H200:\n\n```bash\n{serve}\n```\n"
KEY = "your-api-key-here"


@pytest.mark.parametrize("name", ["MOONSHOT_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
@pytest.mark.parametrize("text", [GUIDE, "export {name}={value}\n{serve}\n"])
def test_it_is_neither_filled_in_nor_in_the_corrected_command(name: str, text: str) -> None:
    judged = ask_one(text.format(name=name, value=KEY, serve=SERVE))
    assert not any("to be filled in" in each.message for each in judged.findings)
    assert judged.corrected
    assert all(name not in line.env for line in judged.corrected)


@pytest.mark.parametrize("name", ["VLLM_API_KEY", "HF_TOKEN", "API_KEY"])
def test_a_key_of_the_server_is_kept(name: str) -> None:
    judged = ask_one(f"export {name}={KEY}\n{SERVE}\n")
    assert any("to be filled in" in each.message and name in each.message for each in judged.findings)
    assert all(name in line.env for line in judged.corrected)


def test_one_that_is_set_for_the_server_alone_is_kept() -> None:
    (line,) = ask_one(f"OPENAI_API_KEY={KEY} {SERVE}\n").corrected
    assert "OPENAI_API_KEY" in line.env


def test_one_that_the_server_takes_as_its_own_is_to_be_filled_in() -> None:
    judged = ask_one(f'export OPENAI_API_KEY={KEY}\n{SERVE} --api-key "$OPENAI_API_KEY"\n')
    assert any("to be filled in" in each.message for each in judged.findings)
