"""What the text shows not to occur is not said: loads that went on, other devices, values that arguments fill in, lines
that a break tore apart; and one fault is said once."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

DRAFT = """vllm-ascend 0.18.0, A3

```
vllm serve /src/Kimi-K2.5-w4a8 --quantization ascend --trust-remote-code --data-parallel-size 4 \\
  --tensor-parallel-size 4 --enable-expert-parallel \\
  --speculative-config '{"method":"eagle3","model":"/src/kimi-k2.5-eagle3","num_speculative_tokens":3}'
```
"""
STEP = '```\n(Worker_DP1_TP3) ERROR   File "/w/spec_decode/eagle_proposer.py", line 1250, in attn_update_stack\n```\n'
V4 = "sglang serve --model-path /m/DeepSeek-V4-Flash --tp-size 2"


def said(text: str, words: str) -> int:
    return sum(words in each.message for one in ask(text) for each in one.findings)


@pytest.mark.parametrize(("log", "told"), [("", 1), (STEP, 0)])
def test_load_that_went_on(log: str, told: int) -> None:
    assert said(DRAFT + log, "the load runs into a timeout") == told


@pytest.mark.parametrize(("machine", "told"), [("eight H20", 1), ("two DGX Spark (GB10)", 0)])
def test_fault_of_other_devices(machine: str, told: int) -> None:
    assert said(f"# sglang 0.5.12, {machine}\n{V4}\n", "decodes garbage") == told


@pytest.mark.parametrize(
    ("sets", "told"), [('while [ $# -gt 0 ]; do case "$1" in --tp) TP="$2"; shift 2 ;; esac; done', 0), ("", 1)]
)
def test_value_that_arguments_of_the_script_set(sets: str, told: int) -> None:
    text = f'#!/bin/bash\nTP=""\n{sets}\nvllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size "$TP"\n'
    assert said(text, "is empty here") == told


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("NCCL_IB_DISABLE=0 NCCL_SOCKET_IFNAME=ens\n12f0 NCCL_DEBUG=INFO ", 0),
        ("NCCL_IB_DISABLE=0 NCCL_SOCKET_IFNAME=ens12f0\n", 1),
    ],
)
def test_assignments_on_a_line_that_is_torn(lines: str, told: int) -> None:
    assert said(f"{lines}vllm serve deepseek-ai/DeepSeek-R1 --tensor-parallel-size 8\n", "without export") == told


def test_one_thread_is_told_once() -> None:
    text = "# vllm 0.20.2, 8 B200\nvllm serve nvidia/Kimi-K2.5-NVFP4 --tensor-parallel-size 8 --trust-remote-code "
    text += "--gpu-memory-utilization 0.98 --max-cudagraph-capture-size 2048\n"
    assert said(text, "the memory of CUDA graphs is overestimated") == 1


def test_columns_that_blocks_do_not_divide_are_told_once() -> None:
    text = "python -m sglang.launch_server --model zai-org/GLM-4.5-Air --kt-weight-path /w --kt-method LLAMAFILE"
    assert said(f"{text} --kt-num-gpu-experts 8\n", "LLAMAFILE") == 1


@pytest.mark.parametrize(("release", "told"), [("0.26.0rc1", 0), ("0.25.1rc1", 2)])
def test_parsers_that_the_plugin_has_before_its_base(release: str, told: int) -> None:
    text = f"vllm-ascend {release}, 64 A3\n\n```\nvllm serve /w/Kimi-K3-w4a8 --quantization ascend -tp 16 -dp 4 "
    text += "--enable-auto-tool-choice --tool-call-parser kimi_k3 --reasoning-parser kimi_k3\n```\n"
    assert said(text, 'has no parser "kimi_k3"') == told


WITH_DRAFT = DRAFT.replace("--tensor-parallel-size 4", "--tensor-parallel-size 4 --decode-context-parallel-size 4")


@pytest.mark.parametrize(
    ("error", "guessed"),
    [
        ("AttributeError: 'AscendMetadata' object has no attribute 'decode'", 0),
        ("AttributeError: 'OtherMetadata' object has no attribute 'prefill'", 1),
    ],
)
def test_error_that_a_report_quotes_is_not_guessed_at(error: str, guessed: int) -> None:
    log = f"```\n(Worker_DP1_TP3 pid=3) ERROR 04-15 07:04:20 [multiproc_executor.py:932] {error}\n```\n"
    text = WITH_DRAFT + log
    assert said(text, "code got something of another kind") == guessed
    assert said(text, "together with a draft by EAGLE-3 fails") == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("In `config.json` of the downloaded model the targets become `MoE`.", 0),
        ("Edit the model's config.json first.", 0),
        ("Its config.json names the architecture.", 1),
    ],
)
def test_model_whose_files_the_text_edits_is_a_folder(words: str, told: int) -> None:
    text = f"# 8xH200\n\n{words}\n\n```bash\nvllm serve Kimi-K2-Thinking --tensor-parallel-size 8\n```\n"
    assert said(text, "is a folder of the working directory") == told


@pytest.mark.parametrize(("words", "warned"), [("TP16 for low latency", False), ("TP16", True)])
def test_layout_that_is_meant_for_latency_is_not_warned_of(words: str, warned: bool) -> None:
    text = f"# 2x8xH200, {words}\nsglang serve --model-path moonshotai/Kimi-K2-Instruct --tp-size 16 --nnodes 2 "
    text += "--node-rank 0 --dist-init-addr 10.0.0.1:5000 --trust-remote-code --context-length 8192\n"
    (told,) = [each for one in ask(text) for each in one.findings if "reaches over machines" in each.message]
    assert (told.severity is Severity.WARNING) is warned
