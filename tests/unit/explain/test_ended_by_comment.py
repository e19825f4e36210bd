"""A comment in the place of the backslash, in commands of other programs; those of engines are read otherwise."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "\nvllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code\n"


def told(text: str) -> list[str]:
    findings = [finding for judged in ask(text + SERVE) for finding in judged.findings]
    return [finding.where for finding in findings if "where the backslash belongs" in finding.message]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("python3 tune.py \\\n  --model m \\\n  --dtype int4  # or int8\n  --tune\n", "--dtype int4 # or int8"),
        ("docker build \\\n  --tag x # ours\n  --file Dockerfile .\n", "--tag x # ours"),
    ],
)
def test_a_comment_ends_the_command(text: str, where: str) -> None:
    assert [" ".join(each.split()) for each in told(text)] == [where]


@pytest.mark.parametrize(
    "text",
    [
        "python3 tune.py \\\n  --model m \\\n  --dtype int4 \\\n  --tune  # last\n",
        "python3 tune.py \\\n  --model m \\\n  --dtype int4  # last\necho done\n",
        "python3 tune.py \\\n  --model m \\\n  --name '#1' \\\n  --tune\n",
        "# usage: tune.py \\\n#   --model m # the model\n#   --tune\n",
        "  --model m  # a list of options\n  --tune     # and what they mean\n",
    ],
)
def test_commands_that_go_on_or_end(text: str) -> None:
    assert not told(text)
