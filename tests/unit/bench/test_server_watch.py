"""What a server says of itself, by hand and over HTTP; what it does not say is not zero."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from aiohttp import web

from moonpad.bench.telemetry import Sample, ServerStats, watch_server
from moonpad.engines import ENGINES
from moonpad.observe.metrics import EngineLoad
from moonpad.values.endpoint import Endpoint


def stats_of(*loads: EngineLoad) -> ServerStats:
    return ServerStats([Sample(0.5 * number, load) for number, load in enumerate(loads)])


def load(running: float | None, waiting: float | None = 0.0, **more: float) -> EngineLoad:
    return EngineLoad(running, waiting, 0.5, None, None, **more)


def test_by_hand() -> None:
    actual = stats_of(
        load(1, prefix_hits=5, prefix_queries=50), load(12, 4), load(12, 20, prefix_hits=15, prefix_queries=90)
    )
    assert (actual.highest("running"), actual.median("running"), actual.highest("waiting")) == (12, 12, 20)
    assert actual.prefix_hit_rate == pytest.approx(0.25)
    assert actual.as_json()["running"] == {"median": 12, "max": 12}
    assert actual.as_json()["preemptions"] is None


def test_what_is_not_reported_is_not_zero() -> None:
    actual = stats_of(load(None, None), load(None, None))
    assert (actual.highest("running"), actual.median("waiting"), actual.growth("preemptions")) == (None, None, None)
    assert ServerStats(why_not="/metrics answered 404").as_json() == {"samples": 0, "why_not": "/metrics answered 404"}


def test_a_counter_that_began_again_has_not_grown() -> None:
    assert stats_of(load(1, preemptions=7), load(1, preemptions=2)).growth("preemptions") is None


@pytest.mark.parametrize(("prefix", "status", "engine"), [("vllm", 200, ""), ("vllm", 200, "vllm-cpu"), ("", 404, "")])
def test_over_http(prefix: str, status: int, engine: str) -> None:
    requested = 0
    saved: list[dict[str, Any]] = []

    async def metrics(request: web.Request) -> web.Response:
        nonlocal requested
        requested += 1
        return web.Response(status=status, text=f"{prefix}:num_requests_running {requested}.0\n")

    async def main() -> ServerStats:
        app = web.Application()
        app.router.add_get("/metrics", metrics)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        endpoint = Endpoint(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", "m", engine=engine)
        clock = asyncio.get_running_loop().time
        origin_s = clock()

        async def zero() -> float:
            return origin_s

        async with watch_server(endpoint, clock, zero, saved.append, every_s=0.01) as actual:
            while len(actual.samples) < 3 and requested < 20 and not (actual.why_not and requested > 5):
                await asyncio.sleep(0.01)
        await runner.cleanup()
        return actual

    actual = asyncio.run(main())
    if status == 200:
        values = [sample.load.running for sample in actual.samples]
        assert len(values) >= 3
        assert values == sorted(value for value in values if value is not None)
        assert [sample.at_s for sample in actual.samples] == sorted(sample.at_s for sample in actual.samples)
        assert saved == [sample.as_json() for sample in actual.samples]
    else:
        assert actual.samples == []
        assert "404" in actual.why_not


@pytest.mark.parametrize(("costs_s", "apart_s"), [(0.001, 0.5), (0.02, 2.0), (1.0, 5.0)])
def test_the_server_writes_metrics_a_hundredth_of_the_time(
    monkeypatch: pytest.MonkeyPatch, costs_s: float, apart_s: float
) -> None:
    now_s, turn = 100.0, asyncio.sleep

    def ask(endpoint: Endpoint, names: object, limit_s: float) -> EngineLoad:
        nonlocal now_s
        now_s += costs_s
        return load(1)

    async def sleep(seconds: float) -> None:
        nonlocal now_s
        now_s += seconds
        await turn(0)

    async def zero() -> float:
        return now_s + 0.25

    async def main() -> ServerStats:
        async with watch_server(Endpoint("http://h/v1", "m"), lambda: now_s, zero, lambda _: None) as stats:
            while len(stats.samples) < 5:
                await turn(0.001)
        return stats

    monkeypatch.setattr("moonpad.bench.telemetry.ask_load", ask)
    monkeypatch.setattr("moonpad.bench.telemetry._names", lambda endpoint: ENGINES["vllm"].metrics)
    monkeypatch.setattr("moonpad.bench.telemetry.asyncio.sleep", sleep)
    times = [sample.at_s for sample in asyncio.run(main()).samples]
    assert times[0] == pytest.approx(0.0, abs=1e-9)
    assert [later - earlier for earlier, later in pairwise(times)] == [pytest.approx(apart_s)] * (len(times) - 1)
