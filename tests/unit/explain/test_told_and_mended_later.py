"""What a text complains of is told first, whatever else is known; devices and builds that it names in other ways."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask, first_line

QUARK = "sglang serve --model-path amd/Kimi-K2.6-MXFP4 --tp 4 --trust-remote-code"
EPLB = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --enable-expert-parallel --enable-eplb"
REFUSED = "NotImplementedError: EPLB is not supported CompressedTensorsWNA16MarlinMoEMethod."
K3 = "vllm serve moonshotai/Kimi-K3 -tp 8 --trust-remote-code"
K26 = "vllm serve moonshotai/Kimi-K2.6 -tp 8 --trust-remote-code"


def judged(text: str, on: str = "", version: str = "") -> Judged:
    return ask(text, on, version)[0]


def messages(text: str, code: Code, on: str = "", version: str = "") -> list[str]:
    return [finding.message for finding in judged(text, on, version).findings if finding.code is code]


def test_a_fault_that_the_text_tells_of_is_marked() -> None:
    prose = "# Quark weights in MXFP4: while loading the weights it fails at once.\n"
    told = [remark.finding.message for remark in judged(prose + QUARK, "4xMI355X").remarks if remark.as_told]
    assert any("fused_qkv_a_proj_with_mqa" in message for message in told)


def test_a_person_reads_what_the_text_tells_of_without_asking_for_more() -> None:
    script = read_script(f"# Quark weights in MXFP4: while loading the weights it fails at once.\n{QUARK}")
    short = explain_view(ask(script, "4xMI355X"), script, 110).plain
    assert "Faults of older releases that this text may be about:" in short
    assert "fused_qkv_a_proj_with_mqa" in short
    assert "more known faults: --verbose" in short


def test_nothing_is_marked_where_nothing_is_told() -> None:
    assert not any(remark.as_told for remark in judged(QUARK, "4xMI355X").remarks)


def test_a_text_that_complains_of_nothing_tells_of_nothing() -> None:
    prose = "# Quark weights in MXFP4: this is for loading the weights, packed and with an excluded layer prefix.\n"
    assert not any(remark.as_told for remark in judged(prose + QUARK, "4xMI355X").remarks)


def test_a_long_text_tells_of_nothing() -> None:
    prose = "# Quark weights in MXFP4: while loading the weights it fails at once.\n"
    guide = "".join(f"# step {number} of this guide is about something else again\n" for number in range(40))
    assert not any(remark.as_told for remark in judged(prose + guide + QUARK, "4xMI355X").remarks)


def test_a_told_fault_goes_first_where_a_release_is_named() -> None:
    text = "# The checkpoint says kv_cache_quant_algo FP8, but the KV cache is BF16.\n"
    text += "python3 -m sglang.launch_server --model-path nvidia/Kimi-K2.5-NVFP4 --tp 8 --tool-call-parser kimi_k2"
    assert "kv_cache_quant_algo" in messages(text, Code.MENDED_LATER, "8xB200", "0.5.8")[0]


def test_an_error_brings_up_a_report_though_no_devices_are_named() -> None:
    assert any("EPLB is not supported" in message for message in messages(f"{EPLB}\n\n{REFUSED}", Code.KNOWN_REPORT))
    assert not any("EPLB is not supported" in message for message in messages(EPLB, Code.KNOWN_REPORT))


def test_no_line_is_called_unknown_that_a_report_explains() -> None:
    assert messages(f"{EPLB}\n\n{REFUSED}", Code.LOGGED_FAILURE) == []
    unknown = "NotImplementedError: nobody wrote this part yet"
    assert "no cause is known" in messages(f"{EPLB}\n\n{unknown}", Code.LOGGED_FAILURE)[0]


def test_a_build_of_a_changed_tree_is_of_its_day() -> None:
    text = f"# the image says vLLM 0.1.dev19253+g5f76ae224.d20260727\n{K3}"
    assert "2026-07-27" in judged(text, "8xB300").version_because
    assert "2026" not in judged(f"# the image says vLLM 0.1.dev19253+g5f76ae224\n{K3}", "8xB300").version_because


def test_what_holds_for_a_release_is_a_doubt_about_a_build_of_a_changed_tree() -> None:
    aiter = f"export VLLM_ROCM_USE_AITER=1\n{K3}"
    named = judged(aiter, "8xMI325X", "0.26.0").findings
    assert any(each.severity is Severity.ERROR and "AITER's MLA" in each.message for each in named)
    text = f"# the image says vLLM 0.1.dev19253+g5f76ae224.d20260727\n{aiter}"
    found = [
        each for each in judged(text, "8xMI325X").findings if "a build from a changed tree may differ" in each.message
    ]
    assert found
    assert all(each.severity is Severity.WARNING for each in found)


def test_a_month_behind_the_name_of_a_platform_is_that_of_the_build() -> None:
    assert "2026-04" in judged(f"# SGLang ROCm of April 2026\n{QUARK}", "4xMI355X").version_because


@pytest.mark.parametrize(
    ("before", "maker"),
    [
        ("# 8x Gaudi 3, vllm-gaudi main", "Intel Gaudi"),
        ("export PT_HPU_LAZY_MODE=1 # vllm-gaudi", "Intel Gaudi"),
        ("# vLLM TPU, tpu7x-8", "Google TPUs"),
    ],
)
def test_devices_of_other_makers_are_named(before: str, maker: str) -> None:
    assert maker in judged(f"{before}\n{K26}").unjudged


def test_nothing_is_said_of_other_makers_where_devices_are_named() -> None:
    assert "Gaudi" not in judged(f"# faster than Gaudi 3: 8x H200\n{K26}").unjudged


def test_the_plugin_for_gaudi_is_no_fork() -> None:
    text = f"# vllm-gaudi main, Gaudi 3\nexport PT_HPU_LAZY_MODE=1\n{K26}"
    assert any("warmup left unfilled" in message for message in messages(text, Code.KNOWN_REPORT))


def test_graphs_of_nvidia_are_not_told_of_a_tpu() -> None:
    full = f"{K26} --gpu-memory-utilization 0.98"
    assert any("CUDA graphs" in message for message in messages(full, Code.KNOWN_REPORT))
    assert not any("CUDA graphs" in message for message in messages(f"# tpu7x\n{full}", Code.KNOWN_REPORT))


@pytest.mark.parametrize(
    ("command", "line", "cause"),
    [
        (
            K3,
            "thinking_token_budget is not yet supported by the V2 model runner. Try VLLM_USE_V2_MODEL_RUNNER=0",
            "second model runner",
        ),
        (K3, "splitk workspace not initialized for the current CUDA stream", "captured on another stream"),
        (
            K3,
            "(Worker_TP1 pid=77) ERROR 08-23 10:00:00 [multiproc_executor.py:1050] "
            "KeyError: 'language_model.model.layers.0.self_attn'",
            "no metadata for linear layers",
        ),
        (
            K26,
            "AssertionError: tensor parallel size 4 must be greater than total num kv heads 32 when enable decode "
            "context parallel for GQA/MQA",
            "32 are too many",
        ),
        (
            "vllm serve amd/Kimi-K2.5-MXFP4 -tp 8",
            "(Worker_TP1 pid=77) ERROR 03-02 10:00:00 [multiproc_executor.py:863]     "
            "w1 = dequant_mxfp4(w1, w1_scale, hidden_states.dtype)",
            "amd-quark",
        ),
        (K26, "RuntimeError: Complex datatype is not supported on HPU device", "complex numbers"),
        (
            K26,
            "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: CompileTimeHbmOom - Used 95.1G of 94.75G hbm.",
            "what XLA compiles",
        ),
    ],
)
def test_lines_of_logs_have_their_causes(command: str, line: str, cause: str) -> None:
    assert any(cause in message for message in messages(f"{command}\n\n{line}", Code.LOGGED_FAILURE))


@pytest.mark.parametrize(("of", "told"), [("text benchmarks", False), ("image requests", True)])
def test_a_crash_is_no_complaint_of_pictures(of: str, told: bool) -> None:
    start = "sglang serve --model-path nvidia/Kimi-K2.5-NVFP4 --tp-size 8 --trust-remote-code"
    start += " --tool-call-parser kimi_k2 --reasoning-parser kimi_k2"
    first = first_line(f"The model crashes under stress during {of} on 8x B200.\n\n```\n{start}\n```\n")
    assert ("grey or RGBA pictures" in first) is told
