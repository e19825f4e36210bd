"""A start that sentences tell of: the options and variables in their code, and what stands for those that they lack."""

from __future__ import annotations

import pytest

from moonpad.explain.commands import Command
from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from tests.unit.explain.judging import ask, ask_one

START = "Ran on 8x MI355X with vLLM 0.16.0, `vllm serve` TP8 of `amd/Kimi-K2.5-MXFP4`"
LIST = "`--async-scheduling --load-format fastsafetensors --kv-cache-dtype fp8`"
HEADS = "leaves 8 heads a rank"


def with_set(text: str) -> Judged:
    (judged,) = judge(read_script(text), Question(settings={"pp": "1"}))
    return judged


def spoken(text: str) -> Command:
    (command,) = [each for each in read_script(text).commands if each.program == "vllm serve"]
    return command


def words(text: str) -> list[str]:
    return [word.text for word in spoken(text).argv if not word.unresolved]


def variables(text: str) -> dict[str, str]:
    return {name: word.text for name, word in spoken(text).env.items()}


@pytest.mark.parametrize(
    "led", [", args ", ". The serve args in `test.sh` (", ", with the flags ", ". We ran it with "]
)
def test_a_list_in_the_code_of_a_sentence_is_the_options(led: str) -> None:
    assert words(f"{START}{led}{LIST}).")[-5:] == [
        "--async-scheduling",
        "--load-format",
        "fastsafetensors",
        "--kv-cache-dtype",
        "fp8",
    ]


@pytest.mark.parametrize(
    "said",
    [
        f"You can add {LIST}.",
        f"It does not work with {LIST}.",
        f"Instead of {LIST} take nothing.",
        f"{LIST} fixed it.",
        f"> with args {LIST}",
        f"First with args {LIST}. Then with args `--async-scheduling --kv-cache-dtype auto`.",
        "With args `--no-such-option --kv-cache fp8 --nor-this-one`.",
    ],
)
def test_advice_and_one_of_two_lists_are_not(said: str) -> None:
    assert not {"--async-scheduling", "--no-such-option"} & {*words(f"{START}.\n{said}\n")}


def test_a_value_that_is_named_in_short_is_left_out() -> None:
    text = f"{START}, args `--async-scheduling --compilation-config FULL_AND_PIECEWISE --kv-cache-dtype fp8`."
    assert "--compilation-config" not in words(text)
    assert words(text)[-3:] == ["--async-scheduling", "--kv-cache-dtype", "fp8"]


@pytest.mark.parametrize(
    "said", ["I then try to set `export VLLM_ROCM_USE_AITER=1 ` and it fails", "The log is of `VLLM_ROCM_USE_AITER=1`"]
)
def test_variables_of_a_sentence_are_those_of_the_start(said: str) -> None:
    assert variables(f"{START}. {said}.") == {"VLLM_ROCM_USE_AITER": "1"}


@pytest.mark.parametrize(
    "said",
    [
        "You should set `VLLM_ROCM_USE_AITER=1`",
        "Setting `VLLM_ROCM_USE_AITER=0` helps",
        "Without `VLLM_ROCM_USE_AITER=1` it runs",
        "I ran it with `VLLM_ROCM_USE_AITER=1` and with `VLLM_ROCM_USE_AITER=0`",
        "Set `VLLM_ROCM_USE_AITER=1` to use it",
    ],
)
def test_advised_variables_are_not(said: str) -> None:
    assert variables(f"{START}. {said}.") == {}


def test_the_heads_of_a_rank_are_asked_where_sentences_tell_all_of_it() -> None:
    text = "On MI355X I serve `amd/Kimi-K2.5-MXFP4` with vLLM 0.16.0 at TP8. I set `VLLM_ROCM_USE_AITER=1`."
    assert any(HEADS in each.message for judged in ask(text) for each in judged.findings)


@pytest.mark.parametrize(
    ("written", "other"), [("0.16.0", "0.18.0"), ("TP8", "TP4"), ("MI355X", "H200"), ("AITER=1", "AITER=0")]
)
def test_what_has_the_heads_is_left_alone(written: str, other: str) -> None:
    text = "On MI355X I serve `amd/Kimi-K2.5-MXFP4` with vLLM 0.16.0 at TP8. I set `VLLM_ROCM_USE_AITER=1`."
    found = [each.message for judged in ask(text.replace(written, other)) for each in judged.findings]
    assert not any("heads a rank" in each for each in found)


def test_words_that_are_not_known_may_choose_another_kernel() -> None:
    text = "# on 8x MI355X\nVLLM_ROCM_USE_AITER=1 vllm serve amd/Kimi-K2.5-MXFP4 --tensor-parallel-size 8 $EXTRA\n"
    judged = ask_one(text, on="8xMI355X", version="0.16.0")
    assert [str(each.severity) for each in judged.findings if HEADS in each.message] == ["warning"]


def test_the_answer_says_in_plain_words_what_is_not_known() -> None:
    judged = ask_one(f"{START}.", on="")
    assert judged.unjudged.startswith("the options that the text only speaks of are not known here: --set pp=1 says")
    assert "<" not in judged.unjudged


@pytest.mark.parametrize(
    "text",
    [
        f"{START}, args {LIST}.",
        'args = [\n    "--model", "amd/Kimi-K2.5-MXFP4",\n    "--tensor-parallel-size", "8",\n'
        '    "--max-model-len", "4096",\n    "--kv-cache-dtype", "fp8",\n]\n# 8x MI355X, vllm 0.19.0\n',
    ],
)
def test_what_stands_for_words_is_in_no_corrected_command(text: str) -> None:
    judged = with_set(text)
    lines = [*judged.corrected, *(line for better in judged.better for line in better.lines)]
    assert lines
    assert not [word for line in lines for word in line.argv if "<" in word or " the " in word]
