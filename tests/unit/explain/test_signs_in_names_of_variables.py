"""A variable with a hyphen, or with two underscores, in its name: no program reads it, and no shell sets it."""

from __future__ import annotations

import re

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view

from .judging import ask, found

TYPED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
"""What POSIX calls a name."""

CASES = """test_cases:
  - name: "a"
    model: "Eco-Tech/MiniMax-M2.5-w8a8-QuaRot"
    envs:
      {name}: "1"
    server_cmd: ["--tensor-parallel-size", "8", "--enable-expert-parallel", "--quantization", "ascend"]
"""


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("VLLM_ASCEND_ENABLE__FUSED_MC2", "VLLM_ASCEND_ENABLE_FUSED_MC2"),
        ("VLLM-ASCEND_BALANCE_SCHEDULING", "VLLM_ASCEND_BALANCE_SCHEDULING"),
        ("VLLM-ASCEND_ENABLE_NZ", "VLLM_ASCEND_ENABLE_NZ"),
        ("HCCL-OP_EXPANSION_MODE", "HCCL_OP_EXPANSION_MODE"),
    ],
)
def test_the_name_that_is_meant_is_said(name: str, meant: str) -> None:
    (finding,) = found(CASES.format(name=name), name)
    assert f"did you mean {meant}?" in finding.remedy


@pytest.mark.parametrize("name", ["VLLM_ASCEND_ENABLE_FUSED_MC2", "HCCL_OP_EXPANSION_MODE", "MY_OWN__NAME", "MY_NAME"])
def test_names_that_are_right_or_unknown_are_not_told(name: str) -> None:
    assert not found(CASES.format(name=name), "reads a variable of this name")


@pytest.mark.parametrize("name", ["VLLM-ASCEND_ENABLE_NZ", "VLLM-SOMETHING_NEW", "my-own.name", "A.B"])
def test_no_corrected_command_sets_what_a_shell_cannot_set(name: str) -> None:
    text = CASES.format(name=name)
    (judged,) = ask(text)
    assert judged.corrected
    assert all(TYPED.fullmatch(each) for line in (*judged.commands, *judged.corrected) for each in line.env)
    assert f"{name}=" not in explain_view((judged,), read_script(text), 300).plain


def test_the_meant_one_is_set_where_the_release_reads_it() -> None:
    (judged,) = ask(CASES.format(name="HCCL-OP_EXPANSION_MODE"))
    assert judged.corrected[0].env["HCCL_OP_EXPANSION_MODE"] == "1"


def test_of_both_the_right_one_stays() -> None:
    text = CASES.format(name='HCCL-OP_EXPANSION_MODE: "AIV"\n      HCCL_OP_EXPANSION_MODE')
    (judged,) = ask(text)
    assert judged.corrected[0].env["HCCL_OP_EXPANSION_MODE"] == "1"


@pytest.mark.parametrize("before", ["VLLM-USE_V1=1 ", "export VLLM-USE_V1=1\n"])
def test_a_shell_that_is_to_set_it(before: str) -> None:
    text = f"{before}vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 16\n"
    assert found(text, "hyphen in its name")
    (judged,) = ask(text)
    assert not any("VLLM-USE_V1" in word for line in judged.corrected for word in line.argv)
    assert not found(text.replace("VLLM-USE_V1", "VLLM_USE_V1"), "hyphen in its name")


@pytest.mark.parametrize(
    ("command", "name", "meant"),
    [
        ("vllm serve moonshotai/Kimi-K2-Instruct -tp 8", "VLLM_USE_ROCM_AITER", "VLLM_ROCM_USE_AITER"),
        ("vllm serve moonshotai/Kimi-K2-Instruct -tp 8", "RCCL_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"),
        ("sglang serve --model-path zai-org/GLM-4.6 --tp-size 8", "RCCL_IB_HCA", "NCCL_IB_HCA"),
        ("vllm serve moonshotai/Kimi-K2-Instruct -tp 8", "VLLM_ROCM_USE_AITER", ""),
        ("vllm serve moonshotai/Kimi-K2-Instruct -tp 8", "RCCL_MSCCL_ENABLE", ""),
        ("vllm serve moonshotai/Kimi-K2-Instruct -tp 8", "MY_IFNAME_SOCKET", ""),
    ],
)
def test_words_in_another_order_and_the_name_of_the_library(command: str, name: str, meant: str) -> None:
    remedies = [finding.remedy for judged in ask(f"{name}=1 {command}") for finding in judged.findings]
    assert any(f"did you mean {meant}?" in remedy for remedy in remedies if meant) == bool(meant)
    assert meant or not any("did you mean" in remedy for remedy in remedies)
