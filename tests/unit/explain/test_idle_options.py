"""What is reported of an option is not told where nothing ever asks for that option."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from tests.unit.explain.judging import ask, ask_one

SERVE = "vllm serve nvidia/DeepSeek-R1-0528-NVFP4-v2 --enable-expert-parallel "
SEGMENTS = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True vllm serve Qwen/Qwen3.5-122B-A10B -tp 4"


def told(judged: Judged, words: str) -> bool:
    return any(words in finding.message for finding in judged.all_findings)


@pytest.mark.parametrize(
    ("more", "reported", "idle"),
    [
        ("-tp 4 --all2all-backend flashinfer_nvlink_one_sided", False, True),
        ("-tp 4 --all2all-backend flashinfer_nvlink_two_sided --data-parallel-size 1", False, True),
        ("-tp 2 --data-parallel-size 2 --all2all-backend flashinfer_nvlink_one_sided", True, False),
        ("-tp 2 -dp 2 --all2all-backend flashinfer_nvlink_two_sided", True, False),
        ("-dp 4 --all2all-backend flashinfer_nvlink_two_sided", False, False),  # nothing is summed up over one rank
        ("-tp 1 -dp 4 --all2all-backend flashinfer_nvlink_one_sided", False, False),
        ('-tp 4 --all2all-backend flashinfer_nvlink_one_sided "$@"', False, False),  # which may have ranks of its own
        ('-tp 2 -dp 2 --all2all-backend flashinfer_nvlink_one_sided "$@"', True, False),
    ],
)
def test_a_fault_of_the_exchange_needs_ranks_that_exchange(more: str, reported: bool, idle: bool) -> None:
    judged = ask_one(SERVE + more, on="4xGB300", version="0.21.0")
    assert told(judged, "what the experts return is summed up by FlashInfer") is reported
    assert told(judged, "the option does nothing") is idle


def test_what_the_start_compares_with_another_option_is_told_of_an_idle_one_too() -> None:
    judged = ask_one(SERVE + "-tp 4 --enable-dbo --all2all-backend flashinfer_nvlink_one_sided", "4xGB300", "0.28.0")
    assert told(judged, "another --all2all-backend ends the start")


@pytest.mark.parametrize(
    ("on", "expected"),
    [
        ("4xH200", True),
        ("4xA100", True),
        ("4xRTX3090", False),
        ("4xA6000", False),
        ("4xH100-PCIe", False),
        ("4xH100-NVL", False),
    ],
)
def test_the_all_reduce_of_cards_that_nothing_joins_is_off(on: str, expected: bool) -> None:
    judged = ask_one(SEGMENTS, on=on, version="0.24.0")
    assert told(judged, "cannot share the memory of expandable segments") is expected


@pytest.mark.parametrize(("more", "expected"), [("", True), (" --kv-cache-memory-bytes 20000000000", False)])
def test_a_share_that_sizes_nothing_is_not_said_to_be_too_large(more: str, expected: bool) -> None:
    text = "vllm serve moonshotai/Kimi-K3 -tp 8 --gpu-memory-utilization 0.985" + more
    (judged,) = ask(text, on="8xB300")
    assert told(judged, "what this share leaves free") is expected
