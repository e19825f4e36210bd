"""The page of a sweep: lines over the load, the knee, the Pareto front."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import pytest

from moonpad.bench.report_data import SweepData, read_report
from moonpad.report.sweep_page import sweep_page
from tests.html_page import Page, Ruler, drawing, parts
from tests.unit.report.runs import point, write_sweep

POINTS = [
    point(1, 40.0, 100.0, 25.0, running=1, waiting=0, kv_usage=0.1),
    point(2, 78.0, 105.0, 25.0, running=2, waiting=0, kv_usage=0.2),
    point(4, 150.0, 110.0, 26.0, running=4, waiting=0, kv_usage=0.4),
    point(8, 160.0, 900.0, 30.0, running=4, waiting=4, kv_usage=0.5),
    point(16, 158.0, 4000.0, 31.0, running=4, waiting=12, kv_usage=0.5),
]


def html_of(folder: Path, devices: int = 1) -> str:
    data = read_report(folder)
    assert isinstance(data, SweepData)
    return sweep_page(data, devices)


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    write_sweep(tmp_path / "sweep", POINTS[::-1])
    return tmp_path / "sweep"


def test_the_knee_is_marked_and_its_cause_told(sweep: Path) -> None:
    html = html_of(sweep)
    page = Page(html)
    assert "Between 4 and 8 concurrent users : output throughput +7%" in page.text
    assert "cause running stays at 4 while 4 wait, at 50% of the KV cache: max_num_seqs is reached" in page.text
    assert "to change raise max_num_seqs above 4" in page.text
    for name in ("throughput", "ttft"):
        svg = drawing(html, name)
        (window,) = parts(svg, "knee-window")
        assert (window.get("data-below"), window.get("data-above")) == ("4", "8")
        dots = {element.get("data-load"): float(element.get("cx", "")) for element in parts(svg, "point")}
        (ground,) = parts(svg, "knee")
        left = float(ground.get("x", ""))
        assert (left, left + float(ground.get("width", ""))) == pytest.approx((dots["4"], dots["8"]), abs=0.02)


def test_without_a_knee_nothing_is_marked(tmp_path: Path) -> None:
    write_sweep(tmp_path / "sweep", POINTS[:3])
    html = html_of(tmp_path / "sweep")
    assert "There is none up to 4 concurrent users: each step still pays. Sweep further." in Page(html).text
    assert not parts(drawing(html, "throughput"), "knee")


def test_points_stand_at_their_figures(sweep: Path) -> None:
    svg = drawing(html_of(sweep), "throughput")
    y = Ruler(svg, "axis-y")
    dots = {int(element.get("data-load", "")): element for element in parts(svg, "point")}
    for wanted in POINTS:
        assert float(dots[wanted["load"]].get("cy", "")) == pytest.approx(
            y.place(wanted["output_throughput"]), abs=0.02
        )
    places = [float(dots[load].get("cx", "")) for load in (1, 2, 4, 8, 16)]
    assert [after - before for before, after in pairwise(places)] == pytest.approx(
        [(places[-1] - places[0]) / math.log2(16)] * 4, abs=0.02
    )
    ttft = drawing(html_of(sweep), "ttft")
    assert {element.get("data-name") for element in parts(ttft, "series")} == {"median", "P99"}


def test_the_pareto_front(sweep: Path) -> None:
    html = html_of(sweep, devices=8)
    svg = drawing(html, "pareto")
    actual = {int(element.get("data-load", "")): element for element in parts(svg, "point-group")}
    x, y = Ruler(svg, "axis-x"), Ruler(svg, "axis-y")
    for wanted in POINTS:
        user, device = 1000 / wanted["median_tpot_ms"], wanted["output_throughput"] / 8
        shown = actual[wanted["load"]]
        assert float(shown.get("data-user", "")) == pytest.approx(user, abs=1e-3)
        assert float(shown.get("data-device", "")) == pytest.approx(device, abs=1e-3)
        (dot,) = shown.iter("circle")
        assert (float(dot.get("cx", "")), float(dot.get("cy", ""))) == pytest.approx(
            (x.place(user), y.place(device)), abs=0.03
        )
        assert [label.text for label in shown.iter("text")] == [str(wanted["load"])]
    assert {load: element.get("data-front") for load, element in actual.items()} == {
        1: "no",
        2: "yes",
        4: "yes",
        8: "yes",
        16: "no",
    }
    assert parts(svg, "front")[0].get("data-loads") == "8 4 2"
    assert "8 devices are assumed" in Page(html).text
    assert "One device is assumed" in Page(html_of(sweep)).text


def test_each_load_has_its_row_and_what_to_know_of_it(tmp_path: Path) -> None:
    points = [POINTS[0], {**POINTS[1], "failed": 3, "completed": 17}]
    write_sweep(tmp_path / "sweep", points, "requests")
    page = Page(html_of(tmp_path / "sweep"))
    assert "2 17 / 20 78.00" in page.text
    assert "2 requests at once: 3 of 20 requests failed" in page.text
    assert len(page.attributes("details")) == 2 + 1


def test_a_point_without_latencies_is_left_out_of_drawings(tmp_path: Path) -> None:
    bare = {"load": 4, "output_throughput": 99.0}
    write_sweep(tmp_path / "sweep", [bare])
    html = html_of(tmp_path / "sweep")
    assert 'id="pareto"' not in html
    assert 'id="ttft"' not in html
    assert parts(drawing(html, "throughput"), "point")[0].get("data-value") == "99.000"


def test_a_hostile_model_name_is_text(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>\x00\u202e"
    write_sweep(tmp_path / "sweep", [{**POINTS[0], "model_id": evil}])
    html = html_of(tmp_path / "sweep")
    assert not Page(html).attributes("script")
    assert "<script>alert(1)</script>" in Page(html).text
    assert not {"\x00", "\u202e"} & set(html)


def test_a_prediction_stands_beside_the_measurement(tmp_path: Path) -> None:
    points = [dict(each) for each in POINTS]
    points[0]["moonpad"] = {**points[0].get("moonpad", {}), "planned": {"median_tpot_ms": {"value": 12.34}}}
    write_sweep(tmp_path / "sweep", points)
    text = Page(html_of(tmp_path / "sweep")).text
    assert "predicted TPOT (ms)" in text
    assert "12.34" in text
    assert "predicted TTFT" not in text
