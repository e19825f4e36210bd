"""What `moonpad bench SPEC` expects of its load."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.bench.config import BenchConfig
from moonpad.cli.bench_predicted import predictor_of, workload_of
from moonpad.load.arrivals import Arrivals
from moonpad.load.lengths import parse_lengths
from moonpad.load.workloads.workload import Workload

TINY = Path(__file__).parents[3] / "examples" / "tiny.toml"


@pytest.fixture(autouse=True)
def _own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_medians_in_the_units_of_the_document() -> None:
    figures = {each.name: each.estimate for each in predictor_of(TINY)(BenchConfig(ignore_eos=True))}
    assert set(figures) == {"median_ttft_ms", "median_tpot_ms", "output_throughput"}
    # 64 tokens each, four at a time: what they give together follows from how long one takes.
    whole_s = (figures["median_ttft_ms"].value + 63 * figures["median_tpot_ms"].value) / 1e3
    assert figures["output_throughput"].value == pytest.approx(4 * 64 / whole_s, rel=0.2)


def test_no_throughput_where_the_model_ends_its_answers() -> None:
    assert {each.name for each in predictor_of(TINY)(BenchConfig())} == {"median_ttft_ms", "median_tpot_ms"}


def test_nothing_is_expected_where_nothing_is_known(tmp_path: Path) -> None:
    spec = tmp_path / "moonpad.toml"
    spec.write_text('model = "nowhere"\nengine = "vllm-cpu"\n')
    assert predictor_of(spec)(BenchConfig()) == ()
    assert predictor_of(TINY)(BenchConfig(workload=Workload(kind="turns", turns=4))) == ()


def test_the_load_is_the_same() -> None:
    lengths = parse_lengths("lognormal:512,0.6")
    load = workload_of(BenchConfig(input_tokens=lengths, arrivals=Arrivals(4.0), concurrency=None, requests=50))
    assert load is not None
    assert (load.rate_per_s, load.concurrency, load.count) == (4.0, None, 50)
    assert load.input.at(0.5) == pytest.approx(512, rel=0.01)
