"""Texts as people paste them: sentences around the command, errors of plugins, and what one value mends."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script as read
from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 16 --trust-remote-code"


def told(text: str, on: str = "", version: str = "") -> str:
    findings = [finding for judged in ask(text, on, version) for finding in judged.findings]
    return "\n".join(f"{finding.message} -> {finding.remedy}" for finding in findings)


@pytest.mark.parametrize(
    "line",
    [
        "8x NVIDIA B200, SGLang 0.5.17 (the image of July)",
        "When I start vllm 0.8.4 (of April) it ends",
        "vLLM v0.11.0 with files (of September) from the hub",
        "cpu: Intel(R) Xeon(R) Gold 6430",
        "It doesn't start and I can't see why",
    ],
)
def test_sentences_are_not_for_a_shell(line: str) -> None:
    assert not [problem for problem in read(f"{line}\n\n{SERVE}\n").problems if problem.code in ("syntax", "unclosed")]


@pytest.mark.parametrize(
    "text",
    [
        f"#!/bin/bash\nThe new image (of July)\n{SERVE}\n",
        f"echo started (node 0)\n{SERVE}\n",
        f"{SERVE} \\\n  Two words (more)\n",
    ],
)
def test_a_bracket_of_a_command_is_told(text: str) -> None:
    assert [problem for problem in read(text).problems if problem.code == "syntax"]


def test_what_a_plugin_lacks_is_a_cause() -> None:
    text = f"```\n{SERVE}\n```\n\n```\n{{}}\n```\n"
    abstract = "TypeError: Can't instantiate abstract class NearMLAImpl with abstract methods forward_mha"
    assert "NearMLAImpl lacks methods" in told(text.format(abstract))
    newer = (
        "TypeError: Can't instantiate abstract class NearMLAImpl without an implementation for abstract method 'run'"
    )
    assert "NearMLAImpl lacks methods" in told(text.format(newer))
    attribute = "AttributeError: type object 'NearMLABackend' has no attribute 'get_layout'"
    assert "NearMLABackend lacks get_layout" in told(text.format(attribute))
    assert "lacks get_layout" not in told(text.format(attribute.replace("Backend", "Thing")))


def test_pictures_for_a_release_that_serves_text() -> None:
    line = "ValueError: `limit_mm_per_prompt` is only supported for multimodal models."
    assert "take a release that has its class" in told(f"```\n{SERVE}\n```\n\n```\n{line}\n```\n")


def test_where_no_engine_of_these_devices_serves_the_model() -> None:
    seeing = "vllm serve moonshotai/Kimi-VL-A3B-Instruct -tp 2 --trust-remote-code"
    assert "take NVIDIA GPUs or AMD GPUs or CPUs, with vllm or sglang" in told(seeing, "2xA2", "0.13.0rc1")


def test_one_value_mends_an_error() -> None:
    command = "sglang serve --model-path moonshotai/Kimi-K2.6 --tp-size 8 --dcp-size 8 --trust-remote-code"
    judged = ask(command, "8xB200", "0.5.15")[0]
    assert any(finding.code is Code.ILLEGAL_LAYOUT for finding in judged.findings)
    assert "--attention-backend flashinfer" in " ".join(" ".join(line.argv) for line in judged.corrected)


def test_sizes_are_not_chosen() -> None:
    judged = ask("sglang serve --model-path moonshotai/Kimi-K2.6 --tp-size 6 --trust-remote-code", "8xB200", "0.5.15")[
        0
    ]
    assert any(finding.code is Code.ILLEGAL_LAYOUT for finding in judged.findings)
    assert not judged.corrected


def test_an_old_report_is_told_where_the_text_has_its_error() -> None:
    error = "Dimension out of range (expected to be in range of [-2, 1], but got 2)"
    judged = ask(f"{SERVE}\n\n{error}\n")[0]
    (told_of_it,) = [remark for remark in judged.remarks if "by two users 0.10.0rc1" in remark.finding.message]
    assert not told_of_it.of_former


def test_nothing_is_sure_to_fit_where_the_log_lacks_memory() -> None:
    full = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB."
    sentence, _ = verdict(ask(f"```\n{SERVE}\n```\n\n```\n{full}\n```\n", "2x8xH200")[0])
    assert "Fits by the arithmetic: " in sentence
    assert "Fits (sure)" in verdict(ask(f"{SERVE} --distributed-executor-backend ray", "2x8xH200")[0])[0]


def test_the_cause_in_a_log_comes_first() -> None:
    missing = "ModuleNotFoundError: No module named 'blobfile'"
    sentence, _ = verdict(ask(f"```\n{SERVE}\n```\n\n```\n{missing}\n```\n", "2x8xH200")[0])
    assert sentence.startswith("Stopped (line 6): the environment has no Python package blobfile")
    assert "The command: " in sentence
    assert not verdict(ask(SERVE, "2x8xH200")[0])[0].startswith("Stopped")
    wrong = SERVE.replace("16", "6")
    other, _ = verdict(ask(f"```\n{wrong}\n```\n\n```\n{missing}\n```\n", "2x8xH200")[0])
    assert other.startswith("Error")
