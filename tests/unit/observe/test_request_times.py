"""The means of an engine's requests, from the text of its `/metrics`."""

from __future__ import annotations

import pytest

from moonpad.engines import ENGINES
from moonpad.observe.request_times import NOTHING, read_times

NAMES = ENGINES["vllm"].metrics.times


def text(*ranks: tuple[float, float]) -> bytes:
    """(count, seconds) of each rank, as vLLM writes them."""
    lines = ["# TYPE vllm:request_queue_time_seconds histogram"]
    for rank, (count, seconds) in enumerate(ranks):
        labels = f'engine="{rank}",model_name="k"'
        lines += [
            f'vllm:request_queue_time_seconds_bucket{{{labels},le="+Inf"}} {count}',
            f"vllm:request_queue_time_seconds_count{{{labels}}} {count}",
            f"vllm:request_queue_time_seconds_sum{{{labels}}} {seconds}",
        ]
    return ("\n".join(lines) + "\n").encode()


TEXT = text((4, 6.0), (1, 4.0))


def test_over_all_ranks() -> None:
    assert read_times(TEXT, NAMES).mean("queued") == 2.0
    assert read_times(TEXT, NAMES).mean("prefill") is None


def test_between_two_looks() -> None:
    before, after = read_times(TEXT, NAMES), read_times(text((6, 7.0), (1, 4.0)), NAMES)
    assert after.since(before).mean("queued") == 0.5
    assert before.since(after).mean("queued") is None, "an engine that was started again"


@pytest.mark.parametrize("body", [b"", TEXT[:-3], b"\xff\xfe\n", text((4, float("nan"))), b"x" * (5 << 20)])
def test_what_cannot_be_read(body: bytes) -> None:
    assert read_times(body, NAMES) == NOTHING
