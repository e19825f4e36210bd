"""Two blanks behind a backslash are a line break of Markdown where sentences end with them, or ranks have logged."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script

SERVE = "```\nvllm serve moonshotai/Kimi-K2.5 \\{0}\n  --tensor-parallel-size 8 \\{0}\n  --trust-remote-code\n```\n"
SENTENCE = "It has a large pool of experts and a small layer:"
RANK = "```\n(Worker_TP3 pid=9356) ERROR 03-01 06:39:51 [multiproc_executor.py:783] RuntimeError: it stopped\n```\n"


def _told(text: str) -> list[str]:
    return [problem.code for problem in read_script(text).problems]


@pytest.mark.parametrize(
    "beside",
    [f"{SENTENCE}  \n\n", RANK, "模型的专家很多，每个专家的隐藏层却很小，所以才这样部署，请看下面的命令：  \n\n"],
)
def test_the_author_had_none_of_them(beside: str) -> None:
    assert not _told(SERVE.format("  ") + beside)


@pytest.mark.parametrize(
    "text",
    [
        SERVE.format("  ") + f"{SENTENCE}\n",
        SERVE.format(" ") + f"{SENTENCE}  \n",
        SERVE.format("   ") + RANK,
        SERVE.format("  ") + "```\nEngineCore_DP0 started\n```\n",
    ],
)
def test_the_shell_of_the_author_read_them(text: str) -> None:
    assert set(_told(text)) == {"space-after-backslash"}
