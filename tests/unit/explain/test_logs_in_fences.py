# ruff: noqa: E501 - lines of logs are as long as they are
"""Lines of a log without any stamp: in a fence of their own they name the cause, in a sentence or a script they are talk."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.fenced_logs import fenced_logs
from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

START = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code"
LINES = {
    "Failed: Cuda error /workspace/csrc/custom_all_reduce.cuh:455 'invalid argument'": "custom all-reduce",
    "Failed: Cuda error /workspace/csrc/custom_all_reduce.cuh:307 'peer access is not supported between these two devices'": "cannot read each other",
    "This kernel only supports sm120.": "does not run on this device",
    "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'": "sm_121a",
    "NVRM: Xid (PCI:0000:00:08): 94, pid='<unknown>', name=<unknown>, Contained: SM (0x1). RST: No, D-RST: No": "cannot be corrected",
    "Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all": "CDI",
}


def causes(text: str) -> list[str]:
    found = [finding for judgement in ask(text, "8xH200", "") for finding in judgement.findings]
    return [each.message for each in found if each.code is Code.LOGGED_FAILURE]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("kind", ["", "text", "log"])
def test_a_line_in_a_fence_of_its_own_names_the_cause(line: str, kind: str) -> None:
    assert LINES[line] in " ".join(causes(f"It stops:\n\n```bash\n{START}\n```\n\n```{kind}\n{line}\n```\n"))


@pytest.mark.parametrize("line", LINES)
def test_the_same_words_in_general_name_none(line: str) -> None:
    assert causes(f"```bash\n{START}\n```\n\n## Troubleshooting\n\n```\n{line}\n```\n") == []


@pytest.mark.parametrize("line", list(LINES)[2:4])
def test_the_same_words_within_a_sentence_name_none(line: str) -> None:
    assert (
        causes(f"```bash\n{START}\n```\n\nOn other cards some see {line!r} now and then, which is another matter.\n")
        == []
    )


@pytest.mark.parametrize(
    "written",
    [
        "docker run --gpus all image\nConnection refused means that it is not up",
        "export A=1\nnot found",
        "key: value\nnot found",
        "if failed:\n    raise Other",
        "$ ls\nNo such file or directory",
        "- one\n- No such file",
    ],
)
def test_what_is_written_is_not_a_log(written: str) -> None:
    text = f"```\n{written}\n```".split("\n")
    assert fenced_logs(text, set()) == set()


def test_only_the_lines_of_closed_fences_without_a_language() -> None:
    text = [
        "```",
        "Failed: one",
        "two not found",
        "```",
        "Failed: three",
        "```python",
        "Failed: four",
        "```",
        "~~~",
        "Failed: five",
    ]
    assert fenced_logs(text, set()) == {1, 2}


@pytest.mark.parametrize(
    "line",
    [
        "[ 1234.567890] NVRM: Xid (PCI:0000:07:00): 79, pid=1234, GPU has fallen off the bus.",
        "[Fri Aug  9 13:32:56 2024] NVRM: Xid (PCI:0000:07:00): 79, pid=1234, GPU has fallen off the bus.",
        "kernel: NVRM: Xid (PCI:0000:07:00): 79, pid=1234, GPU has fallen off the bus.",
    ],
)
def test_the_kernels_log_is_a_log_wherever_it_stands(line: str) -> None:
    assert any("a device was lost" in each for each in causes(f"{START}\n\n{line}\n"))
