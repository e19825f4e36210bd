"""`--moe-backend` against the weights, the devices and the layout."""

from __future__ import annotations

import pytest

from moonpad.catalog.expert_backends import expert_formats, expert_kernels
from moonpad.values.finding import Code, Finding, Severity
from tests.unit.explain.judging import ask_one

K2 = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code -tp 16 --moe-backend {}"
K25 = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code -tp 8 --moe-backend {}"
R1 = "vllm serve deepseek-ai/DeepSeek-R1-0528 -tp 8 --moe-backend {}"
NVFP4 = "vllm serve nvidia/Kimi-K2.5-NVFP4 --trust-remote-code -tp 4 --moe-backend {}"
SHARED = "vllm serve nvidia/Kimi-K2.5-NVFP4 --trust-remote-code -tp 1 -dp 8 --enable-expert-parallel --moe-backend {}"
FP8_SHARED = "vllm serve deepseek-ai/DeepSeek-R1-0528 -tp 1 -dp 8 --enable-expert-parallel --moe-backend {}"
QWEN = "vllm serve Qwen/Qwen3-30B-A3B --moe-backend {}"
QWEN_FP8 = "vllm serve Qwen/Qwen3-235B-A22B-FP8 -tp 4 --moe-backend {}"
GPT_OSS = "vllm serve openai/gpt-oss-120b --moe-backend {}"


def told(text: str, on: str, version: str) -> list[Finding]:
    judged = ask_one(text, on=on, version=version)
    return [each for each in judged.findings if (each.where, each.code) == ("--moe-backend", Code.CONFLICT)]


@pytest.mark.parametrize(
    ("text", "on", "version", "part"),
    [
        (R1.format("flashinfer_cutedsl"), "8xB200", "0.24.0", "has no kernel for the experts of DeepSeek-R1-0528"),
        (R1.format("flashinfer_cutlass"), "8xB200", "0.28.0", "has no kernel on B200"),
        (R1.format("flashinfer_trtllm"), "8xH200", "0.20.0", "has no kernel on H200"),
        (R1.format("flashinfer-trtllm"), "8xH200", "0.20.0", "has no kernel on H200"),
        (R1.format("cutlass"), "8xH200", "0.30.0", "has no kernel on any device"),
        (R1.format("humming"), "8xH200", "0.24.0", "has no kernel before 0.25.1"),
        (R1.format("marlin"), "8xMI325X", "0.24.0", "has no kernel on"),
        (f"VLLM_USE_DEEP_GEMM=0 {R1.format('deep_gemm')}", "8xH200", "0.24.0", "VLLM_USE_DEEP_GEMM=0"),
        (K2.format("aiter"), "16xH200", "0.22.1", "has no kernel on H200"),
        (K25.format("triton"), "8xH200", "0.26.0", "has no kernel before 0.27.1"),
        (K25.format("flashinfer_cutlass"), "8xB200", "0.27.1", "which are INT4 in groups of 32"),
        (K25.format("flashinfer_trtllm"), "8xH200", "0.30.0", "has no kernel on H200"),
        (K25.format("flydsl"), "8xMI325X", "0.30.0", "has no kernel on"),
        (NVFP4.format("deep_gemm"), "8xB200", "0.28.0", "which are NVFP4"),
        (NVFP4.format("triton"), "8xB200", "0.33.0", "which are NVFP4"),
        (NVFP4.format("flashinfer_trtllm"), "8xH200", "0.28.0", "has no kernel on H200"),
        (SHARED.format("cutlass"), "8xB200", "0.28.0", "takes no experts that are shared out"),
        (
            SHARED.format("flashinfer_trtllm --all2all-backend deepep_low_latency"),
            "8xB200",
            "0.24.0",
            "from --all2all-backend deepep_low_latency",
        ),
        (FP8_SHARED.format("flashinfer_trtllm --enable-eplb"), "8xB200", "0.24.0", "--enable-eplb moves"),
        (QWEN.format("marlin"), "1xH200", "0.24.0", "which are BF16"),
        (QWEN_FP8.format("cutlass"), "8xH200", "0.24.0", "has no kernel on any device"),
        (GPT_OSS.format("cutlass"), "1xH200", "0.24.0", "which are MXFP4"),
        (GPT_OSS.format("flashinfer_trtllm"), "1xH200", "0.24.0", "has no kernel on H200"),
    ],
)
def test_a_backend_without_a_kernel(text: str, on: str, version: str, part: str) -> None:
    (finding,) = told(text, on, version)
    assert part in finding.message
    assert finding.severity is Severity.ERROR
    assert finding.remedy.startswith("leave ")


def test_what_is_recommended_has_a_kernel_there() -> None:
    (finding,) = told(R1.format("flashinfer_trtllm"), "8xH200", "0.20.0")
    assert finding.remedy == "leave it out, or write triton or deep_gemm or flashinfer_cutlass"
    (finding,) = told(R1.format("flashinfer_cutedsl"), "8xMI300X", "0.20.0")
    assert finding.remedy == "leave it out, or write triton"


def test_the_switch_of_a_library_may_stand_in_the_image() -> None:
    (finding,) = told(R1.format("aiter"), "8xMI300X", "0.20.0")
    assert finding.severity is Severity.WARNING
    assert "VLLM_ROCM_USE_AITER=1" in finding.message
    assert not told(f"VLLM_ROCM_USE_AITER=1 {R1.format('aiter')}", "8xMI300X", "0.20.0")


@pytest.mark.parametrize(
    ("text", "on", "version"),
    [
        (R1.format("flashinfer_trtllm"), "", ""),
        (R1.format("flashinfer_cutedsl"), "8xB200", ""),
        (R1.format("flashinfer_cutedsl").replace("deepseek-ai/DeepSeek", "/models/DeepSeek"), "8xB200", "0.24.0"),
    ],
)
def test_what_is_not_certain_is_no_error(text: str, on: str, version: str) -> None:
    assert all(finding.severity is not Severity.ERROR for finding in told(text, on, version))


@pytest.mark.parametrize(
    ("text", "on", "version"),
    [
        (R1.format("auto"), "8xH200", "0.24.0"),
        (R1.format("deep_gemm"), "8xH200", "0.24.0"),
        (R1.format("deep_gemm"), "8xB200", "0.20.0"),
        (R1.format("triton"), "8xMI300X", "0.24.0"),
        (R1.format("flashinfer_trtllm"), "8xB200", "0.28.0"),
        (R1.format("flashinfer_cutlass"), "8xH200", "0.28.0"),
        (R1.format("$BACKEND"), "8xH200", "0.28.0"),
        (R1.format("flashinfer_cutedsl"), "8xB200", "0.16.0"),
        (R1.format("flashinfer_cutedsl"), "8xB200", "0.99.0"),
        (R1.format("flashinfer_cutedsl --quantization nvfp4"), "8xB200", "0.33.0"),
        (K25.format("marlin"), "8xH200", "0.28.0"),
        (K25.format("triton"), "8xH200", "0.28.0"),
        (K25.format("triton"), "8xH200", "0.24.0"),
        (K25.format("flydsl"), "8xMI355X", "0.28.0"),
        (K25.format("triton"), "8xMI300X", "0.26.0"),
        (K25.format("flashinfer_trtllm"), "8xB200", "0.28.0"),
        (NVFP4.format("flashinfer_trtllm"), "8xB200", "0.28.0"),
        (NVFP4.format("flashinfer_cutlass"), "8xB300", "0.28.0"),
        (NVFP4.format("marlin"), "8xH200", "0.28.0"),
        (SHARED.format("flashinfer_trtllm --enable-eplb"), "8xB200", "0.28.0"),
        (SHARED.format("flashinfer_cutedsl --all2all-backend deepep_low_latency"), "8xB200", "0.28.0"),
        (SHARED.format("cutlass"), "8xB200", "0.32.0"),
        (QWEN.format("triton"), "1xH200", "0.24.0"),
        (QWEN.format("marlin").replace("A3B ", "A3B-AWQ "), "1xH200", "0.24.0"),
        (QWEN.format("marlin").replace("Qwen/", "someone/"), "1xH200", "0.24.0"),
        (QWEN.format("marlin --enable-lora"), "1xH200", "0.24.0"),
        (GPT_OSS.format("marlin"), "1xH200", "0.24.0"),
        ("vllm serve moonshotai/Kimi-K3 -tp 8 --moe-backend deep_gemm_mega_moe", "8xB300", "0.28.0"),
        ("vllm serve meta-llama/Llama-3.1-70B-Instruct -tp 4 --moe-backend marlin", "8xH200", "0.28.0"),
        ("vllm serve amd/Kimi-K2.5-MXFP4 -tp 4 --moe-backend aiter", "8xMI355X", "0.28.0"),
    ],
)
def test_what_has_a_kernel_or_is_not_known(text: str, on: str, version: str) -> None:
    assert not told(text, on, version)


FLASHINFER = "VLLM_USE_FLASHINFER_MOE_FP8=1 "
DEEP_GEMM = "VLLM_USE_DEEP_GEMM=1 "


def told_of_variable(text: str, on: str, version: str) -> list[Finding]:
    judged = ask_one(text, on=on, version=version)
    return [each for each in judged.findings if each.code is Code.CONFLICT and " asks for " in each.message]


@pytest.mark.parametrize(
    ("text", "on", "version", "part"),
    [
        (FLASHINFER, "8xMI300X", "0.18.0", "VLLM_USE_FLASHINFER_MOE_FP8=1 asks for flashinfer_trtllm or"),
        (
            f"{FLASHINFER}VLLM_FLASHINFER_MOE_BACKEND=throughput ",
            "8xB200",
            "0.20.0",
            "asks for flashinfer_cutlass, and",
        ),
        (f"{FLASHINFER}VLLM_FLASHINFER_MOE_BACKEND=masked_gemm ", "8xB200", "0.20.0", "no kernel that there is"),
        (DEEP_GEMM, "8xRTX-PRO-6000", "0.22.1", "asks for deep_gemm"),
        (DEEP_GEMM, "8xMI300X", "0.33.0", "asks for deep_gemm"),
        ("VLLM_ROCM_USE_AITER=1 ", "8xH200", "0.24.0", "asks for aiter"),
    ],
)
def test_a_variable_that_asks_for_no_kernel(text: str, on: str, version: str, part: str) -> None:
    (finding,) = told_of_variable(f"{text}vllm serve deepseek-ai/DeepSeek-R1-0528 -tp 8", on, version)
    assert part in finding.message
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize(
    ("text", "on", "version"),
    [
        (FLASHINFER, "8xH200", "0.18.0"),
        (FLASHINFER, "8xB200", "0.18.0"),
        (FLASHINFER, "8xMI300X", "0.14.1"),
        (FLASHINFER, "8xMI300X", "0.24.0"),
        (f"{FLASHINFER}VLLM_FLASHINFER_MOE_BACKEND=latency ", "8xH200", "0.20.0"),
        (f"{FLASHINFER}VLLM_FLASHINFER_MOE_BACKEND=$BACKEND ", "8xB200", "0.20.0"),
        (DEEP_GEMM, "8xH200", "0.22.1"),
        (DEEP_GEMM, "8xRTX-PRO-6000", "0.24.0"),
        (f"{DEEP_GEMM}VLLM_MOE_USE_DEEP_GEMM=0 ", "8xRTX-PRO-6000", "0.22.1"),
        ("VLLM_USE_DEEP_GEMM=0 ", "8xRTX-PRO-6000", "0.22.1"),
        ("VLLM_ROCM_USE_AITER=1 ", "8xMI300X", "0.24.0"),
    ],
)
def test_a_variable_that_has_its_kernel_or_asks_nothing(text: str, on: str, version: str) -> None:
    assert not told_of_variable(f"{text}vllm serve deepseek-ai/DeepSeek-R1-0528 -tp 8", on, version)


def test_the_option_goes_before_the_variable() -> None:
    text = f"{DEEP_GEMM}{R1.format('triton')}"
    assert not told_of_variable(text, "8xMI300X", "0.24.0")
    four_bits = "VLLM_USE_FLASHINFER_MOE_FP4=1 vllm serve nvidia/Kimi-K2.5-NVFP4 -tp 8 --trust-remote-code"
    assert told_of_variable(four_bits, "8xH200", "0.20.0")
    assert not told_of_variable(four_bits, "8xB200", "0.20.0")
    assert not told_of_variable(four_bits, "8xRTX-PRO-6000", "0.20.0")


def test_each_kernel_is_of_a_value_of_its_format() -> None:
    for (key, value), kernels in expert_kernels().items():
        assert value in expert_formats()[key].values
        assert all(not kernel.until or kernel.since != kernel.until for kernel in kernels)
