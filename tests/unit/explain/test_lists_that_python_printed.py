"""A command inside a list as Python prints it: its quotes are escaped there, and not for a shell."""

from __future__ import annotations

import ast

import pytest

from tests.unit.explain.judging import ask_one, refused, summary

COMMAND = (
    "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp-size 8 --trust-remote-code "
    """--model-loader-extra-config '{"enable_multithread_load": true}' --tool-call-parser kimi_k2"""
)


@pytest.mark.parametrize("label", ["launcher_cmd: ", "", "INFO args = "])
def test_it_is_read_as_what_it_prints(label: str) -> None:
    printed = f"{label}{[COMMAND]!r}"
    assert ast.literal_eval(printed[len(label) :]) == [COMMAND]
    judged, plain = ask_one(printed, version="0.5.23"), ask_one(COMMAND, version="0.5.23")
    assert summary(judged) == summary(plain)
    assert not refused(judged)


def test_a_list_without_a_server_stays_as_it_is() -> None:
    text = f"names: ['it\\'s']\n{COMMAND}"
    assert summary(ask_one(text, version="0.5.23")) == summary(ask_one(COMMAND, version="0.5.23"))
