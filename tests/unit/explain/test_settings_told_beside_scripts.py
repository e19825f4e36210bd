"""Variables that the text sets for a script which stands in it: read where they surely belong to it, else named.

A shell gives `${NAME:-default}` the value that NAME has where the script is started.
"""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from tests.unit.explain.judging import ask

SCRIPT = """#!/bin/bash
EXTRA=${EXTRA:-}
RATIO=${MAMBA_RATIO:-0.86}
python3 -m sglang.launch_server --model-path moonshotai/Kimi-K3 --trust-remote-code --tp-size 8 \\
  --mamba-full-memory-ratio $RATIO $EXTRA
"""
OFFLOAD = """#!/bin/bash
OFFLOAD_ARGS=""
case "${OFFLOADING:-}" in
    "") ;;
    none) ;;
    cpu) OFFLOAD_ARGS="--kv-offloading-backend native --kv-offloading-size 100" ;;
    *) exit 1 ;;
esac
vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 $OFFLOAD_ARGS
"""


def _server(text: str) -> Judged:
    (judged,) = [each for each in ask(text, on="8xB300") if each.layout is not None]
    return judged


def _value(text: str, flag: str) -> str:
    argv = _server(text).commands[0].argv
    return argv[argv.index(flag) + 1] if flag in argv else ""


def _not_read(text: str) -> list[str]:
    return [each.message for each in _server(text).findings if "not read" in each.message]


def _beside(words: str, script: str = SCRIPT, below: str = "") -> str:
    return f"K3\n\n{words}\n\n```bash\n{script}```\n\n{below}\n"


@pytest.mark.parametrize(
    "words",
    [
        "64 concurrent, `MAMBA_RATIO=0.60`:",
        "64 并发，`MAMBA_RATIO=0.60`：",
        "Slow with MAMBA_RATIO=0.60.",
        "| run | `MAMBA_RATIO=0.60` |\n|---|---|",
        "| variable | value |\n|---|---|\n| `MAMBA_RATIO` | 0.60 |",
        "| 变量 | 取值 | 说明 |\n|---|---|---|\n| MAMBA_RATIO | `0.60` | KDA |",
        "```bash\nMAMBA_RATIO=0.60 bash serve.sh 0 host:5000\n```",
        "```bash\nMAMBA_RATIO=0.60 ./serve.sh 0\nMAMBA_RATIO=0.60 ./serve.sh 1\n```",
    ],
)
def test_what_is_told_once_is_what_runs(words: str) -> None:
    assert _value(_beside(words), "--mamba-full-memory-ratio") == "0.60"
    assert not _not_read(_beside(words))


def test_below_the_script_too() -> None:
    assert _value(_beside("", below='`EXTRA="--dcp-size 8"`'), "--dcp-size") == "8"


@pytest.mark.parametrize(
    "words",
    [
        "36 of 64 run with `MAMBA_RATIO=0.60`, all with `MAMBA_RATIO=0.95`.",
        "```bash\nMAMBA_RATIO=0.60 bash serve.sh 0\n```\n\n```bash\nbash serve.sh 0\n```",
    ],
)
def test_what_may_be_of_another_run_is_named(words: str) -> None:
    text = _beside(words)
    assert _value(text, "--mamba-full-memory-ratio") == "0.86"
    (message,) = _not_read(text)
    assert "MAMBA_RATIO=0.60" in message


@pytest.mark.parametrize(
    "words",
    [
        "Set `MAMBA_RATIO=0.60` for short prompts.",
        "You can override it: `MAMBA_RATIO=0.60`.",
        "The default is `MAMBA_RATIO=0.86`; try `MAMBA_RATIO=0.60`.",
        "如果显存不足，设置 `MAMBA_RATIO=0.60`。",
        "MAMBA_RATIO=<ratio>",
        "| variable | default |\n|---|---|\n| `MAMBA_RATIO` | 0.60 |",
    ],
)
def test_advice_is_not_what_runs(words: str) -> None:
    text = _beside(words)
    assert _value(text, "--mamba-full-memory-ratio") == "0.86"
    assert not _not_read(text)


def test_a_script_that_sets_it_itself_runs_with_its_own() -> None:
    script = SCRIPT.replace("RATIO=${MAMBA_RATIO:-0.86}", "MAMBA_RATIO=0.86\nRATIO=$MAMBA_RATIO")
    assert _value(_beside("Slow with `MAMBA_RATIO=0.60`.", script), "--mamba-full-memory-ratio") == "0.86"


def test_of_two_scripts_that_read_it_neither_is_surely_meant() -> None:
    text = _beside("Slow with `MAMBA_RATIO=0.60`.", below=f"```bash\n{SCRIPT.replace('tp-size 8', 'tp-size 4')}```")
    read = [line.argv for each in ask(text, on="8xB300") for line in each.commands]
    assert read
    assert not any("0.60" in argv for argv in read)


@pytest.mark.parametrize(("told", "backend"), [("cpu", "native"), ("none", ""), ("", ""), ("gpu", "")])
def test_the_branch_that_is_told_runs(told: str, backend: str) -> None:
    words = f"Kimi-K2.6, `OFFLOADING={told}`" if told else "Kimi-K2.6"
    assert _value(_beside(words, OFFLOAD), "--kv-offloading-backend") == backend


@pytest.mark.parametrize(
    ("below", "named"),
    [
        ("Run: `--enable-dp-attention --dp-size 8 --ep-size 8`.", True),
        ("You can add `--enable-dp-attention --dp-size 8`.", False),
        ("Run: `--mem-fraction-static 0.8`.", False),
    ],
)
def test_options_below_a_script_that_takes_more(below: str, named: bool) -> None:
    told = _not_read(_beside("", below=below))
    assert bool(told) is named
    assert all("--dp-size 8" in message for message in told)
