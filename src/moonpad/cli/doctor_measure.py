"""What `moonpad doctor --endpoint` measures: some seconds of watching, then three short loads."""

from __future__ import annotations

import socket
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import orjson

from moonpad.bench.config import BenchConfig
from moonpad.bench.run import run_bench
from moonpad.doctor.slow_facts import LoadFigures, RequestFigures, ServerFigures, SlowFacts, SlowMark
from moonpad.facts.probe import Unknown
from moonpad.load.deadlines import RequestDeadlines
from moonpad.observe.metrics import EngineLoad, ask_metrics, engine_of, read_load
from moonpad.observe.readiness import TROUBLE, exchange
from moonpad.observe.request_times import NOTHING, RequestTimes, read_times
from moonpad.values.errors import MoonpadError

if TYPE_CHECKING:
    from moonpad.bench.result import BenchResult
    from moonpad.engines.base import MetricNames
    from moonpad.values.endpoint import Endpoint

WATCHED_S: Final = 5.0
LOOK_S: Final = 0.5
LIMIT_S: Final = 5.0
TRIES: Final = 5
SHORT: Final = 32
"""Tokens in and out of the short requests."""
LONG: Final = 2048
STREAMS: Final = 8
Say = Callable[[str], None]


def measure_slowness(
    endpoint: Endpoint,
    *,
    marks: tuple[SlowMark, ...] | None,
    held_back: Callable[[], tuple[str, ...]],
    timeout_s: float | None = None,
    say: Say = lambda _: None,
) -> SlowFacts:
    """Half a minute on a quick endpoint. `held_back`: asked under load, what keeps this machine's devices slow.

    Raises what `run_bench` raises where the endpoint answers nothing.
    """
    unknown: dict[str, str] = {}
    say("the users' load")
    names, first = _names(endpoint)
    idle = _watch(endpoint, names) if names else None
    before = _times(endpoint, names)
    say("the network")
    connect_s, answer_s = _network(endpoint, unknown)
    say("one stream")
    alone = short_load(endpoint, 1, 3, timeout_s)
    say(f"{STREAMS} streams")
    together, result = _load(endpoint, short_config(STREAMS, 2 * STREAMS, timeout_s))
    after = _times(endpoint, names)
    held = held_back()
    say("a long prompt")
    long = _long(endpoint, timeout_s, unknown)
    tokenize = _tokenize(endpoint, long, unknown)
    if marks is None:
        unknown["log"] = "no log of it is at hand: --log FILE"
    busy = result.devices.as_json().get("busy")
    if not busy:
        unknown["devices"] = result.devices.why_not or "no tool reports how much they work"
    return SlowFacts(
        alone=alone,
        together=together,
        long=long,
        users=_requests(before, first),
        own=_requests(after.since(before), None),
        idle=idle,
        loaded=_during(result),
        connect_s=connect_s,
        answer_s=answer_s,
        tokenize=tokenize,
        busy=busy["mean"] if busy else None,
        held_back=held,
        marks=marks,
        unknown=tuple(unknown.items()),
    )


def _names(endpoint: Endpoint) -> tuple[MetricNames | None, EngineLoad | None]:
    """The names that this endpoint's `/metrics` has, and a first look; None where it has none."""
    body = ask_metrics(endpoint, LIMIT_S)
    if isinstance(body, Unknown):
        return None, None
    engine = engine_of(endpoint.engine, body)
    load = read_load(body, engine.metrics) if engine else None
    return (engine.metrics, load) if engine and isinstance(load, EngineLoad) else (None, None)


def _times(endpoint: Endpoint, names: MetricNames | None) -> RequestTimes:
    body = ask_metrics(endpoint, LIMIT_S) if names else Unknown("")
    return NOTHING if isinstance(body, Unknown) or names is None else read_times(body, names.times)


def _requests(times: RequestTimes, load: EngineLoad | None) -> RequestFigures | None:
    count = int(max(times.counts.values(), default=0.0))
    if not count:
        return None
    hits = load.prefix_hits / load.prefix_queries if load and load.prefix_hits and load.prefix_queries else None
    parts = ("queued", "prefill", "decode", "between_tokens")
    return RequestFigures(
        int(times.counts.get("queued", count)),
        **{f"{part}_s": times.mean(part) for part in parts},
        prompt_tokens=times.mean("prompt_tokens"),
        prefix_hit_rate=hits,
    )


def _watch(endpoint: Endpoint, names: MetricNames) -> ServerFigures:
    begun, looks = time.monotonic(), []
    while (passed := time.monotonic() - begun) < WATCHED_S:
        body = ask_metrics(endpoint, LIMIT_S)
        load = body if isinstance(body, Unknown) else read_load(body, names)
        if isinstance(load, EngineLoad):
            looks.append(load)
        time.sleep(max(0.0, min(LOOK_S, WATCHED_S - passed)))
    return _figures(looks, time.monotonic() - begun)


def _during(result: BenchResult) -> ServerFigures | None:
    samples = result.server.samples
    return _figures([sample.load for sample in samples], samples[-1].at_s) if samples else None


def _figures(looks: Sequence[EngineLoad], seconds: float) -> ServerFigures:
    def values(name: str) -> list[float]:
        return [value for look in looks if (value := getattr(look, name)) is not None]

    def growth(name: str) -> float | None:
        of = values(name)
        return max(0.0, of[-1] - of[0]) if len(of) > 1 else None

    def median(name: str) -> float | None:
        return statistics.median(of) if (of := values(name)) else None

    return ServerFigures(
        seconds,
        running=median("running"),
        waiting=median("waiting"),
        most_waiting=max(values("waiting"), default=None),
        kv_usage=max(values("kv_usage"), default=None),
        preemptions=growth("preemptions"),
        prompt_tokens=growth("prompt_tokens"),
        generation_tokens=growth("generation_tokens"),
    )


def short_load(endpoint: Endpoint, streams: int, requests: int, timeout_s: float | None) -> LoadFigures:
    """What the client sees of so many short requests, after one that is not counted. Raises what `run_bench` raises."""
    return _load(endpoint, short_config(streams, requests, timeout_s))[0]


def short_config(streams: int, requests: int, timeout_s: float | None) -> BenchConfig:
    return _config(streams, requests, SHORT, SHORT, timeout_s)


def _config(streams: int, requests: int, prompt: int, output: int, timeout_s: float | None) -> BenchConfig:
    return BenchConfig(
        input_tokens=prompt,
        output_tokens=output,
        requests=requests,
        concurrency=streams,
        warmup=1,
        temperature=0.0,
        measure_client=False,
        deadlines=RequestDeadlines().within(timeout_s),
    )


def _load(endpoint: Endpoint, config: BenchConfig) -> tuple[LoadFigures, BenchResult]:
    result = run_bench(endpoint, config)
    metrics = result.metrics
    chunks = sum(len(record.token_times_s) for record in result.records if record.ok)
    figures = LoadFigures(
        streams=config.concurrency or 1,
        requests=metrics.completed,
        prompt_tokens=metrics.input_tokens / max(1, metrics.completed),
        ttft_s=metrics.ttft_s.median if metrics.ttft_s else 0.0,
        tpot_s=metrics.tpot_s.median if metrics.tpot_s else None,
        output_tokens_per_s=metrics.output_throughput,
        chunk_tokens=metrics.output_tokens / chunks if chunks else 1.0,
    )
    return figures, result


def _long(endpoint: Endpoint, timeout_s: float | None, unknown: dict[str, str]) -> LoadFigures | None:
    """A prompt as long as half of the context, up to `LONG` tokens."""
    context = None
    with suppress(*TROUBLE, orjson.JSONDecodeError, LookupError, TypeError):
        _, body = exchange(endpoint, "GET", "/v1/models", None, LIMIT_S, 1 << 20)
        context = orjson.loads(body)["data"][0].get("max_model_len")
    tokens = min(LONG, context // 2) if isinstance(context, int) and context >= 2 * SHORT else LONG
    try:
        figures, _ = _load(endpoint, _config(1, 2, tokens, 2, timeout_s))
    except MoonpadError as error:
        unknown["tokenizer"] = error.message
        return None
    if not figures.requests:
        unknown["tokenizer"] = f"a prompt of {tokens} tokens was not answered"
    return figures if figures.requests else None


def _tokenize(endpoint: Endpoint, long: LoadFigures | None, unknown: dict[str, str]) -> tuple[int, float] | None:
    """As many words as the long prompt had tokens, counted by the server: the median of three."""
    if long is None:
        return None
    text = "the quick brown fox " * max(1, int(long.prompt_tokens) // 4)
    body: dict[str, Any] = {"model": endpoint.model or None, "prompt": text, "content": text}
    seconds, count = [], 0
    for _ in range(3):
        begun = time.perf_counter()
        try:
            status, answer = exchange(endpoint, "POST", "/tokenize", body, LIMIT_S, 4 << 20)
            value = orjson.loads(answer) if status == 200 else {}
            count = int(value.get("count") or len(value.get("tokens", ())))
        except (*TROUBLE, orjson.JSONDecodeError, AttributeError, TypeError, ValueError):
            count = 0
        seconds.append(time.perf_counter() - begun)
        if not count:
            unknown["tokenizer"] = "the endpoint has no /tokenize"
            return None
    return count, statistics.median(seconds)


def _network(endpoint: Endpoint, unknown: dict[str, str]) -> tuple[float | None, float | None]:
    url = urlsplit(endpoint.base_url)
    port = url.port or (443 if url.scheme == "https" else 80)
    connects, answers = [], []
    for _ in range(TRIES):
        try:
            begun = time.perf_counter()
            with socket.create_connection((url.hostname or "", port), LIMIT_S):
                connects.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            exchange(endpoint, "GET", "/health", None, LIMIT_S, 1 << 16)
            answers.append(time.perf_counter() - begun)
        except TROUBLE as error:
            unknown["network"] = f"/health: {error or type(error).__name__}"[:300]
    if not connects or not answers:
        return None, None
    return statistics.median(connects), statistics.median(answers)
