"""What moonpad itself tells a Prometheus, read back by prometheus_client."""

from __future__ import annotations

import urllib.request

from prometheus_client.parser import text_string_to_metric_families

from moonpad.facts.device import DeviceUse
from moonpad.values.endpoint import Endpoint
from moonpad.values.records import replace
from moonpad.watch.asking import Target, Watch
from moonpad.watch.expose import exposing
from moonpad.watch.exposition import exposition
from moonpad.watch.look import Look
from tests.unit.watch.looks import running, sound


def samples(text: str) -> dict[tuple[str, ...], float]:
    """By the name and the values of the labels, by the labels' names."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_what_engines_do_not_tell() -> None:
    use = DeviceUse(3, 612.5, None, 7 << 30, throttled_by=("hardware thermal slowdown",))
    look = replace(running(sound(0), generation=2, restarts=1, kv_tokens_measured=9.0), devices=(use,), name='a"b\\c\n')
    read = samples(exposition((look, replace(sound(0), name="other", run=None))))
    name = 'a"b\\c\n'
    assert read["moonpad_run_generation", name] == 2
    assert read["moonpad_run_restarts", name] == 1
    assert read["moonpad_run_state", name, "ready"] == 1
    assert read["moonpad_run_state", name, "failed"] == 0
    assert read["moonpad_kv_tokens", name, "measured"] == 9
    assert read["moonpad_kv_tokens", name, "planned"] == 233016
    assert read["moonpad_device_used_bytes", "3"] == 7 << 30
    assert read["moonpad_device_power_watts", "3"] == 612.5
    assert read["moonpad_device_throttled", "3"] == 1
    assert read["moonpad_endpoint_answers", "other"] == 1
    assert not [
        key for key in read if key[0] == "moonpad_device_busy_ratio" or ("run_generation" in key[0] and "other" in key)
    ]


def test_it_is_asked_when_it_is_scraped() -> None:
    asked = []

    def ask(target: Target, at_s: float) -> Look:
        asked.append(target)
        return sound(0)

    watch = Watch((Target(Endpoint("http://192.0.2.1:1/v1", "k")),), limit_s=5.0, ask_target=ask)
    with exposing(watch, "127.0.0.1", 0) as port:
        assert not asked
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            read = samples(answer.read().decode())
    assert read["moonpad_run_generation", "k"] == 1
    assert len(asked) == 1
