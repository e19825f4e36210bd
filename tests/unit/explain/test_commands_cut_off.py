"""Texts that end in the middle of a command, behind a backslash."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_verdict import verdict
from tests.unit.explain.judging import ask

CUT = "vllm serve moonshotai/Kimi-K2-Thinking \\\n  --trust-remote-code \\\n  --enable-auto-tool-choice \\\n"


@pytest.mark.parametrize(
    "text",
    [
        f"# 8xH200\n{CUT}",
        f"# 8xH200\n{CUT.rstrip()}",
        f"Our start on 8xH200:\n\n```sh\n{CUT}",
        f"Our start on 8xH200:\n\n```sh\n{CUT}```\n",
        f"Our start on 8xH200:\n\n{CUT}\n\n",
    ],
)
def test_what_is_cut_off_is_not_known(text: str) -> None:
    (judged,) = ask(text)
    assert {"tp", "pp", "max_model_len"} <= judged.unknown
    assert judged.memory is None
    assert judged.corrected == ()
    assert judged.better == ()
    assert "cut off behind a backslash" in verdict(judged)[0]
    assert not any("--tool-call-parser" in finding.message for finding in judged.findings)


def test_of_a_layout_that_is_there_the_context_is_not_known() -> None:
    (judged,) = ask(f"# 8xH200\n{CUT}  --tensor-parallel-size 8 \\\n")
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert judged.unknown == {"max_model_len"}
    assert judged.memory is not None
    assert judged.corrected == ()


@pytest.mark.parametrize(
    "text",
    [
        f"# 8xH200\n{CUT}  --tool-call-parser kimi_k2 --tensor-parallel-size 8\n",
        f"On 8xH200:\n\n```sh\n{CUT}  --tool-call-parser kimi_k2 --tensor-parallel-size 8 \\\n```\n\nIt works.\n",
        f"On 8xH200:\n\n```sh\n{CUT}  --tool-call-parser kimi_k2 --tensor-parallel-size 8 \\\n```\n",
        f"# 8xH200\n{CUT}  --tool-call-parser kimi_k2 --tensor-parallel-size 8\necho \\\n",
    ],
)
def test_a_whole_command_is_judged(text: str) -> None:
    judged = next(each for each in ask(text) if each.layout is not None)
    assert judged.unknown == frozenset()
    assert judged.memory is not None


def test_a_tick_in_front_of_code_opens_nothing() -> None:
    text = "prefill:\n\n`PORT=30000\n\nlocal_ip=`xxx`\n\nvllm serve /model --tensor-parallel-size 8 --port $PORT\n"
    assert not [problem for problem in read_script(text).problems if "never closed" in problem.message]
    kept = read_script("local_ip=`hostname -I\n\nvllm serve /model --tensor-parallel-size 8\n").problems
    assert [problem.line for problem in kept if "never closed" in problem.message] == [1]
