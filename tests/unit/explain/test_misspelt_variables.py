"""A variable that is a known one but for one letter is written right in the corrected command."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view

from .judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 16"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("PYTHORCH_NPU_ALLOC_CONF=expandable_segments:True", ("PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True")),
        ("HCCL_SOCKET_TFNAME=eth0", ("HCCL_SOCKET_IFNAME", "eth0")),
        ("NCCL_SOKCET_IFNAME=bond0", ("NCCL_SOCKET_IFNAME", "bond0")),
    ],
)
def test_the_name_that_is_meant_is_set(written: str, meant: tuple[str, str]) -> None:
    (judged,) = ask(f"export {written}\n{SERVE}\n")
    env = dict(judged.corrected[0].env)
    assert env[meant[0]] == meant[1]
    assert written.partition("=")[0] not in env


def test_the_right_one_that_is_there_stays() -> None:
    (judged,) = ask(f"export HCCL_SOCKET_TFNAME=eth0 HCCL_SOCKET_IFNAME=eth1\n{SERVE}\n")
    env = dict(judged.corrected[0].env)
    assert env["HCCL_SOCKET_IFNAME"] == "eth1"
    assert "HCCL_SOCKET_TFNAME" not in env


def test_devices_are_not_taken_away_and_it_is_said() -> None:
    text = f"export ASCEBD_RT_VISIBLE_DEVICES=0 GLOO_SOCKET_TFNAME=eth0\n{SERVE}\n"
    judged = ask(text)
    assert "ASCEND_RT_VISIBLE_DEVICES" not in judged[0].corrected[0].env
    assert "Not mended in it: ASCEBD_RT_VISIBLE_DEVICES" in explain_view(judged, read_script(text), 200).plain


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("level0:NA;levrl1:ring", True),
        ("level0:NA;level1:H-D_R", False),
        ("allreduce=level0:NA;level1:ring/allgather=level0:NA;level1:H-D_R", False),
        ("$ALGO", False),
    ],
)
def test_the_form_of_an_algorithm(value: str, told: bool) -> None:
    (judged,) = ask(f'export HCCL_ALGO="{value}"\n{SERVE} --quantization ascend\n')
    assert any(finding.where == "HCCL_ALGO" for finding in judged.findings) is told


@pytest.mark.parametrize(
    ("lead", "told"),
    [
        ("# mi300.env\nVLLM_USE_ROCM_AITER=1\nNCCL_MIN_NCHANNELS=112\n\n$ set -a; . ./mi300.env; set +a\n", True),
        ("# mi300.env\nVLLM_ROCM_USE_AITER=1\n\n$ set -a; . ./mi300.env; set +a\n", False),
        ("# VLLM_USE_ROCM_AITER=1 was the name that I had first\n", False),
        ("# my.env\nVLLM_MY_OWN_SWITCH=1\n\n$ . ./my.env\n", False),
    ],
)
def test_an_engines_own_words_in_another_order(lead: str, *, told: bool) -> None:
    text = f"{lead}$ vllm serve moonshotai/Kimi-K2-Instruct -tp 8 --trust-remote-code\n"
    remedies = [each.remedy for one in ask(text) for each in one.findings]
    assert ("did you mean VLLM_ROCM_USE_AITER?" in remedies) == told
