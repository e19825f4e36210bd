"""What a result says of itself in words and short figures: the same on the page of a run and of a sweep. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from moonpad.bench.document import mapping_at, number_at, value_at

NOT_REPORTED: Final = "not reported"
YES_NO: Final = {True: "yes", False: "no"}
MOST_VALUES: Final = 8
"""Of a list in the configuration that is longer, so many are shown, and how many there are."""
LATENCY_NAMES: Final = {
    "ttft": ("TTFT", "time to the first token of any kind"),
    "tpot": ("TPOT", "time per output token behind the first"),
    "itl": ("ITL", "gap between two chunks with tokens"),
    "e2el": ("E2EL", "end-to-end latency"),
}
STATISTICS: Final = (("mean", "mean"), ("median", "p50"), ("p90", "p90"), ("p95", "p95"), ("p99", "p99"))
"""The statistics of a table, by their names in the document and in its intervals."""


def duration_text(value_ms: float | None) -> str:
    """Three digits, in the unit that a person would take."""
    if value_ms is None:
        return NOT_REPORTED
    value, unit = (value_ms / 1000, "s") if value_ms >= 10_000 else (value_ms, "ms")
    return f"{short(value)} {unit}"


def short(value: float | None) -> str:
    """Three digits, or all of those before the point."""
    if value is None:
        return NOT_REPORTED
    places = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{places}f}"


def load_words(document: Mapping[str, Any]) -> str:
    """How requests came, in words."""
    users, arrivals = number_at(document, "max_concurrency"), mapping_at(document, "moonpad", "arrivals")
    count = number_at(document, "num_prompts")
    requests = f", {count:,.0f} requests" if count is not None else ""
    if not arrivals:
        return f"{_counted(users, 'user')}, each asks again when it is answered{requests}" if users else requests[2:]
    rate, cap = value_at(arrivals, "rate"), f", {users:,.0f} in flight at most" if users else ""
    if rate == "inf":
        how = "requests as a trace has them" if arrivals.get("kind") == "trace" else "all requests at once"
    else:
        how = f"{short(number_at(arrivals, 'rate'))} requests a second, {arrivals.get('kind')} arrivals"
    return f"{how}{cap}{requests}"


def lengths_words(document: Mapping[str, Any]) -> str:
    """Tokens of a request, asked and actual; "" where the result does not say."""
    said = []
    for name, title in (("input_tokens", "input"), ("output_tokens", "output")):
        asked, mean = value_at(document, "moonpad", name, "requested"), number_at(document, "moonpad", name, "mean")
        if asked is not None and mean is not None:
            said.append(f"{title} {asked} and {mean:.1f}")
    return f"tokens a request, asked and actual: {', '.join(said)}" if said else ""


def client_words(document: Mapping[str, Any]) -> str:
    """What the client itself adds to the figures."""
    client = mapping_at(document, "moonpad", "client")
    cpu, slip_ms = number_at(client, "cpu"), number_at(client, "p99_slip_ms")
    if cpu is None:
        return "The client's own share is not reported."
    late = f", sent late by {slip_ms:.2f} ms at P99" if slip_ms is not None else ""
    error = mapping_at(client, "error")
    ttft_ms, ratio = number_at(error, "ttft_error_mean_ms"), number_at(error, "itl_p99_ratio")
    p99_ms, streams = number_at(error, "ttft_error_p99_ms"), number_at(error, "streams")
    measured = "its own error was not measured"
    if ttft_ms is not None and p99_ms is not None and ratio is not None and streams is not None:
        measured = (
            f"its own error, against a server of known timing under {_counted(streams, 'stream')}: "
            f"TTFT {ttft_ms:+.2f} ms, at P99 {p99_ms:+.2f} ms; P99 of ITL {ratio:.3f} of the truth"
        )
    return f"The client took {cpu:.0%} of a core{late}; {measured}."


def warnings(document: Mapping[str, Any], *, killed: bool = False) -> list[tuple[str, str]]:
    """(severity, text): what a reader must know before believing a figure. Severity: fail or skip, as the page's."""
    found = []
    ended, planned = number_at(document, "moonpad", "finished_requests"), number_at(document, "num_prompts")
    if value_at(document, "moonpad", "partial") is True and ended is not None and planned is not None:
        found.append(("skip", f"partial: {ended:,.0f} of {planned:,.0f} requests ended; all figures are of these"))
    if killed:
        found.append(("skip", "the run wrote no result; its figures were computed from the requests that it kept"))
    if value_at(document, "moonpad", "client", "client_bound") is True:
        found.append(("fail", "client-bound: the latencies may be the client's own; lower the load, or add --workers"))
    if failed := number_at(document, "failed"):
        sent = failed + (number_at(document, "completed") or 0)
        found.append(("fail", f"{failed:,.0f} of {sent:,.0f} requests failed; they are in no latency or throughput"))
    return found


def latency_rows(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for each latency that has a figure: its name, what it is, and cells of (figure, interval at 95 % or "")."""
    rows = []
    for key, (name, what) in LATENCY_NAMES.items():
        values = [number_at(document, f"{statistic}_{key}_ms") for statistic, _ in STATISTICS]
        intervals = [_interval(document, f"{statistic}_{key}_ms") for _, statistic in STATISTICS]
        if any(value is not None for value in values):
            figures = ("–" if value is None else f"{value:,.2f}" for value in values)
            rows.append({"name": name, "what": what, "cells": list(zip(figures, intervals, strict=True))})
    return rows


def _interval(document: Mapping[str, Any], name: str) -> str:
    ends = value_at(document, "moonpad", "intervals", name)
    if not isinstance(ends, Sequence) or isinstance(ends, str) or len(ends) != 2:
        return ""
    low, high = (number_at({"end": end}, "end") for end in ends)
    return "" if low is None or high is None else f"{low:,.2f} to {high:,.2f}"


def configuration(document: Mapping[str, Any], config: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """All that was set, by name: of run.json where there is one, and what the result adds to it."""
    ours = mapping_at(document, "moonpad")
    told: dict[str, Any] = {
        "model": value_at(document, "model_id"),
        "endpoint": ours.get("base_url"),
        "backend": value_at(document, "backend"),
        "began": value_at(document, "date"),
        "moonpad version": ours.get("version"),
        "words a prompt": value_at(ours, "input_tokens", "words"),
        "input tokens counted by": value_at(ours, "input_tokens", "calibrated_by"),
    }
    if config is None:
        names = ("num_prompts", "request_rate", "burstiness", "max_concurrency")
        told |= {name: value_at(document, name) for name in names}
        told |= {name: ours.get(name) for name in ("seed", "warmup", "ignore_eos", "temperature", "workload")}
        told["slo"] = {name: limit for name, limit in mapping_at(ours, "slo").items() if name != "good"} or None
    return [row for name, value in {**told, **(config or {})}.items() for row in _rows(name, value)]


def _rows(name: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _rows(f"{name}.{key}", inner)
    elif isinstance(value, list):
        more = f" … {len(value):,} in all" if len(value) > MOST_VALUES else ""
        yield name, ", ".join(str(one) for one in value[:MOST_VALUES]) + more
    else:
        yield name, "not set" if value in (None, "") else YES_NO[value] if isinstance(value, bool) else str(value)


def _counted(count: float, noun: str) -> str:
    return f"{count:,.0f} {noun}" + ("" if count == 1 else "s")
