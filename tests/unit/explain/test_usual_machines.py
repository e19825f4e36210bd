"""What is said of the memory where no devices are named: which kinds that many have hold the command."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

K2 = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code"


def about_memory(text: str) -> list[Finding]:
    return [finding for one in ask(text) for finding in one.findings if finding.where == "memory"]


@pytest.mark.parametrize(
    ("command", "small", "held"),
    [
        (f"{K2} --tensor-parallel-size 8", "8xH100", "on 8xH200"),
        ("vllm serve moonshotai/Kimi-K2.5 -tp 4", "4xH100 and 4xH200", "on 4xB200"),
        ("python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp 8", "8xH100", "on 8xH200"),
    ],
)
def test_a_kind_that_is_too_small_is_told_and_the_next_that_holds_it(command: str, small: str, held: str) -> None:
    (finding,) = about_memory(f"{command}\n")
    assert finding.severity is Severity.NOTE
    assert f"too large for {small}:" in finding.message
    assert held in finding.message


@pytest.mark.parametrize(
    "text",
    [
        f"{K2} --tensor-parallel-size 16\n",  # each kind holds it
        f"{K2} --tensor-parallel-size 4\n",  # told by the largest device known
        f"On 8xH100:\n{K2} --tensor-parallel-size 8\n",  # judged
        f"On AMD:\n{K2} --tensor-parallel-size $TP\n",
    ],
)
def test_else_it_is_not(text: str) -> None:
    assert not [finding for finding in about_memory(text) if "too large for" in finding.message]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It takes a node of 8×80-141 GB at the least.", "counts devices of 80 GB"),
        ("8x80 GB or 8x141 GB of GPU memory.", "counts devices of 80 GB"),
        ("On 8x80GB GPUs.", "counts devices of 80 GB"),
    ],
)
def test_devices_that_the_text_counts_by_their_memory_and_that_are_too_small(text: str, words: str) -> None:
    (finding,) = about_memory(f"{text}\n\n```bash\n{K2} --tensor-parallel-size 8\n```\n")
    assert finding.severity is Severity.WARNING
    assert words in finding.message
    assert finding.remedy


@pytest.mark.parametrize(
    "text",
    ["It takes a node of 8x141-192 GB.", "8x64 GB RAM, some GPUs.", "A node of 4x80 GB is for other models."],
)
def test_of_larger_ones_and_of_others_no_warning_is_made(text: str) -> None:
    findings = about_memory(f"{text}\n\n```bash\n{K2} --tensor-parallel-size 8\n```\n")
    assert all(finding.severity is Severity.NOTE for finding in findings)
