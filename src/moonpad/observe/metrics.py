"""The engine's load by its `/metrics`, which may be hostile, truncated or missing: then the load is Unknown.

Only the lines of the names that are asked for are parsed: an engine reports thousands of others, every second.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from moonpad.engines.base import Engine, MetricNames
from moonpad.facts.probe import Unknown
from moonpad.observe.readiness import TROUBLE, exchange
from moonpad.values.endpoint import Endpoint
from moonpad.values.records import field_names, replace

BODY_BYTES = 4 << 20
LINES = 4096
LINE_BYTES = 8192
MOST = float(2**53)
"""Up to here a float counts by ones: no counter of an engine is larger."""


@dataclass(frozen=True, slots=True)
class EngineLoad:
    """Sums over the label sets (data-parallel engines have one a rank), of `kv_usage` (0 to 1) the largest.

    None: not reported, or not a number from 0 to MOST.
    """

    running: float | None
    waiting: float | None
    kv_usage: float | None
    generation_tokens: float | None
    prompt_tokens: float | None
    preemptions: float | None = None
    prefix_hits: float | None = None
    prefix_queries: float | None = None
    drafted: float | None = None
    accepted: float | None = None


def ask_load(endpoint: Endpoint, names: MetricNames, timeout_s: float) -> EngineLoad | Unknown:
    """One look at `/metrics`. Never raises."""
    body = ask_metrics(endpoint, timeout_s)
    return body if isinstance(body, Unknown) else read_load(body, names)


def ask_metrics(endpoint: Endpoint, timeout_s: float) -> bytes | Unknown:
    """The text of `/metrics`; behind a router those of all copies that answer, one after the other: samples of one name
    are summed wherever they are read. Never raises."""
    if not endpoint.replica_urls:
        return _ask_metrics(endpoint, timeout_s)
    answers = [_ask_metrics(replace(endpoint, base_url=f"{url}/v1"), timeout_s) for url in endpoint.replica_urls]
    texts = [answer for answer in answers if isinstance(answer, bytes) and answer.endswith(b"\n")]
    return b"".join(texts) if texts else answers[0]


def _ask_metrics(endpoint: Endpoint, timeout_s: float) -> bytes | Unknown:
    try:
        status, body = exchange(endpoint, "GET", "/metrics", None, timeout_s, BODY_BYTES + 1)
    except TROUBLE as error:
        return Unknown(f"/metrics: {error or type(error).__name__}"[:300])
    return body if status == 200 else Unknown(f"/metrics answered {status}")


def read_load(body: bytes, names: MetricNames) -> EngineLoad | Unknown:
    """The load that a Prometheus text reports. Unknown where it is truncated or of another format. Never raises."""
    if len(body) > BODY_BYTES:
        return Unknown(f"/metrics is larger than {BODY_BYTES >> 20} MiB")
    # A truncated number is another number: in this format every line has an end, the last one too.
    if not body.endswith(b"\n"):
        return Unknown("/metrics ends in the middle of a line" if body else "/metrics is empty")
    lines = _lines_of(body, names)
    if not lines:
        return Unknown("/metrics has none of the engine's known names")
    if len(lines) > LINES or max(map(len, lines)) > LINE_BYTES:
        return Unknown("/metrics repeats the known names more often than any engine")
    try:
        values = values_of(b"\n".join(lines).decode())
    except (ValueError, LookupError, ArithmeticError) as error:
        return Unknown(f"/metrics cannot be read: {str(error)[:200] or type(error).__name__}")

    def total(name: str, over: Callable[[Iterable[float]], float] = sum) -> float | None:
        samples = values.get(name, [])
        value = over(samples) if samples else math.nan
        return value if 0 <= value <= MOST and min(samples) >= 0 else None

    return EngineLoad(
        running=total(names.running),
        waiting=total(names.waiting),
        kv_usage=total(names.kv_cache_usage, max),
        generation_tokens=total(names.generation_tokens),
        prompt_tokens=total(names.prompt_tokens),
        preemptions=total(names.preemptions),
        prefix_hits=total(names.prefix_hits),
        prefix_queries=total(names.prefix_queries),
        drafted=total(names.drafted),
        accepted=total(names.accepted),
    )


def engine_of(name: str, body: bytes) -> Engine | None:
    """The engine of that name; for a name that is not known, the first one whose load the text reports."""
    from moonpad.engines import ENGINES

    known = ENGINES.get(name)
    return known or next(
        (each for each in ENGINES.values() if isinstance(read_load(body, each.metrics), EngineLoad)), None
    )


def _lines_of(body: bytes, names: MetricNames) -> list[bytes]:
    values = (getattr(names, field) for field in field_names(type(names)))
    return lines_named(body, [name for name in values if isinstance(name, str) and name])


def lines_named(body: bytes, names: Sequence[str]) -> list[bytes]:
    """The lines of samples that have one of the names."""
    if not names:
        return []
    patterns = [re.escape(name.encode()) for name in names]
    return re.findall(rb"^(?:%s)[ \t{][^\n]*" % b"|".join(patterns), body, re.MULTILINE)


def values_of(text: str) -> dict[str, list[float]]:
    """Values by the sample's name.

    Raises:
        ValueError, LookupError, ArithmeticError: the text is not of the format.
    """
    from prometheus_client.parser import text_string_to_metric_families

    values: dict[str, list[float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            values.setdefault(sample.name, []).append(float(sample.value))
    return values
