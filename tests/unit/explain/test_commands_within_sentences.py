"""A sentence around a command: its own words are no model, and its full stop is of no value."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask


def test_the_word_behind_the_program_is_not_its_model() -> None:
    (judged,) = ask("On 8 H100 we run vllm serve with --tensor-parallel-size 8 --max-num-seqs 32.\n")
    assert judged.model_written == ""
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert not [each for each in judged.findings if each.severity is Severity.ERROR]


def test_a_letter_for_a_number_is_no_error_there() -> None:
    text = "```bash\n# for each size b:\n#   1. Start vllm serve with --max-num-seqs b\n#   2. Send requests\n```\n"
    (judged,) = ask(f"# How to measure\n\n{text}")
    assert not [each for each in judged.findings if each.severity is Severity.ERROR]


def test_in_a_script_the_same_is_one() -> None:
    (judged,) = ask("vllm serve org/model-8b --max-num-seqs b\n")
    assert [each.where for each in judged.findings if each.severity is Severity.ERROR] == ["--max-num-seqs"]


@pytest.mark.parametrize(
    "begins", ["#   VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 \\\n#   ", "#   VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 "]
)
def test_a_variable_above_a_command_of_comments_is_its_own(begins: str) -> None:
    text = (
        f"# Serve it so:\n#\n{begins}vllm serve nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-Base-BF16 \\\n"
        "#     --tensor-parallel-size=4 --max-model-len 1100000\n#\n# with vllm/vllm-openai:v0.19.1\nname: long\n"
    )
    (judged,) = ask(text)
    assert "VLLM_ALLOW_LONG_MAX_MODEL_LEN" in judged.sources[0].env
    assert not [each for each in judged.findings if each.severity is Severity.ERROR]


RANKS = """# Serve
Ranks are placed by OpenMPI {}
on two machines of 8 B200.
"""
LAUNCHED = "trtllm-llmapi-launch trtllm-serve moonshotai/Kimi-K2-Instruct --backend pytorch"


@pytest.mark.parametrize(
    "code",
    [
        f"(`mpirun -n 16 --hostfile hosts {LAUNCHED}`)",
        f"(`mpirun -n 16\n--hostfile hosts {LAUNCHED}`)",
        f"(`mpiexec --np 16 {LAUNCHED}`)",
    ],
)
def test_ranks_whose_layout_the_sentence_leaves_out(code: str) -> None:
    (judgement,) = ask(RANKS.format(code))
    assert "tp" in judgement.unknown
    assert not [each for each in judgement.findings if each.severity is Severity.ERROR]


@pytest.mark.parametrize("code", [f"(`mpirun -n 16 {LAUNCHED} --tp_size 16`)", f"(`mpirun -n 1 {LAUNCHED}`)"])
def test_ranks_whose_layout_is_known(code: str) -> None:
    (judgement,) = ask(RANKS.format(code))
    assert not judgement.unknown


def test_of_two_starts_the_one_that_the_line_below_says_to_succeed() -> None:
    """What ends a start in another release is not met there (float16 with GLM-4-0414)."""
    start = "```bash\nvllm serve zai-org/GLM-4-9B-0414 --dtype=half{}\n```\n"
    text = f"{start.format('')}能够成功启动，但是回答很慢\n{start.format(' --max-model-len 8192')}更慢\n"
    errors = [[each for each in judged.findings if each.severity is Severity.ERROR] for judged in ask(text)]
    assert [len(each) for each in errors] == [0, 1]
