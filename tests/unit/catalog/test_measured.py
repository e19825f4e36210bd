"""Copied figures against themselves: what they say of each other finds a slip in the copying."""

from __future__ import annotations

import pytest

from moonpad.catalog.calibrations import calibrations
from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.published import published
from moonpad.values.plan import Layout
from moonpad.values.plan_answer import Published

GIB = 2**30
BYTES_A_TOKEN = 61 * (512 + 64) * 2
IDS = [f"{result.cluster} {result.title}" for result in published()]


def test_the_known_runs() -> None:
    runs = {run.id: run for run in calibrations()}
    h200, h100 = runs["h200-tp8-defaults"], runs["h100-tp8-eager"]
    assert (h200.device, h200.layout) == ("h200-sxm", Layout(tp=8))
    assert (h200.settings.max_num_batched_tokens, h200.settings.max_num_seqs) == (8192, 1024)
    assert h200.settings.gpu_memory_utilization == 0.90
    assert not h200.settings.enforce_eager
    assert (h100.settings.max_num_batched_tokens, h100.settings.max_num_seqs) == (4096, 1)
    assert (h100.settings.max_model_len, h100.settings.gpu_memory_utilization) == (12288, 0.95)
    assert h100.settings.enforce_eager
    assert h100.kv_bytes / GIB == pytest.approx(0.86)


def test_the_range_is_the_rounding_of_two_digits() -> None:
    for run in calibrations():
        assert run.kv_bytes_high - run.kv_bytes == pytest.approx(0.005 * GIB)
        assert run.kv_bytes - run.kv_bytes_low == pytest.approx(0.005 * GIB)


def test_logged_tokens_fit_the_logged_bytes() -> None:
    """70,272 bytes a token and rank: what the log counts lies within the rounding of what it measured."""
    seen = 0
    for run in calibrations():
        if run.kv_tokens is not None:
            per_rank = run.kv_tokens // run.layout.dcp
            assert per_rank % 64 == 0
            assert run.kv_bytes_low - 64 * BYTES_A_TOKEN < per_rank * BYTES_A_TOKEN <= run.kv_bytes_high
            seen += 1
    assert seen == 2


TIMED = [result for result in published() if "duration" in dict(result.figures)]


@pytest.mark.parametrize("result", TIMED, ids=lambda result: f"{result.cluster} {result.title}")
def test_throughputs_follow_from_counts(result: Published) -> None:
    known = dict(result.figures)
    duration = known["duration"]
    assert known["completed"] / duration == pytest.approx(known["request_throughput"], abs=0.0051)
    if "total_output_tokens" in known:
        produced = known["total_output_tokens"]
        assert produced / duration == pytest.approx(known["output_throughput"], rel=2e-4)
        both = produced + known["total_input_tokens"]
        assert both / duration == pytest.approx(known["total_token_throughput"], rel=2e-4)


@pytest.mark.parametrize(
    "result", [row for row in published() if row.engine == "vllm-ascend"], ids=lambda result: result.title
)
def test_ascend_answers_are_whole(result: Published) -> None:
    """Output throughput × duration is requests × the length that the title says."""
    known = dict(result.figures)
    length = int(result.title.split()[-2])
    assert known["output_throughput"] * known["duration"] == pytest.approx(known["completed"] * length, rel=3e-4)


@pytest.mark.parametrize("result", published(), ids=IDS)
def test_layouts_fit_their_clusters(result: Published) -> None:
    assert result.layout.world_size == parse_cluster(result.cluster).devices


def test_every_result_says_whose_it_is() -> None:
    for result in published():
        assert result.standing == "reported"
        assert result.checked
        assert "recipe" in result.source or "documentation" in result.source


def test_results_that_are_not_comparable_say_so() -> None:
    pair = [result for result in published() if result.cluster == "8xH200"]
    assert len(pair) == 2
    for result in pair:
        known = dict(result.figures)
        ended_after = round(known["total_output_tokens"] / known["completed"])
        assert f"{ended_after} tokens on average" in result.note
        assert "not comparable" in result.note
