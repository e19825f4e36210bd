"""What a person notes behind a command on its line: the devices, the release, what came of it. It is no argument."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question

VLLM = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code"
SGLANG = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp 8 --trust-remote-code"
TRTLLM = "trtllm-serve nvidia/Kimi-K2-Thinking-NVFP4 --tp_size 8 --ep_size 8"
SERVERS = (VLLM, SGLANG, TRTLLM)
NOTES = (
    " (8xH200, driver 580.95)",
    " (8xH200)",
    " — 8xH200, driver 580.95",
    " - 8xH200",
    " -> hangs on 8xH200",
    " on 8xH200, TensorRT-LLM and others",
    " with CUDA 12.8 on 8x H200",
    " for 8xH200 machines of ours",
    " on 8xH200",
    " and it hangs, 8xH200",
)


@pytest.mark.parametrize("note", NOTES)
@pytest.mark.parametrize("server", SERVERS)
def test_a_note_is_no_argument(server: str, note: str) -> None:
    script = read_script(server + note)
    (judged,) = judge(script, Question())
    assert not script.problems
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert judged.cluster is not None
    assert judged.cluster.devices == 8
    told = [finding.message for finding in judged.findings]
    assert not [each for each in told if "no such argument" in each or "not read as a flag" in each]


@pytest.mark.parametrize("note", [", 8xH200", ". It hangs on 8xH200.", ", then it hangs", "; 8xH200"])
@pytest.mark.parametrize("server", [VLLM, SGLANG])
def test_an_option_may_end_with_the_sign_of_a_sentence(server: str, note: str) -> None:
    (judged,) = judge(read_script(server + note), Question())
    assert judged.commands[0].argv[-1] == "--trust-remote-code"
    assert not [finding.message for finding in judged.findings if " has no --" in finding.message]


def test_a_dash_before_options_is_a_slip_all_the_same() -> None:
    script = read_script(f"{VLLM} — --port 8000")
    assert [problem.code for problem in script.problems] == ["dash"]


def test_a_bracket_in_a_script_is_an_error_of_the_shell() -> None:
    script = read_script(f"#!/bin/bash\n{VLLM} (8xH200)\n")
    assert [problem.code for problem in script.problems] == ["syntax"]


def test_words_that_may_be_values_stay() -> None:
    (judged,) = judge(read_script(f"{VLLM} --enable-lora --lora-modules one=/a two=/b"), Question())
    assert judged.commands[0].argv[-2:] == ("one=/a", "two=/b")
