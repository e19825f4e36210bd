"""What stopped an attempt, in a part of its own, did not stop the command whose log shows that it serves."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

ERROR = "```text\nTypeError: scale_rows() got an unexpected keyword argument 'target_width'\n```\n\n"
SERVE = "```bash\npython3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 8\n```\n\n"
UP = "```text\nThe server is fired up and ready to roll!\n```\n"


def stopped(text: str) -> bool:
    return any("the engine stopped" in each.message for one in ask(text, on="8xH200") for each in one.findings)


@pytest.mark.parametrize("title", ["Failed paths", "Earlier attempts", "What did not work"])
def test_attempt_is_not_this_start(title: str) -> None:
    assert not stopped(f"# Log\n\n## {title}\n\n{ERROR}## The path that is used\n\n{SERVE}{UP}")


@pytest.mark.parametrize(
    "text",
    [
        f"# Log\n\n## Failed paths\n\n{ERROR}## The path that is used\n\n{SERVE}",
        f"# Bug\n\n## Describe the bug\n\n{ERROR}## Reproduction\n\n{SERVE}{UP}",
        f"# Bug\n\n## Failed start\n\n{ERROR}{SERVE}{UP}",
    ],
    ids=["no log", "a report", "one part"],
)
def test_it_may_be_of_this_start(text: str) -> None:
    assert stopped(text)
