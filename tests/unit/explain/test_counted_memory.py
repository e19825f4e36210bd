"""Memory that a text gives without the kind of the devices."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask, ask_one

COMMAND = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code --tensor-parallel-size 8 --max-model-len 32768"


def short(one: Judged) -> list[str]:
    """Of devices that are usual it is told in a note which are too small."""
    found = [finding for finding in one.findings if finding.code in (Code.DOES_NOT_FIT, Code.TIGHT)]
    found = [finding for finding in found if "too large for" not in finding.message]
    assert all(finding.severity is Severity.WARNING for finding in found)
    return [finding.message for finding in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8 GPUs of 48 GB", "by the 8 devices of 48 GB"),
        ("8 gpu/48G", "by the 8 devices of 48 GB"),
        ("8 卡 48G", "by the 8 devices of 48 GB"),
        ("8x GPU 141GB", ""),
        ("4 GPUs of 48 GB", ""),  # another number than the ranks
        ("8 GPUs of 48 GB or 8 GPUs of 141 GB", ""),
        ("8 modules of 48 GB RAM", ""),
        ("GPU memory of 30 GB", "the text speaks of 30 GB"),
        ("VRAM: 24GB", "the text speaks of 24 GB"),
        ('{"required_vram": 40}', "the text speaks of 40 GB"),
        ("  min_vram_gb: 40  # of each", "the text speaks of 40 GB"),
        ("required_gpu_memory: 40GB", "the text speaks of 40 GB"),
        ("required_vram: 80", ""),
        ("min_vram: 40000", ""),  # in MB
        ("required_memory: 40", ""),
        ("GPU memory of 80 GB", ""),  # of each of eight it may do
        ("GPU memory of 640 GB", ""),
        ("GPU 3 has a total capacity of 47.51 GiB of which 2.71 GiB is free", "by the 8 devices of 47.51 GiB"),
        ("GPU 3 has a total capacty of 47.51 GiB of which 2.71 GiB is free", "by the 8 devices of 47.51 GiB"),
        ("GPU 3 has a total capacity of 139.81 GiB of which 2.71 GiB is free", ""),
        ("needs much memory", ""),
    ],
)
def test_what_the_text_gives(text: str, expected: str) -> None:
    found = short(ask_one(f"{text}\n\n```bash\n{COMMAND}\n```\n", ""))
    assert bool(found) == bool(expected)
    assert all(expected in message for message in found)


@pytest.mark.parametrize("more", ["--cpu-offload-gb 60", "-pp $PP"])
def test_what_is_open_otherwise_is_not_judged(more: str) -> None:
    assert not short(ask_one(f"8 GPUs of 48 GB\n\n```bash\n{COMMAND} {more}\n```\n", ""))


def test_devices_that_were_named_go_before() -> None:
    assert not short(ask_one(f"8 GPUs of 48 GB\n\n```bash\n{COMMAND}\n```\n", "8xH200"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Kimi-K2.5 on vLLM (BF16, H200)", True),
        ("| model | Kimi K2.5 (bf16) |", True),
        ("# Kimi-K2.5 with BF16 attention", False),
        ("# Kimi-K2.5, INT4 experts, BF16", False),
        ("# Kimi-K2.5 on H200", False),
        ("# Kimi-K2.50-lite in BF16", False),
    ],
)
def test_weights_that_are_called_bf16(text: str, expected: bool) -> None:
    one = ask_one(f"{text}\n\n```bash\n{COMMAND}\n```\n", "8xH200")
    assert any("it is published in INT4" in finding.message for finding in one.findings) == expected


KT = "kt run /models/Kimi-K2.6 --tp 1 --kt-method RAWINT4\n"


@pytest.mark.parametrize("said", ["# one RTX 2080 Ti (11GB)", "# RTX 2080 Ti (11 GB) and RTX 2080 (8GB)"])
def test_a_device_that_cannot_hold_what_is_no_expert(said: str) -> None:
    (judged,) = ask(f"{said}\n{KT}")
    (finding,) = [each for each in judged.findings if str(each.code) == "does-not-fit"]
    assert "11 GB" in finding.message
    assert str(finding.severity) == "warning"


@pytest.mark.parametrize(
    "said", ["# RTX 2080 Ti (11GB), and an RTX 6000 Ada (48GB)", "# one RTX 2080 Ti", "# DDR4 (16GB)"]
)
def test_a_larger_device_or_none_of_known_size_says_nothing(said: str) -> None:
    (judged,) = ask(f"{said}\n{KT}")
    assert not [each for each in judged.findings if str(each.code) == "does-not-fit"]
