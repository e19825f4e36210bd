"""What PyTorch and Ray print within an error (`If reserved but unallocated memory is large try setting …`) makes no
general sentence of a report; and an error of the running engine shows that its options were taken."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask_one, first_line

SERVE = "vllm serve /models/kimi --trust-remote-code --tensor-parallel-size 8"
NO_MEMORY = "CUDA out of memory. Tried to allocate 1029.51 GiB. GPU 0 has a total capacity of 79.35 GiB."
FRAGMENTS = (
    "If reserved but unallocated memory is large try setting {}=expandable_segments:True to avoid fragmentation."
)
CONDITIONS = (
    FRAGMENTS.format("PYTORCH_CUDA_ALLOC_CONF"),
    FRAGMENTS.format("PYTORCH_ALLOC_CONF"),
    "Of the allocated memory 21.98 GiB is allocated by PyTorch, with 21.71 MiB allocated in private pools "
    "(e.g., CUDA Graphs)",
    "If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.",
)


def stops(text: str) -> list[str]:
    return [each.message for each in ask_one(text, "8xA100").findings if each.code is Code.LOGGED_FAILURE]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_error_with_conditions_of_its_own_came(condition: str) -> None:
    text = f"`{SERVE}`\n\nIt reports `{NO_MEMORY} {condition}`\n"
    (message,) = stops(text)
    assert "1029.51 GiB" in message
    assert first_line(text).startswith("Stopped (line 3)")


def test_a_crash_of_the_device() -> None:
    error = (
        "RuntimeError: CUDA error: an illegal memory access was encountered. CUDA kernel errors might be "
        "asynchronously reported at some other API call, so the stacktrace below might be incorrect."
    )
    assert stops(f"`{SERVE}`\n\nThe server stops with `{error}`\n")


@pytest.mark.parametrize(
    "sentence",
    [f"If it reports `{NO_MEMORY} {CONDITIONS[0]}`, take fewer images.", f"You may get `{NO_MEMORY} {CONDITIONS[0]}`."],
)
def test_a_guide_still_speaks_in_general(sentence: str) -> None:
    assert not stops(f"`{SERVE}`\n\n{sentence}\n")


IMAGES = f"`{SERVE} --limit-mm-per-prompt image=64`\n\n"


def test_a_value_that_the_failed_engine_had_taken() -> None:
    judged = ask_one(f"{IMAGES}It reports `RuntimeError: Worker failed with error '{NO_MEMORY}'`\n", "8xA100")
    (told,) = [each for each in judged.findings if each.where == "--limit-mm-per-prompt"]
    assert told.severity is Severity.NOTE
    assert all("image=64" in line.argv for line in judged.corrected)


@pytest.mark.parametrize("below", ["", "It says `unrecognized arguments: image=64`\n", "Why is that?\n"])
def test_a_value_that_nothing_shows_to_be_taken(below: str) -> None:
    (told,) = [each for each in ask_one(IMAGES + below, "8xA100").findings if each.where == "--limit-mm-per-prompt"]
    assert told.severity is Severity.WARNING
