"""Underscores for dashes in the names of options: who takes them, and what is meant by them elsewhere."""

from __future__ import annotations

from itertools import pairwise

import pytest

from moonpad.catalog.clusters import parse_cluster
from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Code, Severity
from moonpad.values.plan import Layout

SGLANG = "python -m sglang.launch_server --model_path moonshotai/Kimi-K2-Thinking"
VLLM = "vllm serve moonshotai/Kimi-K2-Thinking"


def judged(command: str, version: str = "") -> Judged:
    (only,) = judge(read_script(command), Question(cluster=parse_cluster("8xH200"), version=version))
    return only


def unknown(one: Judged) -> dict[str, Severity]:
    return {finding.where: finding.severity for finding in one.findings if finding.code is Code.UNKNOWN_FLAG}


@pytest.mark.parametrize("version", ["", "0.5.2", "0.5.9", "0.5.23"])
def test_sglang_refuses_them_and_they_are_read_as_meant(version: str) -> None:
    one = judged(f"{SGLANG} --tensor_parallel_size 8 --trust_remote_code --context_length=65536", version)
    assert one.layout == Layout(tp=8)
    assert one.settings is not None
    assert one.settings.max_model_len == 65536
    assert one.fits
    assert set(unknown(one)) == {"--model_path", "--tensor_parallel_size", "--trust_remote_code", "--context_length"}
    assert set(unknown(one).values()) == {Severity.ERROR}
    argv = one.corrected[0].argv
    assert ("--tensor-parallel-size", "8") in pairwise(argv)
    assert {"--trust-remote-code", "--context-length=65536"} <= set(argv)


def test_a_change_of_the_option_is_not_said_before_its_spelling() -> None:
    one = judged(f"{SGLANG} --tp_size 8 --dp_size 8 --enable_dp_attention")
    assert unknown(one)["--enable_dp_attention"] is Severity.ERROR
    assert one.layout == Layout(dp=8)


@pytest.mark.parametrize("version", ["0.10.0", "0.17.1", "0.33.0"])
def test_vllm_takes_them(version: str) -> None:
    one = judged(f"{VLLM} --tensor_parallel_size 8 --max_model_len=65536 --enable-expert_parallel", version)
    assert unknown(one) == {}
    assert one.layout == Layout(tp=8, ep=8)


def test_the_other_way_round() -> None:
    """Options with underscores, written with dashes, of a release that is not recorded."""
    one = judged("trtllm-serve nvidia/Kimi-K2-Thinking-NVFP4 --tp-size 8 --trust-remote-code")
    assert one.layout == Layout(tp=8)
    assert unknown(one) == {"--tp-size": Severity.WARNING, "--trust-remote-code": Severity.WARNING}


def test_a_name_that_no_spelling_makes_known() -> None:
    assert unknown(judged(f"{SGLANG} --no_such_option 8")) == {
        "--model_path": Severity.ERROR,
        "--no_such_option": Severity.WARNING,
    }
