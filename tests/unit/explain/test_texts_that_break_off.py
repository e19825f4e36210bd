"""Texts that stop inside of a command: an excerpt, a page whose beginning alone is there, a part of a diff."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask

K2 = "vllm serve moonshotai/Kimi-K2-Thinking"
ON = "We serve it on 8xH200:\n\n"
BREAKS = [
    f"{ON}```sh\n{K2} \\\n  --tensor-parallel-size ",
    f"{ON}```sh\n{K2} \\\n  --trust-remote-code \\\n  --enable-auto-tool\n",
    f"{ON}`{K2} \\\n  --trust-remote-code \\\n  --enable-auto-tool",
    f"{ON}{K2} \\\n  --trust-remote-code \\\n  --gpu-memory-util",
    f"{ON}```sh\n{K2} --trust-remote-code --kv-transfer-config '{{\"kv_conn\n\n[...]\n\nIt hangs then.\n",
    f"{ON}```sh\n{K2} --trust-remote-code",
    f"{ON}```sh\n{K2} --trust-remote-code --gpu-memory-utilization\n\n[…]\n\nand so on\n",
]


@pytest.mark.parametrize("text", BREAKS)
def test_what_the_text_does_not_show_is_not_known(text: str) -> None:
    (judged,) = ask(text)
    assert {"tp", "pp", "max_model_len"} <= judged.unknown
    assert judged.memory is None
    assert judged.corrected == ()
    assert not [each for each in judged.findings if each.severity is Severity.ERROR]
    assert "breaks off" in judged.unjudged
    assert not read_script(text).problems


def test_a_layout_that_stands_before_it_is_judged() -> None:
    (judged,) = ask(f"{ON}```sh\n{K2} --tensor-parallel-size 8 --trust-remote-code --enable-auto-t")
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert judged.unknown == {"max_model_len"}
    assert judged.memory is not None
    assert judged.corrected == ()
    assert {each.code for each in judged.findings if each.severity is not Severity.NOTE} <= {Code.INSECURE}


def test_the_last_line_of_a_part_of_a_diff_may_go_on() -> None:
    hunk = f"@@ -18,6 +18,7 @@ The start\n {K2} --trust-remote-code -tp 8 \\\n+    --max-num-seqs 64 \\\n"
    (judged,) = ask(f"{ON}````diff\n{hunk}````\nThe option is not explained.\n")
    assert judged.unknown == {"max_model_len"}
    assert judged.corrected == ()
    assert {each.code for each in judged.findings if each.severity is not Severity.NOTE} <= {Code.INSECURE}


@pytest.mark.parametrize(
    "text",
    [
        f"# 8xH200\n{K2} --trust-remote-code --tensor-parallel-size\n",
        f"{ON}```sh\n{K2} --trust-remote-code --tensor-parallel-size\n```\n",
        f"{ON}```sh\n{K2} --trust-remote-code --tensor-parallel-size\n```\n\n[...]\n\nIt hangs.\n",
        f"{ON}```sh\n{K2} --trust-remote-code --tensor-parallel-size --max-num-seqs 64\n",
    ],
)
def test_a_value_that_a_whole_command_lacks_is_an_error(text: str) -> None:
    errors = [each for judged in ask(text) for each in judged.findings if each.severity is Severity.ERROR]
    assert "--tensor-parallel-size needs a value" in [each.message for each in errors]


@pytest.mark.parametrize("end", ["", "```\n", "\n\nIt answers after ten minutes.\n"])
def test_a_whole_command_is_judged(end: str) -> None:
    whole = f"{K2} --trust-remote-code --enable-auto-tool-choice --tool-call-parser kimi_k2 --tensor-parallel-size 8\n"
    (judged,) = ask(f"{ON}```sh\n{whole}{end}")
    assert judged.unknown == frozenset()
    assert judged.memory is not None


def test_a_quote_that_nothing_closes_is_told_in_a_whole_text() -> None:
    text = f"{ON}```sh\n{K2} --tensor-parallel-size 8 --served-model-name 'kimi\n```\n\n[...]\n"
    assert "this ' is never closed" in [each.message for each in read_script(text).problems]
