"""Corrected commands keep what was meant and leave out what is no part of them."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, ask_one

SGLANG = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 8 --context-len 4096"


def corrected(text: str, version: str = "0.5.23") -> str:
    (judged,) = [each for each in ask(text, version=version) if each.layout is not None]
    (line,) = judged.corrected
    return " ".join([*(f"{name}={value}" for name, value in line.env.items()), *line.argv])


def test_a_sentence_before_the_command() -> None:
    text = f"Kimi K2 at home with SGLang. Full command: export CUDA_VISIBLE_DEVICES=0,1,2,3 exec {SGLANG}"
    line = corrected(text)
    assert line.startswith("CUDA_VISIBLE_DEVICES=0,1,2,3 python3 -m sglang.launch_server ")
    assert "home" not in line


def test_a_launcher_before_the_command_stays() -> None:
    assert corrected(f"numactl --interleave=all {SGLANG}").startswith("numactl --interleave=all python3 ")


def test_variables_without_export_are_set() -> None:
    text = f"#!/bin/bash\nNCCL_IB_DISABLE=1\nSGLANG_ENABLE_SPEC_V2=1\n\n{SGLANG}\n"
    line = corrected(text)
    assert line.startswith("NCCL_IB_DISABLE=1 SGLANG_ENABLE_SPEC_V2=1 python3 ")


def test_an_option_that_the_parser_of_the_log_did_not_know() -> None:
    text = (
        "```\nvllm serve Qwen/Qwen3-32B --tensor-parallel-size 8 --reasoning-config "
        '\'{"reasoning_start_str": "<think>", "reasoning_end_str": "-- Stop. </think>"}\'\n```\n\n'
        'vllm: error: unrecognized arguments: --reasoning-config {"reasoning_start_str": "<think>", '
        '"reasoning_end_str": " -- Stop. </think>"}\n'
    )
    (judged,) = ask(text, version="0.20.1")
    assert judged.corrected == ()
    assert any("newer build or release" in each.remedy and "leave it out" in each.remedy for each in judged.findings)


@pytest.mark.parametrize(("folder", "kept"), [("/m/DeepSeek-R1", True), ("/m/DeepSeek-R1-GGUF", False)])
def test_gguf_files_are_no_original_weights(folder: str, kept: bool) -> None:
    text = f"python ktransformers/server/main.py --model_path {folder} --gguf_path /m/DeepSeek-R1-GGUF/ --cpu_infer 16"
    judged = ask_one(text)
    words = list(judged.corrected[0].argv)
    given = words[words.index("--model-path") + 1]
    assert (given == folder) is kept
    assert kept or "original weights" in given


def test_a_switch_that_the_command_has_is_no_remedy() -> None:
    log = "The output_size of gate's and up's weight = 192 is not divisible by weight quantization block_n = 128."
    command = "vllm serve /m/Qwen3-235B-A22B-FP8 --tensor-parallel-size 8{more}\n\nValueError: {log}"
    remedies = []
    for more in ("", " --enable-expert-parallel"):
        judged = ask_one(command.format(more=more, log=log))
        remedies.append(next(each.remedy for each in judged.findings if "FP8 block of 128" in each.message))
    assert "--enable-expert-parallel" in remedies[0]
    assert remedies[1] == "halve --tensor-parallel-size"


def test_weights_in_bf16_with_the_configuration_of_fp8() -> None:
    log = "ValueError: Weight output_partition_size = 576 is not divisible by weight quantization block_n = 128."
    for name, remedy in (("DeepSeek-R1-BF16", "take quantization_config out"), ("DeepSeek-R1", "halve --tp-size")):
        text = f"python3 -m sglang.launch_server --model-path /m/{name} --tp 32 --trust-remote-code\n\n{log}"
        judged = ask_one(text, "4x8xA100")
        told = [each for each in judged.findings if "576 rows" in each.message]
        assert [each.remedy.startswith(remedy) for each in told] == [True]


def test_what_is_left_of_a_conflict_is_named() -> None:
    text = (
        "AITER_QUICK_REDUCE_QUANTIZATION=INT4 vllm serve amd/Kimi-K2.5-MXFP4 --data-parallel-size 8 "
        "--enable-expert-parallel --kv-cache-dtype fp8 --trust-remote-code --tool-call-parser kimi_k2"
    )
    judged = ask_one(text, "8xMI355X")
    from moonpad.explain.spoiling import left_in

    assert "--data-parallel-size" in [remark.finding.where for remark in left_in(judged)]


def test_what_puts_the_program_in_the_place_of_its_shell_is_left_out() -> None:
    """Who pastes it would lose the shell."""
    assert corrected(f"#!/bin/bash\nexec {SGLANG}\n").startswith("python3 -m sglang.launch_server ")
