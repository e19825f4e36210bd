"""A script that starts one server after another over a list of sizes: read whole, judged cheaply, shown once."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question
from moonpad.report.explain_view import explain_view

from .judging import ask_one

FILLER = "\n".join(f'echo "step {number} of the sweep, which prepares its folders and waits"' for number in range(250))
SWEEP = """#!/bin/bash
DRAFT="lightseekorg/kimi-k2.5-eagle3-mla"
WHERE="/drafts/${{DRAFT##*/}}"
{filler}
run_one() {{
    vllm serve nvidia/Kimi-K2.5-NVFP4 --tensor-parallel-size 8 --trust-remote-code --max-model-len 16384 \\
        --speculative-config \\
        "{{\\"method\\": \\"eagle3\\", \\"model\\": \\"$WHERE\\", \\"num_speculative_tokens\\": $1}}"
}}
for count in {counts}; do run_one $count; done
"""


def shown(text: str) -> str:
    script = read_files([("sweep.sh", text)])
    judged = judge(script, Question())
    return " ".join(explain_view(judged, script, 80).plain.split())


def test_starts_that_differ_in_one_number_are_shown_once() -> None:
    text = f"# on 8xB300\n{SWEEP.format(filler='', counts='1 2 3 4 5')}"
    view = shown(text)
    assert view.count("Or, line") == 1
    assert '"num_speculative_tokens": 2}; the same with 3, 4, 5 in place of 2' in view


def test_two_starts_are_shown_as_before() -> None:
    view = shown(f"# on 8xB300\n{SWEEP.format(filler='', counts='1 2')}")
    assert view.count("Or, line") == 1
    assert "the same with" not in view


def test_a_long_script_of_many_starts_is_not_too_large() -> None:
    view = shown(f"# on 8xB300\n{SWEEP.format(filler=FILLER, counts='1 2 3 4 5 6 7 8')}")
    assert view.startswith("Fits")
    assert "/drafts/kimi-k2.5-eagle3-mla" in view


@pytest.mark.parametrize(
    "written",
    ["${M##*/}", "${M#*/}", "${M%/*}", "${M%%/*}", "${M%%:*}", "${M##*:}", "${M%.safetensors}", "${M#/models/}"],
)
@pytest.mark.parametrize("value", ["/models/moonshotai/Kimi-K2:latest", "org/name", "plain"])
def test_a_trimmed_value_is_what_bash_makes_of_it(written: str, value: str) -> None:
    if (bash := shutil.which("bash")) is None:
        pytest.skip("no bash here")
    expected = subprocess.run(
        [bash, "-c", f'M="{value}"; printf %s "{written}"'], capture_output=True, text=True, check=True
    ).stdout
    judged = ask_one(f'M="{value}"\nvllm serve Qwen/Qwen3-32B --served-model-name "x{written}" --port 8001\n', "8xH200")
    argv = judged.commands[0].argv
    assert argv[argv.index("--served-model-name") + 1] == f"x{expected}"


LISTS = """#!/bin/bash
TP="${{TP:-8}}"
SPREAD="${{SPREAD:-{default}}}"
LAYOUT=(--tensor-parallel-size "$TP")
if {test}; then
    LAYOUT=(--data-parallel-size "$TP" --tensor-parallel-size 1)
fi
vllm serve moonshotai/Kimi-K2.6 "${{LAYOUT[@]}}" --trust-remote-code --max-model-len 16384
"""


@pytest.mark.parametrize(
    ("default", "test", "size"),
    [
        ("false", '[ "$SPREAD" = "true" ]', 8),
        ("false", '[[ "${SPREAD}" == "true" ]]', 8),
        ("no", "[ $SPREAD = yes ]", 8),
        ("true", '[ "$SPREAD" = "true" ]', 1),
        ("false", '[ "$SPREAD" != "false" ]', 8),
        ("", '[ "$SPREAD" = "true" ]', 8),
        ("false", "some_program --asks", None),
    ],
)
def test_a_list_that_a_condition_replaces_is_the_one_of_the_default(default: str, test: str, size: int | None) -> None:
    judged = ask_one(LISTS.format(default=default, test=test), "8xH200")
    known = judged.layout.tp if judged.layout is not None and not judged.unknown else None
    assert known == size
