"""What a condition adds to a command is named, and a corrected command starts the same as the script where it holds."""

from __future__ import annotations

import subprocess

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_json import explain_json
from moonpad.report.explain_view import explain_view
from moonpad.report.shell_line import typed_lines
from tests.unit.explain.judging import ask

START = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code --tensor-parallel-size 8 --tool-call-parser kimi"
END = "--enable-auto-tool-choice --reasoning-parser kimi_k2"
SCRIPTS = {
    "an empty array that is filled": f"""A=()
if [ "$ON" = 1 ]; then A=(--max-num-seqs 8); fi
{START} "${{A[@]}}" {END}
""",
    "with a variable": f"""A=()
if [ "$ON" = 1 ]; then A+=(--max-num-seqs "$ON"); fi
{START} "${{A[@]}}" {END}
""",
    "an array that grows twice": f"""A=(--seed 1 {END})
[ -n "$ON" ] && A+=(--max-num-seqs 8)
if [ -n "$ON" ]; then A+=(--no-enable-prefix-caching); fi
{START} "${{A[@]}}"
""",
    "two arrays at one place": f"""A=()
B=()
[ -n "$ON" ] && A=(--max-num-seqs 8)
[ -n "$ON" ] && B=(--seed "two words")
{START} "${{A[@]}}" "${{B[@]}}" {END}
""",
    "a text that grows": f"""X="--seed 1"
if [ -n "$ON" ]; then X="$X --max-num-seqs 8"; fi
{START} $X {END}
""",
    "the whole command": f"""A=({START} {END})
if [ "$ON" = 1 ]; then A+=(--max-num-seqs 8); fi
"${{A[@]}}"
""",
    "an empty text that is filled": f"""X=""
[ -n "$ON" ] && X="--max-num-seqs 8"
{START} $X {END}
""",
    "options where a variable has a value": f"""X="${{ON:-}}"
{START} ${{X:+--max-num-seqs "$X"}} ${{X:+--no-enable-prefix-caching}} {END}
""",
    "a branch of two": f"""A=()
if [ "$ON" = 1 ]; then A=(--max-num-seqs 8); elif [ "$ON" = 2 ]; then A=(--max-num-seqs 9); fi
{START} "${{A[@]}}" {END}
""",
}


def corrected(text: str) -> str:
    (judged,) = ask(text, "8xH200")
    assert judged.layout is not None
    assert judged.layout.tp == 8
    (line,) = judged.corrected
    return "\n".join(typed_lines(line))


def started(text: str, given: dict[str, str]) -> list[str]:
    """The arguments that bash itself starts it with."""
    script = f"vllm() {{ printf '%s\\n' \"$@\"; }}\n{text}"
    environment = {"PATH": "/usr/bin:/bin", **given}
    return subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True).stdout.split("\n")


@pytest.mark.parametrize("given", [{}, {"ON": "1"}, {"ON": "2"}], ids=str)
@pytest.mark.parametrize("text", SCRIPTS.values(), ids=list(SCRIPTS))
def test_the_corrected_command_starts_what_the_script_does(text: str, given: dict[str, str]) -> None:
    above = "".join(line for line in text.splitlines(keepends=True) if not line.startswith((START, '"${A')))
    mended = started(above + corrected(text), given)
    assert mended == ["kimi_k2" if word == "kimi" else word for word in started(text, given)]
    assert mended.count("kimi_k2") == 2


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=list(SCRIPTS))
def test_what_is_added_is_named(text: str) -> None:
    shown = explain_view(ask(text, "8xH200"), read_script(text), 200).plain
    (shown_line,) = [line for line in shown.splitlines() if line.startswith("Judged without what conditions add: ")]
    assert "--max-num-seqs" in shown_line
    (row,) = explain_json(ask(text, "8xH200"), read_script(text))["deployments"]
    assert all(text.splitlines()[each["line"] - 1].count(each["words"].split()[0]) for each in row["left_open"])
    assert row["left_open"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (f'if [ "$ON" = 1 ]; then A=(--seed 3); fi\n{START} "${{A[@]}}" {END}\n', ["--seed 3"]),
        (f'[ "$ON" = 1 ] && A="--seed 3"\n{START} $A {END}\n', ["--seed 3"]),
        (
            f'A=({END})\nif [ $ON ]; then A+=(--seed 3); else A+=(--seed 4); fi\n{START} "${{A[@]}}"\n',
            ["--seed 3", "--seed 4"],
        ),
        (
            f'if [ $ON ]; then A="--enforce-eager"; else A="--seed 4"; fi\n{START} $A {END}\n',
            ["--enforce-eager", "--seed 4"],
        ),
        (f'X=""\nif [ $ON ]; then X="--seed 3"; fi\n{START} $X {END}\n', ["--seed 3"]),
    ],
)
def test_options_in_a_variable_that_stays_are_named(text: str, named: list[str]) -> None:
    (row,) = explain_json(ask(text, "8xH200"), read_script(text))["deployments"]
    assert [each["words"] for each in row["left_open"]] == named
    assert corrected(text).count("$") == 1


@pytest.mark.parametrize(
    "text",
    [
        f'if [ -z "$A" ]; then A="--seed 3"; fi\n{START} $A {END}\n',
        f'H=""\nif [ $RANK != 0 ]; then H="--headless"; fi\n{START} $H {END}\n',
        f"PORT=8000\nif [ $ON ]; then PORT=9000; fi\n{START} --port $PORT {END}\n",
    ],
)
def test_a_value_by_default_and_the_value_of_an_option_are_no_additions(text: str) -> None:
    (row,) = explain_json(ask(text, "8xH200"), read_script(text))["deployments"]
    assert row["left_open"] == []


def test_words_behind_an_addition_are_not_in_its_variable_twice() -> None:
    text = f"""A=(--seed 1)
[ -n "$ON" ] && A+=(--max-num-seqs 8)
A+=({END})
{START} "${{A[@]}}"
"""
    line = corrected(text)
    assert "$" not in line
    assert line.count("--reasoning-parser") == 1
    (judged,) = ask(text, "8xH200")
    assert [each.written for command in judged.sources for each in command.left_open] == [""]


@pytest.mark.parametrize(
    "text",
    [
        f"A=(--seed 1)\n{START} ${{A[@]}} {END}\n",
        f'A=()\nif [ "$ON" = 1 ]; then A=(--seed 1); fi\nA=()\n{START} "${{A[@]}}" {END}\n',
        f'A=()\nif [ "$ON" = 1 ]; then A=(--seed 1); fi\n{START} {END}\n',
        f'A=()\nif [ "$ON" = 1 ]; then A=(--seed 1); else A=(--seed 1); fi\n{START} "${{A[@]}}" {END}\n',
    ],
)
def test_what_no_condition_leaves_open_is_not(text: str) -> None:
    (judged,) = ask(text, "8xH200")
    assert not any(command.left_open for command in judged.sources)
    assert "Judged without" not in explain_view((judged,), read_script(text), 100).plain


def test_what_another_value_of_the_switch_sets_is_named_where_a_default_stands_behind_it() -> None:
    text = f"""if [ "${{WIDE:-0}}" = 1 ]; then
  SHARE="${{SHARE:-0.95}}"
fi
SHARE="${{SHARE:-0.90}}"
{START} --gpu-memory-utilization "$SHARE" {END}
"""
    shown = explain_view(ask(text, "8xH200"), read_script(text), 200).plain
    assert "Judged by the script's own defaults; with WIDE=1: SHARE=0.95 (line 2)" in shown


def test_words_of_a_condition_stand_behind_a_model_that_becomes_the_first_word() -> None:
    text = "vllm serve ${ON:+--enforce-eager} --tensor-parallel-size 8 --model moonshotai/Kimi-K2.5 --trust-remote-code"
    words = " ".join(corrected(f"{text} --tool-call-parser kimi {END}\n").replace("\\\n", "").split())
    assert words.startswith("vllm serve moonshotai/Kimi-K2.5 ${ON:+--enforce-eager} --tensor-parallel-size 8 ")
