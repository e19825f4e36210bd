"""What a caller hands on stays what it is in the corrected command, as bash itself reads it."""

from __future__ import annotations

import subprocess

import pytest

from moonpad.catalog.calibrations import calibrations
from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.report.shell_line import typed_lines

SERVE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8"


def arguments(text: str, *caller: str) -> list[str]:
    """Those that bash gives to the program, of this script run by such a caller."""
    stub = "vllm() { printf '%s\\n' \"$@\"; }\n"
    ran = subprocess.run(["bash", "-c", stub + text, "script", *caller], capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


def corrected(text: str) -> str:
    (judged,) = judge(read_script(text), Question(settings={"pp": "1"}), calibrations())
    assert judged.corrected
    return "\n".join(typed_lines(judged.corrected[0])) + "\n"


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("", '"$@"'),
        ("", "$@"),
        ("", '"${@:2}"'),
        ("", "$*"),
        ('X=(); if [ "$1" = a ]; then X+=(--seed 1); else X+=(--seed 2); fi\n', '"${X[@]}"'),
        ('X=(--port 8001); if [ "$1" = a ]; then X+=(--seed 1); else X+=(--seed 2); fi\n', '"${X[@]}"'),
        ('X=(--port 1); if [ "$1" = a ]; then X+=(--seed 1); else X+=(--seed 2); fi; X+=(--api-key k)\n', '"${X[@]}"'),
        pytest.param(
            'case "$1" in a) X=(--seed 1);; *) X=(--seed 2 --port 3);; esac\n',
            '"${X[@]}"',
            marks=pytest.mark.xfail(strict=True, reason="of a case the branch without an argument alone is corrected"),
        ),
    ],
)
def test_handed_on_by_bash(before: str, behind: str) -> None:
    text = f"{before}{SERVE} {behind}\n"
    given = arguments(text, "a", "--max-num-seqs", "4")
    assert given[: len(given)] == arguments(before + corrected(text), "a", "--max-num-seqs", "4")[: len(given)]


@pytest.mark.parametrize(
    "value",
    [
        "/opt/lib:${LD_LIBRARY_PATH:-}",
        "/opt/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}",
        "/opt/lib${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}",
        "/opt/lib:$LD_LIBRARY_PATH",
    ],
)
def test_the_callers_folders_stay(value: str) -> None:
    shown = corrected(f"export LD_LIBRARY_PATH={value}\n{SERVE}\n")
    program = "vllm() { echo $LD_LIBRARY_PATH; }\nLD_LIBRARY_PATH=/of/caller\n"
    ran = subprocess.run(["bash", "-c", program + shown], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "/opt/lib:/of/caller"


def test_a_default_that_is_empty_stays_empty() -> None:
    shown = corrected(f"export VLLM_CACHE_ROOT=/x${{SUFFIX:-}}\n{SERVE}\n")
    assert shown.startswith('VLLM_CACHE_ROOT="/x${SUFFIX:-}" ')
