"""The page of a run: its figures, and drawings whose places are read back off their own axes."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moonpad.bench.config import BenchConfig, Slo
from moonpad.bench.report_data import RunData, read_report
from moonpad.bench.request_data import MOST_BARS
from moonpad.facts.device import DeviceUse
from moonpad.load.arrivals import Arrivals
from moonpad.load.failure import FailureKind, RequestFailure
from moonpad.load.record import RequestRecord
from moonpad.report.run_page import run_page
from moonpad.values.records import replace
from moonpad.values.units import GIB
from tests.html_page import Page, Ruler, corners, drawing, parts
from tests.unit.bench.records import record
from tests.unit.report.runs import sample, write_run

EVIL = '</pre><script>alert(1)</script>"><img src=x onerror=alert(2)>\x00\u202e{{ 7*7 }}'
REFUSED = RequestFailure(FailureKind.HTTP_STATUS, "too many", 429)


def ten() -> list[RequestRecord]:
    """Request i begins at i s, has its first token after (i + 1) / 10 s, and two more each half a second later."""
    firsts = [(index + 1) / 10 for index in range(10)]
    return [
        record(index, scheduled_s=float(index), tokens_at_s=(index + first, index + first + 0.5, index + first + 1.0))
        for index, first in enumerate(firsts)
    ]


def html_of(folder: Path) -> str:
    data = read_report(folder)
    assert isinstance(data, RunData)
    return run_page(data)


def page_of(folder: Path, records: list[RequestRecord] | None = None, **more: Any) -> str:
    write_run(folder / "run", ten() if records is None else records, **more)
    return html_of(folder / "run")


def test_the_summary(tmp_path: Path) -> None:
    page = Page(page_of(tmp_path, config=BenchConfig(requests=10, slo=Slo(ttft_s=0.55))))
    for output in (
        "kimi-k2 http://10.0.0.7:8000/v1; 2026-11-23T12:00:00+01:00; moonpad bench, run",
        "4 users, each sends its next request when the last one is answered, 10 requests",
        "output throughput 2.73 tokens/s",  # 30 tokens in 11 s
        "TTFT, median 550 ms P99 991 ms",
        "TPOT, median 500 ms P99 500 ms",
        "E2EL, median 1,550 ms",
        "goodput 0.45 requests/s within TTFT ≤ 550 ms",  # five of ten in 11 s
        "successful requests 10 0 failed",
        "duration 11.0 s 110 tokens in, 30 out",
        "client: CPU 10% of one core",
        "4 streams: TTFT +0.10 ms, at P99 +0.30 ms; P99 of ITL 1.004 of the true value",
        "TTFT 550.00",
    ):
        assert output in page.text, output
    assert "partial" not in page.text
    assert "failed;" not in page.text


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (BenchConfig(arrivals=Arrivals(4.0, "gamma", 0.5), concurrency=None), "4.00 requests a second, gamma arrivals"),
        (
            BenchConfig(arrivals=Arrivals(float("inf"), "poisson", 1.0), concurrency=8),
            "all requests at once, at most 8 in flight",
        ),
        (BenchConfig(concurrency=1), "1 user, each sends its next request"),
    ],
)
def test_the_load_in_words(tmp_path: Path, config: BenchConfig, words: str) -> None:
    assert words in Page(page_of(tmp_path, config=replace(config, requests=10))).text


def test_what_a_reader_must_know_first(tmp_path: Path) -> None:
    failed = [*ten()[:3], record(3, scheduled_s=3.0, tokens_at_s=(), ended_s=3.5, failure=REFUSED)]
    page = Page(page_of(tmp_path, failed, config=BenchConfig(requests=9), client_cpu=0.95))
    assert "partial: 4 of 9 requests ended" in page.text
    assert "client-bound: the latencies may be the client's own" in page.text
    assert "1 of 4 requests failed" in page.text
    assert "1 × http-429 error of the first one too many" in page.text


def test_intervals_stand_beside_the_figures(tmp_path: Path) -> None:
    page = Page(page_of(tmp_path, ours={"intervals": {"p50_ttft_ms": [512.25, 587.5], "p90_ttft_ms": "x"}}))
    assert "TTFT 550.00 550.00 512.25 to 587.50 910.00" in page.text


def test_the_curve_is_the_share_of_values(tmp_path: Path) -> None:
    svg = drawing(page_of(tmp_path), "ecdf-ttft")
    (curve,) = parts(svg, "curve")
    x, y = Ruler(svg, "axis-x"), Ruler(svg, "axis-y")
    actual = corners(curve)
    for count in range(1, 11):  # TTFT is 100, 200, … 1000 ms
        at, before = x.place(100.0 * count), y.place((count - 1) / 10)
        assert any(abs(left - at) < 0.02 and abs(top - before) < 0.02 for left, top in actual)
        assert any(abs(left - at) < 0.02 and abs(top - y.place(count / 10)) < 0.02 for left, top in actual)
    marks = {element.get("data-percentile"): element for element in parts(svg, "mark")}
    assert {name: element.get("data-ms") for name, element in marks.items()} == {
        "P50": "550.000",
        "P90": "910.000",
        "P99": "991.000",
    }
    (dot,) = marks["P90"].iter("circle")
    assert float(dot.get("cx", "")) == pytest.approx(x.place(910.0), abs=0.02)
    assert float(dot.get("cy", "")) == pytest.approx(y.place(0.9), abs=0.02)


def test_every_latency_has_its_curve(tmp_path: Path) -> None:
    html = page_of(tmp_path)
    for name, count in (("ttft", "10"), ("tpot", "10"), ("itl", "20"), ("e2el", "10")):
        svg = drawing(html, f"ecdf-{name}")
        assert parts(svg, "curve")[0].get("data-values") == count
        assert svg.get("role") == "img"
        title, description = (svg.get("aria-labelledby") or "").split()
        assert {element.get("id") for element in svg.iter() if element.tag in ("title", "desc")} >= {title, description}


def test_what_lies_at_the_end_of_an_axis_is_not_beyond_it(tmp_path: Path) -> None:
    """0.7 - 0.3 is a little more than 0.4 was meant to be."""
    times = [(0.1, 0.3), (0.3, 0.7 + 2**-52), (0.2, 0.5)]
    ends = [
        record(index, scheduled_s=due_s, tokens_at_s=(first_s, 2.0)) for index, (due_s, first_s) in enumerate(times)
    ]
    assert "beyond the end of the axis" not in Page(page_of(tmp_path, ends)).text


def test_a_long_tail_is_cut_and_said(tmp_path: Path) -> None:
    late = [record(index, tokens_at_s=(0.1 if index < 299 else 60.0, 90.0)) for index in range(300)]
    html = page_of(tmp_path, late)
    assert "1 of 300 values lie beyond the end of the axis; the largest is 60,000.00 ms." in Page(html).text
    svg = drawing(html, "ecdf-ttft")
    (curve,) = parts(svg, "curve")
    assert corners(curve)[-1][1] == pytest.approx(Ruler(svg, "axis-y").place(299 / 300), abs=0.02)


def test_bars_stand_where_their_times_are(tmp_path: Path) -> None:
    failed = replace(
        record(10, scheduled_s=2.0, tokens_at_s=(), ended_s=6.0, failure=REFUSED), started_s=4.0, queued_s=2.0
    )
    records = [*ten(), failed]
    records[4] = replace(records[4], started_s=4.25)
    svg = drawing(page_of(tmp_path, records), "timeline")
    x = Ruler(svg, "axis-x")
    bars = {int(element.get("data-index", "")): element for element in parts(svg, "request")}
    assert sorted(bars) == list(range(11))

    def ends(bar: Any, class_: str) -> tuple[float, float]:
        (element,) = parts(bar, class_)
        left = float(element.get("x", ""))
        return left, left + float(element.get("width", ""))

    for index in range(10):
        first_s = index + (index + 1) / 10
        assert ends(bars[index], "bar-prefill") == pytest.approx(
            (x.place(4.25 if index == 4 else index), x.place(first_s)), abs=0.03
        )
        assert ends(bars[index], "bar-decode") == pytest.approx((x.place(first_s), x.place(first_s + 1)), abs=0.03)
        assert not parts(bars[index], "cross")
    assert ends(bars[10], "bar-failed") == pytest.approx((x.place(4.0), x.place(6.0)), abs=0.03)
    (queued,) = parts(bars[10], "bar-queued")
    assert (float(queued.get("x1", "")), float(queued.get("x2", ""))) == pytest.approx(
        (x.place(2), x.place(4)), abs=0.03
    )
    assert len(parts(bars[10], "cross")) == 1
    assert bars[10].get("data-failure") == "http-429"
    tops = {index: float(next(bars[index].iter("rect")).get("y", "")) for index in bars}
    assert sorted(tops, key=lambda index: tops[index]) == [0, 1, 2, 10, 3, 4, 5, 6, 7, 8, 9]  # by arrival


def test_what_the_server_said_is_beneath(tmp_path: Path) -> None:
    output = [sample(0.0, 2, 0, 0.25), sample(4.0, 6, 3, 0.75), sample(8.0, 4, None, 0.5)]
    html = page_of(tmp_path, samples=output)
    svg = drawing(html, "timeline")
    x = Ruler(svg, "axis-x")
    panels = {element.get("data-panel"): element for element in parts(svg, "panel")}
    lines = {
        element.get("data-name"): corners(element) for panel in panels.values() for element in parts(panel, "series")
    }

    def expected(panel: str, *points: tuple[float, float]) -> Any:
        y = Ruler(panels[panel], "axis-y")
        return [pytest.approx((x.place(at), y.place(value)), abs=0.03) for at, value in points]

    assert lines["running"] == expected("server", (0, 2), (4, 2), (4, 6), (8, 6), (8, 4), (11, 4), (11, 4))
    assert lines["waiting"] == expected("server", (0, 0), (4, 0), (4, 3), (11, 3), (11, 3))
    assert lines["KV cache"] == expected(
        "kv", (0, 0.25), (4, 0.25), (4, 0.75), (8, 0.75), (8, 0.5), (11, 0.5), (11, 0.5)
    )
    assert "running requests median 4, at most 6" in Page(html).text
    assert "KV cache in use median 50.0%, at most 75.0%" in Page(html).text


def test_what_the_devices_did_is_on_the_same_axis(tmp_path: Path) -> None:
    first, second = DeviceUse(0, 300.0, 0.5, 4 * GIB), DeviceUse(1, 500.0, 1.0, 6 * GIB)
    html = page_of(tmp_path, uses=[(0.0, (first, second)), (4.0, (first, replace(second, power_w=100.0, busy=0.0)))])
    svg = drawing(html, "timeline")
    x = Ruler(svg, "axis-x")
    panels = {element.get("data-panel"): element for element in parts(svg, "panel")}
    for panel, points in (
        ("power", ((0, 800.0), (4, 800.0), (4, 400.0), (11, 400.0), (11, 400.0))),
        ("busy", ((0, 0.75), (4, 0.75), (4, 0.25), (11, 0.25), (11, 0.25))),
    ):
        (series,) = parts(panels[panel], "series")
        y = Ruler(panels[panel], "axis-y")
        assert corners(series) == [pytest.approx((x.place(at), y.place(value)), abs=0.03) for at, value in points]
    text = Page(html).text
    assert "devices 2 total power 600 W, at most 800 W energy per output token 220.00 J" in text
    assert "busy 50.0% of the time, at most 75.0% highest memory use 6.0 GiB" in text
    assert "What the devices did" not in Page(page_of(tmp_path / "other")).text


def test_tokens_a_second_add_up_to_the_tokens(tmp_path: Path) -> None:
    html = page_of(tmp_path)
    svg = drawing(html, "timeline")
    (panel,) = [element for element in parts(svg, "panel") if element.get("data-panel") == "tokens"]
    x, y = Ruler(svg, "axis-x"), Ruler(panel, "axis-y")
    (series,) = parts(panel, "series")
    points = corners(series)
    tokens = sum(
        (right - left) / x.a_unit * (height - y.place(0.0)) / y.a_unit
        for (left, height), (right, other) in pairwise(points)
        if height == other
    )
    assert tokens == pytest.approx(30, rel=0.01)
    assert "in steps of 0.1 s" in Page(html).text


def test_of_many_requests_a_fair_part_is_drawn(tmp_path: Path) -> None:
    many = [record(index, scheduled_s=index / 100, tokens_at_s=(index / 100 + 0.1,)) for index in range(2000)]
    many[7] = record(7, scheduled_s=0.07, tokens_at_s=(), ended_s=0.1, failure=REFUSED)
    html = page_of(tmp_path, many)
    drawn = [int(element.get("data-index", "")) for element in parts(drawing(html, "timeline"), "request")]
    assert len(drawn) == MOST_BARS
    gaps = {after - before for before, after in pairwise(drawn)}
    assert gaps == {6, 7}
    assert drawn[0] == 0
    assert drawn[-1] >= 1990
    assert (
        "300 of 2,000 requests are drawn, evenly spread over the run; 0 of the 1 failed ones are among them"
        in Page(html).text
    )


def test_the_steady_window_is_shaded(tmp_path: Path) -> None:
    html = page_of(tmp_path, ours={"steady": {"from_s": 2.0, "to_s": 7.0, "output_throughput": 3.25}})
    svg = drawing(html, "timeline")
    (ground,) = parts(svg, "steady")
    x = Ruler(svg, "axis-x")
    left = float(ground.get("x", ""))
    assert (left, left + float(ground.get("width", ""))) == pytest.approx((x.place(2), x.place(7)), abs=0.03)
    assert "from 2.00 s to 7.00 s" in Page(html).text
    assert "3.25 output tokens a second" in Page(html).text
    assert not parts(drawing(page_of(tmp_path / "other", ours={"steady": None}), "timeline"), "steady")


def test_planned_figures_stand_beside_the_measured_ones(tmp_path: Path) -> None:
    planned = {
        "output_throughput": {"value": 3.0, "low": 2.5, "high": 3.5},
        "mean_ttft_ms": {"value": 500},
        "x": {"value": 1},
    }
    page = Page(page_of(tmp_path, ours={"planned": planned}))
    assert "output_throughput 3 (2.50 to 3.50) 2.73 0.909" in page.text
    assert "mean_ttft_ms 500 550 1.100" in page.text
    assert "holds no planned figures" in Page(page_of(tmp_path / "other")).text


def test_what_the_deployment_planned_stands_beside_what_its_engine_and_its_devices_say(tmp_path: Path) -> None:
    planned = {
        "kv_tokens": {"value": 200_000, "low": 190_000, "high": 210_000, "measured": 205_000.0},
        "device_memory_gib": {"value": 126.9, "low": 126.9, "high": 126.9, "measured": None},
    }
    devices = {"samples": 1, "count": 8, "most_used_bytes": 128 * GIB}
    page = Page(page_of(tmp_path, ours={"planned": planned, "devices": devices}))
    assert "KV cache, tokens 200,000 (190,000 to 210,000) 205,000 1.025" in page.text
    assert "highest memory use of a device, GiB 126.90 128 1.009" in page.text
    unseen = Page(page_of(tmp_path / "other", ours={"planned": planned, "devices": {"samples": 0}}))
    assert "highest memory use of a device" not in unseen.text


def test_all_of_the_configuration_is_there(tmp_path: Path) -> None:
    page = Page(page_of(tmp_path, config=BenchConfig(requests=10, seed=77, temperature=0.25)))
    for output in ("seed 77", "temperature 0.25", "deadlines.connect_s", "workload.kind random", "ignore_eos no"):
        assert output in page.text


def test_nothing_that_was_measured_is_run(tmp_path: Path) -> None:
    failure = RequestFailure(FailureKind.STREAM_ERROR, EVIL)
    records = [*ten(), record(10, tokens_at_s=(), failure=failure)]
    html = page_of(tmp_path, records, model=EVIL, ours={"base_url": EVIL, "server": {"why_not": EVIL}})
    page = Page(html)
    assert not page.attributes("script")
    assert not page.attributes("img")
    assert not [
        name for _, attrs in page.tags for name in attrs if name.startswith("on") or name in ("style", "src", "href")
    ]
    assert page.text.count("<script>alert(1)</script>") >= 4
    assert not {"\x00", "\u202e"} & set(html)
    assert "url(" not in html.replace("url(#hatch)", "")


def test_ids_are_there_once(tmp_path: Path) -> None:
    ids = re.findall(r'\sid="([^"]+)"', page_of(tmp_path))
    assert len(ids) == len(set(ids))


def test_of_a_run_whose_requests_nobody_kept_the_figures_are_there(tmp_path: Path) -> None:
    write_run(tmp_path / "run", ten())
    (tmp_path / "run" / "requests.jsonl").unlink()
    page = Page(html_of(tmp_path / "run"))
    assert "550.00" in page.text
    assert "the single requests of this run were not saved" in page.text
    assert not page.attributes("svg")


def test_a_run_in_which_all_failed_has_a_page(tmp_path: Path) -> None:
    page = Page(page_of(tmp_path, [record(0, tokens_at_s=(), ended_s=0.5, failure=REFUSED)]))
    assert "TTFT, median not reported" in page.text
    assert "There are no curves: no request succeeded." in page.text
    assert len(page.attributes("svg")) == 1


JUNK = st.sampled_from([None, "x", "", [], {}, True, -1, 0, 1e300, 10**30, [1, 2], {"a": 1}, "\x00<b>"])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_document_of_somebody_elses_has_a_page(tmp_path: Path, data: st.DataObject) -> None:
    if not (tmp_path / "run").exists():
        write_run(tmp_path / "run", ten(), config=BenchConfig(requests=10, slo=Slo(ttft_s=1.0)))
    whole = read_report(tmp_path / "run")
    assert isinstance(whole, RunData)
    document = {**whole.document, "moonpad": dict(whole.document["moonpad"])}
    for part in (document, document["moonpad"]):
        for name in data.draw(st.sets(st.sampled_from(sorted(set(part) - {"moonpad"})), max_size=5)):
            part[name] = data.draw(JUNK)
    assert "Latencies" in Page(run_page(replace(whole, document=document))).text
