"""What only running a script would tell: nothing is judged by a guess, and the missing piece is named."""

from __future__ import annotations

import pytest

from moonpad.catalog.clusters import parse_cluster
from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.report.explain_json import explain_json
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from tests.unit.explain.judging import ask_one

K2T = "moonshotai/Kimi-K2-Thinking"
OPEN = {
    "arguments of the script": (f'vllm serve {K2T} "$@"', "$@"),
    "all of them in one word": (f"vllm serve {K2T} $*", "$*"),
    "nothing but arguments": (f'vllm serve "$@"  # {K2T}', "$@"),
    "an array that is set elsewhere": (f'vllm serve {K2T} "${{ARGS[@]}}"', "${ARGS[@]}"),
    "a variable that holds options": (f"vllm serve {K2T} $EXTRA_ARGS", "$EXTRA_ARGS"),
    "a command that prints options": (f"vllm serve {K2T} $(cat flags.txt)", "$(cat flags.txt)"),
    "a file that is not here": (f"vllm serve {K2T} --config k2.yaml", "--config k2.yaml"),
    "the same for SGLang": (f"sglang serve --model-path {K2T} --config=k2.yaml", "--config k2.yaml"),
    "options of TensorRT-LLM": (f"trtllm-serve {K2T} --extra_llm_api_options o.yaml", "--extra_llm_api_options o.yaml"),
    "a size": (f"vllm serve {K2T} --tensor-parallel-size $TP", "--tensor-parallel-size $TP"),
    "a size in one branch": (
        f"if [ $BIG ]; then TP=16; fi\nvllm serve {K2T} --tensor-parallel-size $TP",
        "--tensor-parallel-size $TP",
    ),
    "a function that nobody calls here": (f'serve() {{\n  vllm serve {K2T} "$@"\n}}', "$@"),
}


@pytest.mark.parametrize(("text", "piece"), OPEN.values(), ids=list(OPEN))
def test_an_open_layout_is_not_judged(text: str, piece: str) -> None:
    judged = ask_one(text)
    assert "tp" in judged.unknown
    assert judged.memory is None
    assert piece in judged.unjudged
    assert "--set tp=8" in judged.unjudged
    assert judged.corrected == judged.better == ()
    assert not [finding for finding in judged.findings if finding.severity is Severity.ERROR]
    (row,) = explain_json([judged], read_script(text))["deployments"]
    assert row["layout"]["tp"] is None
    assert row["corrected"] == []
    assert "tp" in row["unknown"]


@pytest.mark.parametrize(("text", "piece"), OPEN.values(), ids=list(OPEN))
def test_what_is_said_beside_it_closes_it(text: str, piece: str) -> None:
    judged = asked_with(text, tp="8", max_model_len="32768")
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert judged.unknown == frozenset()
    assert judged.memory is not None or "TensorRT" in text or "trtllm" in text
    for line in judged.corrected:
        assert "32768" not in line.argv, "the words of the person are not those of the script"


def test_nothing_is_called_missing_where_anything_may_follow() -> None:
    open_ended = ask_one(f'vllm serve {K2T} -tp 8 "$@"').findings
    assert not [each for each in open_ended if each.code is Code.MISSING_FLAG and each.where != "$@"]
    assert Code.MISSING_FLAG in {finding.code for finding in ask_one(f"vllm serve {K2T} -tp 8").findings}


def test_a_layout_that_is_there_is_shown() -> None:
    judged = ask_one(f"vllm serve {K2T} -tp 8 $EXTRA_ARGS")
    assert judged.layout_words == "TP8 layout not known"
    assert "tp" not in judged.unknown
    assert {"pp", "dp", "max_model_len"} <= judged.unknown


@pytest.mark.parametrize("arguments", ['"$@"', "$*", "$@"])
def test_beside_the_arguments_of_the_script_the_layout_that_is_written_is_judged(arguments: str) -> None:
    judged = ask_one(f"vllm serve {K2T} -tp 8 {arguments}", "8xRTX4090-48G")
    assert judged.layout_words == "TP8"
    assert judged.unknown == {"max_model_len"}
    assert judged.fits is False
    assert not [finding for finding in judged.findings if finding.severity is Severity.ERROR]
    assert judged.corrected == judged.better == ()


def test_they_are_named_where_all_else_is_written() -> None:
    judged = ask_one(f'vllm serve {K2T} -tp 8 --max-model-len 32768 "$@"', "8xH200")
    assert judged.fits
    assert judged.better == ()
    assert all("$@" in " ".join(line.argv) for line in judged.corrected)
    assert "$@ adds is not known" in " ".join(finding.message for finding in judged.findings)


def test_an_unknown_context_leaves_the_weights_to_be_judged() -> None:
    text = f"vllm serve {K2T} -tp 8 --max-model-len $LEN"
    fits = ask_one(text, "8xH200")
    assert fits.unknown == {"max_model_len"}
    assert fits.memory is not None
    assert fits.fits
    assert fits.corrected == ()
    too_small = ask_one(text, "8xRTX4090-48G")
    assert too_small.fits is False, "the weights alone do not fit, whatever LEN is"


@pytest.mark.parametrize(
    ("test", "tp"),
    [
        ('if [ -z "$TP" ]; then TP=8; fi', 8),
        ("[[ -n $TP ]] || TP=8", 8),
        ("[[ ! -v TP ]] && TP=8", 8),
        ('[ "${TP:-}" = "" ] && TP=8', 8),
        ("if [ $A ]; then TP=8; else TP=8; fi", 8),
        ("if [ -n $TP ]; then TP=8; fi", None),
        ("[[ -n $TP ]] && TP=8", None),
        ('if [ -z "$A" ]; then TP=8; fi', None),
        ("if [ $A ]; then TP=8; else TP=16; fi", None),
        ("case $A in h200) TP=8;; esac", None),
    ],
)
def test_variables_that_a_branch_sets(test: str, tp: int | None) -> None:
    judged = ask_one(f"{test}\nvllm serve {K2T} --tensor-parallel-size $TP")
    assert judged.layout is not None
    assert (None if "tp" in judged.unknown else judged.layout.tp) == tp


def asked_with(text: str, **settings: str) -> Judged:
    question = Question(cluster=parse_cluster("8xH200"), settings=settings)
    (judged,) = judge(read_script(text), replace(question))
    return judged


def test_sizes_that_are_offered_together_are_of_one_machine() -> None:
    text = "# 8xH200\nvllm serve moonshotai/Kimi-K2.6 -tp $TP -dp $DP --max-model-len $LENGTH\n"
    assert "--set tp=8 --set dp=1 " in ask_one(text).unjudged
