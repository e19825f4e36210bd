"""Options that another engine calls so."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask_one

SGLANG = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp-size 8 --trust-remote-code"
VLLM = "vllm serve moonshotai/Kimi-K2-Thinking --trust-remote-code"
TENSORRT = "trtllm-serve nvidia/Kimi-K2-Thinking-NVFP4 --tp_size 8 --trust_remote_code"


@pytest.mark.parametrize(
    ("command", "option", "own"),
    [
        (SGLANG, "--max-model-len 65536", "--context-length 65536"),
        (SGLANG, "--max-model-len=65536", "--context-length=65536"),
        (SGLANG, "--max-num-seqs 64", "--max-running-requests 64"),
        (SGLANG, "--enforce-eager", "--disable-cuda-graph"),
        (f"{VLLM} -tp 8", "--context-length 65536", "--max-model-len 65536"),
        (f"{VLLM} -tp 8", "--max-running-requests 64", "--max-num-seqs 64"),
        (VLLM, "--tp-size 8", "--tensor-parallel-size 8"),
        (TENSORRT, "--max-model-len 65536", "--max_seq_len 65536"),
    ],
)
def test_it_is_written_as_this_engine_calls_it(command: str, option: str, own: str) -> None:
    judged = ask_one(f"{command} {option}", on="8xB200")
    (finding,) = [each for each in judged.findings if each.code is Code.UNKNOWN_FLAG]
    assert finding.severity is Severity.ERROR
    assert "which is " in finding.message
    assert finding.remedy == f"write {own.replace('=', ' ').split()[0]}"
    if judged.corrected:
        assert own in " ".join(judged.corrected[0].argv)


def test_what_is_given_already_is_not_given_again() -> None:
    judged = ask_one(f"{SGLANG} --context-length 4096 --max-model-len 65536", on="8xH200")
    (finding,) = [each for each in judged.findings if each.code is Code.UNKNOWN_FLAG]
    assert finding.remedy == "leave it out: --context-length is given"
    assert "65536" not in judged.corrected[0].argv


def test_a_share_of_another_part_of_the_memory_is_not_taken_over() -> None:
    judged = ask_one(f"{SGLANG} --gpu-memory-utilization 0.9", on="8xH200")
    (finding,) = [each for each in judged.findings if each.code is Code.UNKNOWN_FLAG]
    assert "the two count other parts of the memory" in finding.remedy
    assert "0.9" not in judged.corrected[0].argv


def test_a_switch_of_another_engine_is_left_out_and_may_be_right_in_a_release_that_is_not_recorded() -> None:
    judged = ask_one(f"{SGLANG} --enable-auto-tool-choice --tool-call-parser kimi_k2", on="8xH200")
    (finding,) = [each for each in judged.findings if each.code is Code.UNKNOWN_FLAG]
    assert finding.severity is Severity.WARNING
    assert "which is vLLM's" in finding.message
    assert "--enable-auto-tool-choice" not in judged.corrected[0].argv


@pytest.mark.parametrize("option", ["--max-model-lenn 65536", "--of-nobody 1", "--max-total-tokens 65536"])
def test_what_is_no_option_of_another_engine_or_one_of_this(option: str) -> None:
    judged = ask_one(f"{SGLANG} {option}", on="8xH200")
    assert not [each for each in judged.findings if "which is vLLM's" in each.message]


@pytest.mark.parametrize(
    ("command", "option", "client"),
    [
        (SGLANG, "--random-input-len 1024", "sglang.bench_serving"),
        (SGLANG, "--max-concurrency=32", "sglang.bench_serving"),
        (f"{VLLM} -tp 8", "--num-prompts 500", "vllm bench serve"),
    ],
)
def test_an_option_of_the_program_that_measures(command: str, option: str, client: str) -> None:
    judged = ask_one(f"{command} {option}", on="8xH200")
    (finding,) = [each for each in judged.findings if each.code is Code.UNKNOWN_FLAG]
    assert f"an option of {client}" in finding.message
    assert finding.remedy == f"give it to {client}, in a command of its own"
    assert option.replace("=", " ").split()[0] not in " ".join(judged.corrected[0].argv)
