"""What a command line says against itself, its model or its release."""

from __future__ import annotations

import re

import pytest

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.toml_rows import rows
from moonpad.explain.checks.command_checks import ELSEWHERE, all_checks, check_id
from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.report.explain_verdict import usual
from moonpad.values.finding import Code, Finding, Severity

K2 = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code"
THINKING = "moonshotai/Kimi-K2-Thinking"


def findings(text: str) -> list[Finding]:
    return [finding for judged in judge(read_script(text), Question()) for finding in judged.findings]


def at(text: str, where: str, code: Code) -> list[Severity]:
    return [finding.severity for finding in findings(text) if (finding.where, finding.code) == (where, code)]


def test_each_check_has_its_evidence() -> None:
    known = dict(rows("command_checks.toml", "checks"))
    assert set(known) == {check_id(check) for check in all_checks()} | {*ELSEWHERE}
    assert all(
        re.search(r"https://|arithmetic|(rules|known_reports|other_models)\.toml", row["source"])
        for row in known.values()
    )


@pytest.mark.parametrize(
    ("text", "where", "code", "severity"),
    [
        (f"# vLLM 0.9.2\n{K2} --tool-call-parser kimi_k2 -tp 16", "--tool-call-parser", Code.INVALID_VALUE, "error"),
        (f"# vLLM 0.9.1\n{K2} -tp 16", "engine", Code.UNSUPPORTED_FORMAT, "warning"),
        (f"{K2} -tp 16 --served-model-name kimi-k2.6", "--served-model-name", Code.MODEL_NAME, "warning"),
        ("vllm serve moonshotai/Kimi-K2-Instruct -tp 16", "--trust-remote-code", Code.MISSING_FLAG, "note"),
        (K2, "--tensor-parallel-size", Code.DOES_NOT_FIT, "warning"),
        (f"{K2} -tp 16 --nnodes 2 --node-rank 0", "--node-rank", Code.MISSING_FLAG, "warning"),
        (f"{K2} -tp 16 --nnodes 2 --node-rank 0", "--master-addr", Code.MISSING_FLAG, "warning"),
        (f"{K2} -tp 16 --max-num-seqs 8 --max-num-seqs 16", "--max-num-seqs", Code.REDUNDANT_FLAG, "warning"),
        (f"{K2} -tp 16 --port 8000 --port 8000", "--port", Code.REDUNDANT_FLAG, "note"),
        ("vllm serve xxx -tp 16", "xxx", Code.INVALID_VALUE, "note"),
        (
            f"sglang serve --model-path {THINKING} --tp 8 --moe-a2a-backend deepep",
            "--moe-a2a-backend",
            Code.CONFLICT,
            "warning",
        ),
        (
            f"# vLLM 0.11.2\nVLLM_ALL2ALL_BACKEND=deepep_low_latency vllm serve {THINKING} -tp 1 -dp 8",
            "VLLM_ALL2ALL_BACKEND",
            Code.CONFLICT,
            "warning",
        ),
        (
            "sglang serve --model-path /m/DeepSeek-V3-0324 --tp 8 --reasoning-parser deepseek-v3",
            "--reasoning-parser",
            Code.CONFLICT,
            "warning",
        ),
        (
            "# vLLM 0.16.0 on 8xMI355X\nVLLM_ROCM_USE_AITER=1 vllm serve amd/Kimi-K2.5-MXFP4 -tp 8",
            "VLLM_ROCM_USE_AITER",
            Code.CONFLICT,
            "error",
        ),
    ],
)
def test_said(text: str, where: str, code: Code, severity: str) -> None:
    assert at(text, where, code) == [Severity(severity)]


@pytest.mark.parametrize(
    ("text", "where", "code"),
    [
        (f"# vLLM 0.10.0\n{K2} --tool-call-parser kimi_k2 -tp 16", "--tool-call-parser", Code.INVALID_VALUE),
        (f"{K2} -tp 16 --served-model-name kimi-k2", "--served-model-name", Code.MODEL_NAME),
        ("vllm serve moonshotai/Kimi-K2.5 -tp 8 --served-model-name kimi-k2", "--served-model-name", Code.MODEL_NAME),
        (f"{K2} --config settings.yaml", "--tensor-parallel-size", Code.DOES_NOT_FIT),
        (f"{K2} --cpu-offload-gb 900", "--tensor-parallel-size", Code.DOES_NOT_FIT),
        ("vllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct", "--tensor-parallel-size", Code.DOES_NOT_FIT),
        (f"{K2} -tp 16 --nnodes 2 --node-rank $RANK", "--node-rank", Code.MISSING_FLAG),
        (f"srun {K2} -tp 16 --nnodes 2 --node-rank 0", "--node-rank", Code.MISSING_FLAG),
        (
            f"# vLLM 0.12.0\nVLLM_ALL2ALL_BACKEND=deepep_low_latency vllm serve {THINKING} -tp 1 -dp 8",
            "VLLM_ALL2ALL_BACKEND",
            Code.CONFLICT,
        ),
        (
            "sglang serve --model-path moonshotai/Kimi-K2-Instruct --tp 16 --moe-a2a-backend deepep",
            "--moe-a2a-backend",
            Code.CONFLICT,
        ),
        (
            "# vLLM 0.16.0 on 4xMI355X\nVLLM_ROCM_USE_AITER=1 vllm serve amd/Kimi-K2.5-MXFP4 -tp 4",
            "VLLM_ROCM_USE_AITER",
            Code.CONFLICT,
        ),
    ],
)
def test_not_said(text: str, where: str, code: Code) -> None:
    assert at(text, where, code) == []


@pytest.mark.parametrize("on", ["", "16xA3"])
@pytest.mark.parametrize(
    ("draft", "version", "dcp", "expected"),
    [
        ("AQ-MedAI/Kimi-K25-eagle3", "0.23.0", 4, ["error"]),
        ("AQ-MedAI/Kimi-K25-eagle3", "0.18.0", 4, ["warning"]),
        ("AQ-MedAI/Kimi-K25-eagle3", "0.23.0", 1, []),
        ("nvidia/Kimi-K2-Thinking-Eagle3", "0.23.0", 4, ["warning"]),
        ("/weights/draft", "0.23.0", 4, ["warning"]),
    ],
)
def test_a_draft_with_context_parallelism_on_ascend(
    draft: str, version: str, dcp: int, expected: list[str], on: str
) -> None:
    config = f'{{"method": "eagle3", "model": "{draft}", "num_speculative_tokens": 3}}'
    text = f"vllm serve {THINKING} -tp 16 -dcp {dcp} --speculative-config '{config}'"
    question = Question(engine="vllm-ascend", version=version, cluster=parse_cluster(on) if on else None)
    (judged,) = judge(read_script(text), question)
    flag = "--decode-context-parallel-size"
    assert [str(f.severity) for f in judged.findings if (f.where, f.code) == (flag, Code.CONFLICT)] == expected


def test_elsewhere_a_draft_with_context_parallelism_is_left_alone() -> None:
    config = '{"method": "eagle3", "model": "AQ-MedAI/Kimi-K25-eagle3", "num_speculative_tokens": 3}'
    text = f"# 8xH200\nvllm serve {THINKING} -tp 8 -dcp 4 --speculative-config '{config}'"
    assert at(text, "--decode-context-parallel-size", Code.CONFLICT) == []


K25 = "moonshotai/Kimi-K2.5"
LINEAR = "moonshotai/Kimi-Linear-48B-A3B-Instruct"


@pytest.mark.parametrize(
    ("command", "version", "severity"),
    [
        (f"vllm serve {THINKING} -tp 8", "0.11.0", "error"),
        (f"vllm serve {K25} -tp 8", "0.17.1", "error"),
        (f"vllm serve {LINEAR} -tp 4", "0.12.0", "error"),
        (f"vllm serve {K25} -tp 8", "0.17.2rc1.dev195", "note"),
        (f"vllm serve {K25} -tp 8", "0.19.1", "note"),
        (f"vllm serve {THINKING} -tp 8", "0.33.0", "note"),
        (f"vllm serve {THINKING} -tp 8", "", "note"),
        (f"vllm serve {THINKING} -tp 8 --tokenizer /tokenizer", "0.11.0", "note"),
        (f"vllm serve /models/target -tp 8 --served-model-name {THINKING}", "0.11.0", "note"),
        (f"sglang serve --model-path {THINKING} --tp-size 8", "0.5.9", "error"),
        (f"sglang serve --model-path /models/Kimi-K2.5 --tp-size 8 --served-model-name {K25}", "0.5.10", "error"),
        (f"sglang serve --model-path {K25} --tp-size 8", "0.5.23", "note"),
        ("vllm serve moonshotai/Kimi-K3 -tp 8", "0.27.0", "note"),
    ],
)
def test_code_of_the_checkpoint_by_release(command: str, version: str, severity: str) -> None:
    (judged,) = judge(read_script(command), Question(version=version))
    trust = [remark for remark in judged.remarks if remark.finding.where == "--trust-remote-code"]
    assert [str(remark.finding.severity) for remark in trust] == [severity]
    assert bool(usual(trust[0])) is (severity == "note"), "one closing line where it is not certain"
    assert bool(trust[0].edits) is (severity == "error")


def test_code_that_is_trusted() -> None:
    (judged,) = judge(read_script(f"vllm serve {THINKING} -tp 8 --trust-remote-code"), Question(version="0.11.0"))
    assert not [
        finding for finding in judged.findings if finding.code is Code.MISSING_FLAG and "trust" in finding.where
    ]


@pytest.mark.parametrize(
    ("call", "is_told"),
    [
        ('LLM(model="/m/DeepSeek-R1-int4-gptq-sym-inc", quantization="moe_wna16", tensor_parallel_size=1)', True),
        ('LLM(model="/m/DeepSeek-V3-W4A16", tensor_parallel_size=2)', True),
        ('LLM(model="/m/DeepSeek-R1-AWQ", quantization="awq_marlin", tensor_parallel_size=8)', False),
        ('LLM(model="/m/DeepSeek-R1-Distill-Qwen-7B-AWQ", tensor_parallel_size=1)', False),
        ('LLM(model="/m/DeepSeek-R1-pruned-AWQ", tensor_parallel_size=1)', False),
    ],
)
def test_converted_weights_that_no_device_holds(call: str, is_told: bool) -> None:
    judged = judge(read_script(f"# one machine, 8x H800 80G\nfrom vllm import LLM\n\nmodel = {call}\n"), Question())
    told = [finding for one in judged for finding in one.findings if str(finding.code) == "does-not-fit"]
    assert bool(told) == is_told


@pytest.mark.parametrize(("least", "told"), [("0.8", 1), ("0.15.0", 0), ("0.19", 0)])
def test_a_least_release_that_does_not_know_the_model(least: str, told: int) -> None:
    text = f'pip install "vllm>={least}"\n\nvllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code'
    assert len(at(text, f">={least}", Code.UNSUPPORTED_FORMAT)) == told
