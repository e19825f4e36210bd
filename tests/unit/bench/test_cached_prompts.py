"""Prompts that a server has seen before are said, with what helps."""

from typing import Any

import pytest

from moonpad.bench.cached_prompts import cached_prompts
from moonpad.bench.config import BenchConfig
from moonpad.bench.telemetry import Sample, ServerStats
from moonpad.observe.metrics import EngineLoad
from moonpad.report.run_phrases import warnings
from moonpad.values.records import replace


def stats(hits: float | None, queries: float | None) -> ServerStats:
    """Counters that did not begin at 0."""
    nothing = EngineLoad(None, None, None, None, None)
    before = replace(
        nothing, prefix_hits=None if hits is None else 500.0, prefix_queries=None if hits is None else 900.0
    )
    after = replace(
        before,
        prefix_hits=None if hits is None else 500.0 + hits,
        prefix_queries=None if queries is None else 900.0 + queries,
    )
    return ServerStats([Sample(0.0, before), Sample(1.0, after)])


FRESH = BenchConfig(input_tokens=1024, output_tokens=128, requests=64, concurrency=16)


def test_prompts_that_were_sent_before() -> None:
    """A quarter of them: the load before had the same seed, and a quarter of the requests."""
    found = cached_prompts(FRESH, stats(16 * 1024, 64 * 1024))
    assert found is not None
    assert found["share"] == 0.25
    assert "25%" in found["warning"]
    assert f"--seed {FRESH.seed + 1}" in found["warning"]
    assert warnings({"moonpad": {"cached_prompts": found}}) == [("fail", found["warning"])]


@pytest.mark.parametrize(
    ("config", "server"),
    [
        (FRESH, stats(64 * 16, 64 * 1024)),  # a block of the template in each
        (replace(FRESH, input_tokens=64), stats(64 * 32, 64 * 64)),
        (FRESH, stats(None, None)),
        (FRESH, stats(0, 64 * 1024)),
        (FRESH, ServerStats()),
        (replace(FRESH, workload=replace(FRESH.workload, prefix_tokens=512)), stats(32 * 1024, 64 * 1024)),
    ],
)
def test_nothing_is_said_of_what_has_to_be_in_the_cache(config: BenchConfig, server: ServerStats) -> None:
    assert cached_prompts(config, server) is None


def test_a_result_without_it() -> None:
    document: dict[str, Any] = {"moonpad": {"cached_prompts": None}}
    assert warnings(document) == []
