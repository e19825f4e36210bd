"""Sizes that the start divides by one another."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

START = "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --trust-remote-code --tp-size 8 "
FP4 = "python3 -m sglang.launch_server --model-path nvidia/Kimi-K2.5-NVFP4 --trust-remote-code --tp-size 8 "
DP = "--dp-size 8 --enable-dp-attention "


def said(text: str, part: str, on: str = "8xH200", version: str = "0.5.9") -> list[Severity]:
    judged = ask(text, on, version)
    return [finding.severity for one in judged for finding in one.findings if part in finding.message]


@pytest.mark.parametrize(
    ("text", "version", "expected"),
    [
        (f"{START}--page-size 64 --chunked-prefill-size 5000", "0.5.9", [Severity.ERROR]),
        (f"{START}--page-size 64 --chunked-prefill-size 5000", "", [Severity.WARNING]),
        (f"{START}--page-size 128 --chunked-prefill-size 5000", "0.5.9", [Severity.WARNING]),
        (f"{START}--page-size 64 --chunked-prefill-size 8192", "0.5.9", []),
        (f"{START}--chunked-prefill-size 5000", "0.5.9", []),
        (f"{START}--page-size 64 --chunked-prefill-size -1", "0.5.9", []),
        (f"{START}--page-size 64 --chunked-prefill-size 5000 --disaggregation-mode decode", "0.5.9", []),
        (f"{START}--page-size 64 --chunked-prefill-size 5000 --attention-backend fa3", "0.5.9", [Severity.WARNING]),
        (f"{START}{DP}--page-size 64 --chunked-prefill-size 4096", "0.5.9", []),
        (f"{START}{DP}--page-size 64 --chunked-prefill-size 4224", "0.5.9", [Severity.ERROR]),
        (f"{START}--page-size 64 --chunked-prefill-size $CHUNK", "0.5.9", []),
    ],
)
def test_pages_of_a_chunk(text: str, version: str, expected: list[Severity]) -> None:
    assert said(text, "are not a multiple of the page size", version=version) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{FP4}--ep-size 4 --moe-runner-backend flashinfer_cutlass", 1),
        (f"{FP4}--ep-size 8 --moe-runner-backend flashinfer_cutlass", 0),
        (f"{FP4}--moe-runner-backend flashinfer_cutlass", 0),
        (f"{FP4}--ep-size 4 --moe-runner-backend flashinfer_trtllm", 0),
        (f"{FP4}--ep-size $EP --moe-runner-backend flashinfer_cutlass", 0),
    ],
)
def test_experts_of_one_backend(text: str, expected: int) -> None:
    assert len(said(text, "takes 1 or all", on="8xB200")) == expected


def test_ranks_of_attention_share_the_weights_of_other_models() -> None:
    start = "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3.2-Exp --tp-size 8 "
    assert not said(f"{start}--dp-size 8 --enable-dp-attention", "at least", version="0.5.3")
    assert said(start.replace("--tp-size 8", "--tp-size 4"), "at least", version="0.5.3") == [Severity.ERROR]


def test_a_build_for_devices_that_are_not_planned() -> None:
    start = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp-size 16 --trust-remote-code "
    judged = ask(f"{start}--attention-backend ascend --device npu", "16xAscend-910C", "0.5.10")
    found = [finding for one in judged for finding in one.findings]
    assert all(finding.severity is not Severity.ERROR for finding in found)
    assert any("does not judge" in finding.message for finding in found)
