"""From looks to what is shown, by hand."""

from __future__ import annotations

import json

from moonpad.facts.device import DeviceUse
from moonpad.facts.probe import Unknown
from moonpad.values.records import replace
from moonpad.values.supervision import State
from moonpad.watch.look import Health
from moonpad.watch.table import HEADS, NAME_CHARACTERS, cells, columns, details
from moonpad.watch.view import make_view
from tests.unit.watch.looks import loaded, looks, running, sound


def test_rates_are_of_the_last_two_looks() -> None:
    view = make_view(looks(30))
    assert (view.output_tokens_per_s, view.input_tokens_per_s) == (100.0, 20.0)
    assert view.preemptions == 0.0
    assert view.prefix_hit_rate == 0.25
    assert view.window_s == 58.0


def test_one_look_has_no_rates_and_all_times_since_the_start() -> None:
    view = make_view(looks(1))
    assert (view.output_tokens_per_s, view.preemptions) == (None, None)
    assert view.prefix_hit_rate == 100 / 5000
    assert view.latencies["ttft"].over_s is None
    assert view.latencies["ttft"].histogram.count == 20.0


def test_quantiles_are_of_the_window() -> None:
    latency = make_view(looks(30)).latencies["ttft"]
    assert (latency.over_s, latency.histogram.count) == (58.0, 58.0)
    quantile = latency.histogram.quantile(0.75)
    assert quantile is not None
    assert quantile.value_s == 0.1 + 0.9 / 2, "half of 58 up to 0.1 s, the others up to 1 s"


def test_an_engine_that_was_restarted_counts_from_zero() -> None:
    again = loaded(sound(1), generation_tokens=50.0)
    assert make_view((sound(0), again)).output_tokens_per_s == 25.0


def test_a_look_without_a_load_between_two() -> None:
    blind = replace(sound(1), load=Unknown("timed out"))
    assert make_view((sound(0), blind)).output_tokens_per_s is None
    assert make_view((sound(0), blind)).why_no_load == "timed out"
    assert make_view((sound(0), blind, sound(2))).output_tokens_per_s == 100.0


def test_states() -> None:
    other = replace(sound(0), run=None)
    assert make_view((sound(0),)).state == "ready"
    assert make_view((sound(0),)).because == "one real token came back"
    assert make_view((replace(sound(0), health=Health(None, "refused")),)).state == "no answer"
    assert make_view((other,)).state == "answers"
    assert make_view((replace(other, health=Health(503)),)).state == "unhealthy"
    assert make_view((replace(other, trouble="no answer within 2 s"),)).state == "unknown"
    assert make_view((running(sound(0), state=State.FAILED, because="exited"),)).state == "failed"


def test_a_row_is_at_most_80_columns() -> None:
    view = make_view(looks(30))
    head, row = columns(
        [cells(replace(view, name="an-endpoint-with-a-long-name", state="unattended"), NAME_CHARACTERS)]
    )
    assert len(row) <= 80
    assert len(head) <= 80
    assert row.split()[2:] == ["1", "4", "0", "97%", "20", "100", "0.82"]
    assert len(cells(view)) == len(HEADS)


def test_details() -> None:
    last = replace(
        loaded(sound(29), kv_usage=0.99, waiting=3.0),
        devices=(DeviceUse(0, 612.0, 0.97, 7 << 30, 71.0, ("its power limit",)),),
        log=("\x1b[1m INFO",),
    )
    lines = [
        line.text for line in details(make_view((*looks(28), loaded(sound(28), kv_usage=0.99, waiting=3.0), last)))
    ]
    assert lines[0] == "warning: the KV cache is 99% full, and 3 requests wait"
    assert (
        "KV cache of 233,016 tokens planned  0 preemptions in 58 s  25.0% of prompt tokens from the prefix cache"
        in lines
    )
    assert "device 0   used    7.0 GiB  power  612 W  busy   97%  71 °C  slowed by its power limit" in lines
    assert lines[-1] == "| \\x1b[1m INFO", "a log cannot move the cursor"


def test_json_is_whole() -> None:
    document = json.loads(json.dumps(make_view(looks(30)).as_json(), allow_nan=False))
    assert document["tokens_per_s"] == {"in": 20.0, "out": 100.0}
    assert document["latency"]["ttft_s"]["p50"] == {"value": 0.1, "low": 0.0, "high": 0.1}
    assert document["kv_tokens"] == {"planned": 233016.0, "measured": None}
    assert document["alerts"] == []


def test_acceptance_of_drafted_tokens() -> None:
    view = make_view(looks(5, lambda look, at: loaded(look, drafted=100.0 * at, accepted=70.0 * at)))
    assert view.acceptance == 0.7
    assert any("70.0% of drafted tokens accepted" in line.text for line in details(view))
    assert make_view(looks(5)).acceptance is None
