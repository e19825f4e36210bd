"""Lists of `pattern=buffer`, and of numbers, with blanks at their commas."""

from __future__ import annotations

import re
import shlex

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask

START = "llama-server -m /w/Kimi-K2-Instruct-IQ4_XS.gguf -ngl 99 --port 8080 "
TENSORS = ("blk.3.ffn_up_exps.weight", "blk.7.ffn_down_exps.weight", "blk.9.ffn_gate_exps.weight")


def found(options: str, start: str = START) -> list[Finding]:
    judged = ask(f"{start}{options}\n", "", "b11434")
    return [each for one in judged for each in one.findings if "comma" in each.message]


@pytest.mark.parametrize(
    "options",
    [
        r'-ot "blk\.3\.ffn_up_exps=CUDA0, ffn_.*_exps=CPU"',
        r"--override-tensor 'blk\.3\..*=CUDA0,   exps=CPU'",
        '-ot " exps=CPU"',
        '-ot "up_exps=CPU, (up|gate)_exps=CPU"',
        '-ot a=CUDA0 -ot "up_exps=CPU, gate_exps=CPU"',
    ],
)
def test_in_quotes_the_blank_belongs_to_the_pattern(options: str) -> None:
    (finding,) = found(options)
    assert finding.severity.value == "warning"
    lists = [word for word in shlex.split(options) if "=" in word]
    blank = [part.partition("=")[0] for each in lists for part in each.split(",") if part.startswith(" ")]
    assert not any(re.search(pattern, name) for pattern in blank for name in TENSORS)
    assert f'"{blank[0]}' in finding.message


@pytest.mark.parametrize(
    "options",
    [
        '-ot "up_exps=CUDA0,exps=CPU"',
        r'-ot "blk\.(3|4)\.ffn=CUDA0" -ot exps=CPU',
        '-ot " up_exps|gate_exps=CPU"',  # the second alternative matches
        '-ot "up_exps=CUDA0, $REST"',
        "--tensor-split 1,2,3",
        "-ot exps=CPU --alias 'one, two'",
    ],
)
def test_without_blanks_or_with_what_matches_nothing_is_said(options: str) -> None:
    assert found(options) == []


@pytest.mark.parametrize(
    ("program", "severity"), [("llama-server", "error"), ("~/ik_llama.cpp/build/bin/llama-server", "warning")]
)
def test_a_blank_behind_a_buffer(program: str, severity: str) -> None:
    (finding,) = found('-ot "up_exps=CUDA0 ,exps=CPU"', START.replace("llama-server", program, 1))
    assert (finding.severity.value, "unknown buffer type" in finding.message) == (severity, True)


@pytest.mark.parametrize(
    ("options", "whole"),
    [
        ("-ot up_exps=CUDA0, exps=CPU -c 8192", "up_exps=CUDA0,exps=CPU"),
        ("-ot up_exps=CUDA0, gate_exps=CUDA1, exps=CPU", "up_exps=CUDA0,gate_exps=CUDA1,exps=CPU"),
        ("-ot up_exps=CUDA0 ,exps=CPU", "up_exps=CUDA0,exps=CPU"),
        ("-ot up_exps=CUDA0 , exps=CPU", "up_exps=CUDA0,exps=CPU"),
        ("--tensor-split 15, 25, 30", "15,25,30"),
    ],
)
def test_without_quotes_the_rest_is_taken_for_arguments(options: str, whole: str) -> None:
    (finding,) = found(options)
    assert (finding.severity.value, finding.remedy) == ("error", "write the list without blanks")
    corrected = [
        word for one in ask(f"{START}{options}\n", "", "b11434") for line in one.corrected for word in line.argv
    ]
    assert whole in corrected


@pytest.mark.parametrize("options", ["--port 8080, and it ends", "-ot exps=CPU, then it ends"])
def test_a_sentence_is_no_list(options: str) -> None:
    assert found(options) == []
