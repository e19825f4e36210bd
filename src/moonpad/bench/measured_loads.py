"""A result of a load as what a model of speed can be held against: ours and `vllm bench serve`'s, SGLang's
`bench_serving`, and aiperf's `profile_export_aiperf.json`. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from moonpad.bench.lenient_json import number_at
from moonpad.values.errors import UsageError
from moonpad.values.workload import Lengths, Workload


@dataclass(frozen=True, slots=True)
class MeasuredLoad:
    """Medians over requests, in seconds; None where the result does not have it."""

    workload: Workload
    tpot_s: float | None
    ttft_s: float | None
    said: str
    """Where it comes from."""


def measured_loads(document: Any, said: str) -> tuple[MeasuredLoad, ...]:
    """One of each run in a document: a result, a list of them, or a sweep's or an aiperf export.

    Raises:
        UsageError: it has none.
    """
    found = tuple(_loads(document, said))
    if not found:
        raise UsageError(
            f"{said} holds no result of a load with its lengths, its load and a TPOT or TTFT",
            remedy="give a folder of moonpad bench, or the JSON that a benchmark program wrote",
        )
    return found


def _loads(document: Any, said: str) -> Iterator[MeasuredLoad]:
    if isinstance(document, list):
        for row in document:
            yield from _loads(row, said)
    elif isinstance(document, Mapping):
        if "completed" in document and "total_output_tokens" in document:
            yield from _of_serving(document, said)
        elif isinstance(document.get("points"), list):
            yield from _loads(document["points"], said)
        elif (records := _aiperf_records(document)) is not None:
            yield from _of_aiperf(records, document, said)


def _of_serving(document: Mapping[str, Any], said: str) -> Iterator[MeasuredLoad]:
    count = number_at(document, "completed")
    prompts, answers = number_at(document, "total_input_tokens"), number_at(document, "total_output_tokens")
    if not count or not prompts or not answers:
        return
    given, rate = number_at(document, "max_concurrency"), _rate(document.get("request_rate"))
    clients = round(given) if given else None if rate else round(number_at(document, "num_prompts") or count)
    tpot, ttft = (_milliseconds(document, name) for name in ("tpot", "ttft"))
    if tpot is None and ttft is None:
        return
    workload = Workload(
        _lengths(document.get("input_lens"), prompts / count),
        _lengths(document.get("output_lens"), answers / count),
        concurrency=clients,
        rate_per_s=rate,
        requests=max(1, round(count)),
        shared_prefix=0.0,
        chat="chat" in str(document.get("backend")),
    )
    yield MeasuredLoad(workload, tpot, ttft, said)


def _milliseconds(document: Mapping[str, Any], name: str) -> float | None:
    value = number_at(document, f"median_{name}_ms")
    return value / 1e3 if value else None


def _rate(value: object) -> float | None:
    """None: as fast as the clients take them."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf:
        return float(value)
    return None


def _lengths(samples: object, mean: float) -> Lengths:
    numbers = [float(each) for each in samples if isinstance(each, int | float)] if isinstance(samples, list) else []
    usable = [number for number in numbers if number >= 1]
    return Lengths.of(usable) if usable else Lengths.fixed(max(1.0, mean))


def _aiperf_records(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for place in (document, document.get("records")):
        if isinstance(place, Mapping) and "output_sequence_length" in place and "input_sequence_length" in place:
            return place
    return None


def _of_aiperf(records: Mapping[str, Any], document: Mapping[str, Any], said: str) -> Iterator[MeasuredLoad]:
    prompt, answer = (_figure(records, f"{name}_sequence_length", "avg", "mean") for name in ("input", "output"))
    config = document.get("input_config")
    clients, rate = _found(config, "concurrency"), _found(config, "request_rate")
    ttft = _figure(records, "time_to_first_token", "p50", "median")
    gap = _figure(records, "inter_token_latency", "p50", "median")
    if not prompt or not answer or not (clients or rate) or not (ttft or gap):
        return
    count = _figure(records, "request_count", "avg", "sum")
    workload = Workload(
        Lengths.fixed(max(1.0, prompt)),
        Lengths.fixed(max(1.0, answer)),
        concurrency=round(clients) if clients else None,
        rate_per_s=rate,
        requests=round(count) if count else None,
    )
    yield MeasuredLoad(workload, gap / 1e3 if gap else None, ttft / 1e3 if ttft else None, said)


def _figure(records: Mapping[str, Any], name: str, *statistics: str) -> float | None:
    """aiperf's are in milliseconds unless they say otherwise."""
    row = records.get(name)
    if not isinstance(row, Mapping):
        return None
    times = {"s": 1e3, "sec": 1e3, "us": 1e-3, "ns": 1e-6}.get(str(row.get("unit", "")).lower(), 1.0)
    for statistic in statistics:
        if (value := number_at(row, statistic)) is not None:
            return value * times
    return None


def _found(config: object, name: str, depth: int = 4) -> float | None:
    """The number of that name anywhere in a configuration."""
    if not isinstance(config, Mapping) or not depth:
        return None
    if (value := number_at(config, name)) is not None and value > 0:
        return value
    inner = (_found(each, name, depth - 1) for each in config.values())
    return next((value for value in inner if value is not None), None)
