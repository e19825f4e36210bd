"""Sentences that name a server and start none, and sentences that go on behind a command."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

START = "llama-server -m a.gguf --port 8000"


def servers(text: str) -> list[list[str]]:
    commands = read_script(text).commands
    return [[word.text for word in command.argv] for command in commands if command.program == "llama-server"]


@pytest.mark.parametrize(
    "text",
    [
        "llama-server DSV_EXPERTS=1 (256 experts, 64 on each)\n",
        "llama-server still reuses a prefix by default — with -np 1 and a cache\n",
        "llama-server lacks required --cache-ram support\n",
        "llama-server did not report its model -- see the log\n",
        "llama-server --version` exits 0\n",
        "| `llama-server -h \\| grep cache` | empty |\n",
        "systemctl status llama-server --no-pager\n",
        "Get-Process llama-server -ErrorAction SilentlyContinue\n",
    ],
)
def test_no_start(text: str) -> None:
    assert servers(text) == []


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        (f"{START}. Then reduce the batch\n", START.split()[1:]),
        (f"{START}\n", START.split()[1:]),
        (f"{START} works?\n", START.split()[1:]),
        (f"{START} --jinja does that fit??\n", [*START.split()[1:], "--jinja"]),
        (f"{START} and it crashes after a while.\n", START.split()[1:]),
        (f"{START} --jinja but nothing comes back\n", [*START.split()[1:], "--jinja"]),
        (f"{START} --api-key open\n", [*START.split()[1:], "--api-key", "open"]),
        (f"{START} --lora-scaled a b\n", [*START.split()[1:], "--lora-scaled", "a", "b"]),
        ("llama-server DSV_EXPERTS=1 -m a.gguf\n", ["DSV_EXPERTS=1", "-m", "a.gguf"]),
        ("llama-server serve -m a.gguf\n", ["serve", "-m", "a.gguf"]),
    ],
)
def test_start(text: str, argv: list[str]) -> None:
    assert servers(text) == [argv]


def test_value_of_comment_that_goes_on() -> None:
    text = (
        '# vllm serve org/model --max-model-len 4096 --kv-transfer-config \'{"kv_connector":"X",\n'
        '#   "kv_role":"kv_both"}\'\n'
    )
    assert not [
        f for judged in ask(text) for f in judged.findings if "JSON" in f.message or "does not take" in f.message
    ]


def test_choice_in_braces() -> None:
    text = "vllm serve org/model --max-num-seqs {64|128} --port 8000\n"
    assert not [f for judged in ask(text) for f in judged.findings if "does not take" in f.message]
