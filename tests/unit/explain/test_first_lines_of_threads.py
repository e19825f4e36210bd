"""What the first line says of a text with an error, a known fault or too few devices, and what is corrected there."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask, ask_one

K26 = "sglang serve --model-path moonshotai/Kimi-K2.6 --tp-size 8 --trust-remote-code"
K3 = "vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 8 --trust-remote-code"
TRACEBACK = 'Traceback (most recent call last):\n  File "/opt/serve.py", line 3, in start\n    run()\n'


def shown(text: str) -> str:
    return explain_view(ask(text), read_script(text, markdown=False), 120).plain


def test_a_traceback_is_told_in_the_first_line() -> None:
    command = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code\n"
    assert shown(f"{command}\n{TRACEBACK}").startswith("The text shows a traceback. The command: No error")
    quoted = f"{command} > log\ngrep -q 'Traceback (most recent call last)' log && exit 1\n"
    assert not shown(quoted).startswith("The text shows")
    assert shown(command).startswith("No error")


def test_weights_that_no_device_holds_are_told_in_the_first_line_and_not_corrected() -> None:
    text = "vllm serve nvidia/Kimi-K2.5-NVFP4 --trust-remote-code --tool-call-parser kimi_k2"
    assert shown(text).startswith("Does not fit: --tensor-parallel-size: none is given")
    assert ask_one(text, "").corrected == ()
    # what a branch may add
    assert not shown(f'{text} "$@"').startswith("Does not fit")


def test_what_ends_the_start_of_the_newest_release_is_a_warning_that_is_mended() -> None:
    text = f"4 machines of 8x RTX PRO 6000\n\n{K26} --moe-a2a-backend megamoe\n"
    judged = ask_one(text, "")
    (remark,) = [each for each in judged.remarks if each.finding.where == "--moe-a2a-backend"]
    assert (remark.finding.severity, remark.ends_start) == (Severity.WARNING, True)
    assert shown(text).startswith("Known to fail with sglang")
    assert all("megamoe" not in line.argv for line in judged.corrected)
    assert not any("megamoe" in line.argv for better in judged.better for line in better.lines)


def test_a_fault_whose_error_is_pasted_is_told_first_and_not_left_in_the_corrected_command() -> None:
    error = "AttributeError: 'NoneType' object has no attribute 'dtype'"
    text = f"4x GB200\n\n{K26.replace('8', '4')} --load-format dummy\n\n{TRACEBACK}{error}\n"
    judged = ask_one(text, "")
    assert shown(text).startswith("Known fault (--load-format)")
    assert not any("no cause is known" in finding.message for finding in judged.findings)
    assert all("dummy" not in line.argv for line in judged.corrected)
    assert judged.better == () or all("dummy" not in line.argv for each in judged.better for line in each.lines)


def test_a_start_of_aiter_without_a_scale_for_the_cache_has_nothing_better() -> None:
    error = "Assertion failed: q_scale.has_value() && kv_scale.has_value() (asm_mla.cu:1)"
    text = f"8x MI355X\n\n{K26} --attention-backend aiter --kv-cache-dtype fp8_e4m3\n\nRuntimeError: {error}\n"
    judged = ask_one(text, "")
    assert any("gets no scale" in finding.message for finding in judged.findings)
    assert all("fp8_e4m3" not in line.argv for line in judged.corrected)
    assert judged.better == ()


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("vLLM main (30 July 2026)", "0.26.0"),
        ("vLLM, built from the k3 branch (28 July 2026)", "0.26.0"),
        ("vLLM main, 5th of May 2026", ""),
    ],
)
def test_a_day_before_its_month_is_a_day(said: str, version: str) -> None:
    judged = ask_one(f"{said}\n\n{K3}\n", "")
    assert "a build of 2026-0" in judged.version_because
    assert "at whose beginning" not in judged.version_because
    assert not version or judged.version == version


def test_the_release_behind_an_image_that_moves_is_its_release() -> None:
    judged = ask_one(f"image: lmsysorg/sglang:latest (v0.5.12.post1), 4x B200\n\n{K26}\n", "")
    assert judged.version == "0.5.12.post1"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"8x MI355X, vLLM main (July 2026)\n\nVLLM_ROCM_USE_AITER=1 {K3} --kv-cache-dtype fp8", "a BF16 query alone"),
        (f"8x MI355X, vLLM main (August 2026), AITER MLA\n\n{K3} --kv-cache-dtype fp8", "decodes wrongly from an FP8"),
        (
            "vLLM 0.17.0 on 4x MI350X\n\nvllm serve amd/Kimi-K2.5-MXFP4 --tensor-parallel-size 4 --trust-remote-code",
            "nothing but gibberish",
        ),
        (
            f"8x MI355X\n\nVLLM_ROCM_USE_AITER=1 {K3}\n\nNotImplementedError: No MXFP4 MoE backend supports the"
            " deployment configuration.",
            "has no MXFP4 experts",
        ),
        (
            "vLLM 0.23.1rc1.dev1133+g647213129 on 8x B200\n\n"
            "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code",
            "computed in several chunks",
        ),
        (
            f"{K3} --nnodes 2 --node-rank 0 --master-addr $HEAD\n\nINFO DP group leader: node_rank=0,"
            " node_rank_within_dp=0, master_addr=127.0.0.1, mq_connect_ip=10.0.0.1 (local)",
            "meet at the loopback address",
        ),
    ],
)
def test_known_faults_of_builds_are_told(text: str, told: str) -> None:
    judged = ask_one(f"{text}\n", "")
    (remark,) = [each for each in judged.remarks if told in each.finding.message]
    assert (remark.finding.code, remark.finding.severity) == (Code.KNOWN_REPORT, Severity.WARNING)


def test_a_backend_for_prefill_of_blackwell_is_not_advised_on_hopper() -> None:
    config = """ --kv-cache-dtype fp8 --attention-config '{"use_prefill_query_quantization": true}'"""
    told = "the choice of a backend for prefill"
    assert any(told in each.message for each in ask_one(f"16x B300\n\n{K3}{config}\n", "").findings)
    assert not any(told in each.message for each in ask_one(f"16x H200\n\n{K3}{config}\n", "").findings)


def test_a_variable_of_the_branch_is_right_there() -> None:
    command = f"8x MI355X{{}}\n\nVLLM_ROCM_USE_AITER=1 AITER_SITUV2_A8W4=1 {K3}\n"
    told = "the interleaved kernel"
    assert any(told in each.message for each in ask_one(command.format(""), "").findings)
    branch = command.format(", vLLM from the kimi-k3 branch (28 July 2026)")
    assert not any(told in each.message for each in ask_one(branch, "").findings)
