"""The result blocks of the seed documents: moonpad shows them as somebody else's, figure for figure.

Copied by another hand than the catalogue's, from the documents. What docs/seeds.md says of them is reckoned here.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.published import published
from moonpad.cli.command_line import run
from moonpad.plan.nearest_results import nearest_published
from moonpad.values.plan import Layout
from tests.unit.plan.test_search import INSTRUCT, THINKING, plan, vllm_0_11

# Requests, seconds, tokens generated, mean and median time to first token, mean time per output token, mean and median
# time between tokens.
BLOCK = (
    *("completed", "duration", "total_output_tokens"),
    *("mean_ttft_ms", "median_ttft_ms", "mean_tpot_ms", "mean_itl_ms", "median_itl_ms"),
)
VLLM: list[tuple[str, str, Layout, tuple[float, ...]]] = [
    (INSTRUCT, "16xH800", Layout(tp=8, pp=2, dcp=8), (8, 132.79, 4096, 58282.92, 57827.30, 30.78, 30.78, 22.37)),
    (INSTRUCT, "16xH200", Layout(tp=8, pp=2), (16, 62.75, 16000, 4278.46, 4285.54, 58.15, 58.15, 54.59)),
    (INSTRUCT, "16xH200", Layout(tp=8, pp=2, dcp=8), (16, 47.14, 16000, 2007.87, 1932.03, 45.01, 45.01, 42.01)),
    (THINKING, "8xH200", Layout(tp=8), (998, 800.26, 388750, 271196.67, 227389.87, 381.29, 111.22, 38.04)),
    (THINKING, "8xH200", Layout(tp=8, dcp=8), (994, 631.35, 438872, 227780.13, 227055.20, 398.60, 104.73, 43.97)),
]

# Requests, seconds, tokens out a second, mean time to first token, mean time per output token.
ROW = ("completed", "duration", "output_throughput", "mean_ttft_ms", "mean_tpot_ms")
LENGTHS: dict[int, tuple[float, ...]] = {
    512: (10, 111.00, 46.12, 507.60, 200.47),
    1024: (10, 221.52, 46.23, 566.39, 208.20),
    2048: (10, 479.72, 42.69, 722.32, 230.26),
}
CONCURRENCY: dict[int, tuple[float, ...]] = {
    1: (10, 595.07, 17.21, 473.71, 57.71),
    2: (20, 623.88, 32.83, 708.16, 60.29),
    4: (40, 725.38, 56.47, 956.11, 69.97),
    8: (80, 907.44, 90.28, 1361.85, 87.37),
    16: (160, 3093.07, 52.97, 76766.84, 222.07),
}


def shown(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert run(["catalog", "published", "--json"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["published"]
    return rows


@pytest.mark.parametrize(("model", "on", "layout", "figures"), VLLM)
def test_the_blocks_of_seeds_1_and_3_stand_beside_a_plan_of_that_layout(
    model: str, on: str, layout: Layout, figures: tuple[float, ...]
) -> None:
    nearest = nearest_published(published(), model, parse_cluster(on), "vllm", layout)[0]
    known = dict(nearest.figures)
    assert nearest.layout == layout
    assert tuple(known[name] for name in BLOCK) == figures
    assert (nearest.standing, "recipe" in nearest.source) == ("reported", True)


def test_a_plan_has_them_and_says_whose_they_are() -> None:
    best = vllm_0_11(THINKING, "8xH200", goal="throughput").choices[0]
    assert [dict(reference.figures)["output_throughput"] for reference in best.references] == [695.13, 485.78]
    on_ascend = plan(THINKING, "16xA3").choices[0]
    assert {reference.source for reference in on_ascend.references} == {
        "vLLM-Ascend documentation, Kimi-K2-Thinking, chapter 8"
    }


def test_the_tables_of_seed_2_are_in_the_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row for row in shown(capsys) if row["engine"] == "vllm-ascend"]
    tables = {("", length): figures for length, figures in LENGTHS.items()}
    tables |= {("max_concurrency", streams): figures for streams, figures in CONCURRENCY.items()}
    assert len(rows) == len(tables) == 8
    for (name, number), figures in tables.items():
        (row,) = [
            row
            for row in rows
            if (row["figures"].get(name) == number if name else f", {number} tokens in" in row["title"])
            and ("max_concurrency" in row["figures"]) == bool(name)
        ]
        assert tuple(row["figures"][key] for key in ROW) == figures
        assert row["standing"] == "reported"


def test_seed_1_measured_the_queue_of_one_sequence() -> None:
    """132.79 s / 8 = 16.6 s a request, 511 × 30.78 ms = 15.7 s of it decoding: the last waits for seven others."""
    known = dict(
        nearest_published(published(), INSTRUCT, parse_cluster("16xH800"), "vllm", Layout(8, 2, dcp=8))[0].figures
    )
    each_s = known["duration"] / known["completed"]
    decoding_s = (known["total_output_tokens"] / known["completed"] - 1) * known["mean_tpot_ms"] / 1000
    assert each_s == pytest.approx(16.6, abs=0.01)
    assert decoding_s == pytest.approx(15.73, abs=0.01)
    # One a second arrives and one in 16.6 s is done: number k waits about k × 15.6 s, in the mean 3.5 × 15.6.
    assert known["mean_ttft_ms"] / 1000 == pytest.approx(3.5 * (each_s - 1), rel=0.1)
    assert known["p99_ttft_ms"] / 1000 == pytest.approx(7 * (each_s - 1), rel=0.05)


def test_seed_3_gained_less_than_its_table_says() -> None:
    """1.262 (requests) × 1.133 (length) = 1.431 (tokens); each token came later in the mean and in the median."""
    before, after = (
        dict(nearest_published(published(), THINKING, parse_cluster("8xH200"), "vllm", layout)[0].figures)
        for layout in (Layout(tp=8), Layout(tp=8, dcp=8))
    )
    rate, length = (after[n] / before[n] for n in ("completed", "total_output_tokens"))
    rate *= before["duration"] / after["duration"]
    length /= after["completed"] / before["completed"]
    assert rate == pytest.approx(1.262, abs=0.001)
    assert length == pytest.approx(1.133, abs=0.001)
    assert rate * length == pytest.approx(1.431, abs=0.001)
    assert after["mean_tpot_ms"] / before["mean_tpot_ms"] == pytest.approx(1.045, abs=0.001)
    assert after["median_itl_ms"] / before["median_itl_ms"] == pytest.approx(1.156, abs=0.001)


def test_the_best_concurrency_of_seed_2_and_what_breaks_before_its_queue(capsys: pytest.CaptureFixture[str]) -> None:
    """8 has the most tokens a second; 10 at once have half of that, below the 12 sequences that may run."""
    rows = {
        (row["figures"].get("max_concurrency"), row["title"].split(", ")[1]): row["figures"]
        for row in shown(capsys)
        if row["engine"] == "vllm-ascend"
    }
    by_streams = {streams: figures for (streams, _), figures in rows.items() if streams is not None}
    assert max(by_streams, key=lambda streams: by_streams[streams]["output_throughput"]) == 8
    ten = rows[None, "1024 tokens in"]
    assert ten["completed"] == 10 < 12
    assert ten["output_throughput"] == pytest.approx(by_streams[8]["output_throughput"] / 2, rel=0.03)
    assert ten["mean_tpot_ms"] > 2 * by_streams[8]["mean_tpot_ms"]
    assert round(by_streams[16]["mean_ttft_ms"] / 1000, 1) == 76.8
