"""A result in words and short figures: the same in the terminal, on the page of a run and on that of a sweep. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from moonpad.bench.lenient_json import mapping_at, number_at, value_at
from moonpad.values.units import GIB
from moonpad.values.visible_text import one_line

Rows = list[tuple[str, str]]
"""(name, figure)."""
NOT_REPORTED: Final = "not reported"
YES_NO: Final = {True: "yes", False: "no"}
MOST_VALUES: Final = 8
"""Values shown of a long list in the configuration, with the length of the list."""
LATENCY_NAMES: Final = {
    "ttft": ("TTFT", "time to the first token of any kind"),
    "tpot": ("TPOT", "time per output token after the first"),
    "itl": ("ITL", "gap between two chunks with tokens"),
    "e2el": ("E2EL", "end-to-end latency"),
}
STATISTICS: Final = (("mean", "mean"), ("median", "p50"), ("p90", "p90"), ("p95", "p95"), ("p99", "p99"))
"""The statistics of a table, by their names in the document and in its intervals."""
GAUGES: Final = (("running", "running requests", ",.0f"), ("waiting", "waiting requests", ",.0f"),
                 ("kv_usage", "KV cache in use", ".1%"))  # fmt: skip


def duration_text(value_ms: float | None) -> str:
    """Three digits, in seconds from 10 s on."""
    if value_ms is None:
        return NOT_REPORTED
    return f"{short(value_ms / 1000)} s" if value_ms >= 10_000 else f"{short(value_ms)} ms"


def short(value: float | None) -> str:
    """Three digits, or all of those before the point."""
    if value is None:
        return NOT_REPORTED
    places = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{places}f}"


def load_words(document: Mapping[str, Any]) -> str:
    """How requests arrived."""
    users, arrivals = number_at(document, "max_concurrency"), mapping_at(document, "moonpad", "arrivals")
    count = number_at(document, "num_prompts")
    requests = f", {count:,.0f} requests" if count is not None else ""
    if not arrivals:
        each = "each sends its next request when the last one is answered"
        return f"{_counted(users, 'user')}, {each}{requests}" if users else requests[2:]
    cap = f", at most {users:,.0f} in flight" if users else ""
    if value_at(arrivals, "rate") == "inf":
        how = "requests at the instants of a trace" if arrivals.get("kind") == "trace" else "all requests at once"
    else:
        how = f"{short(number_at(arrivals, 'rate'))} requests a second, {arrivals.get('kind')} arrivals"
    return f"{how}{cap}{requests}"


def lengths_words(document: Mapping[str, Any]) -> str:
    """Requested and actual tokens of a request; "" where the result does not say."""
    parts = []
    for name, title in (("input_tokens", "input"), ("output_tokens", "output")):
        requested = value_at(document, "moonpad", name, "requested")
        mean = number_at(document, "moonpad", name, "mean")
        if requested is not None and mean is not None:
            parts.append(f"{title} {requested} and {mean:.1f}")
    return f"tokens per request, requested and actual: {', '.join(parts)}" if parts else ""


def client_words(document: Mapping[str, Any]) -> str:
    """What the client itself adds to the figures."""
    client = mapping_at(document, "moonpad", "client")
    cpu, workers = number_at(client, "cpu"), number_at(client, "workers") or 1
    if cpu is None:
        return "client: its own load was not reported"
    core = "one core" if workers == 1 else f"a core in the busiest of {workers:.0f} processes"
    late = [
        f"{what} {late_ms:.2f} ms late at P99"
        for key, what in (("p99_slip_ms", "requests sent"), ("p99_lag_ms", "event loop"))
        if (late_ms := number_at(client, key)) is not None
    ]
    error = mapping_at(client, "error")
    names = ("streams", "ttft_error_mean_ms", "ttft_error_p99_ms", "itl_p99_ratio")
    streams, mean_ms, p99_ms, ratio = (number_at(error, name) for name in names)
    measured = "its own error was not measured"
    if streams is not None and mean_ms is not None and p99_ms is not None and ratio is not None:
        measured = (
            f"its own error, measured against a server of known timing with {_counted(streams, 'stream')}: "
            f"TTFT {mean_ms:+.2f} ms, at P99 {p99_ms:+.2f} ms; P99 of ITL {ratio:.3f} of the true value"
        )
    return f"client: CPU {cpu:.0%} of {', '.join((core, *late))}; {measured}"


def server_rows(document: Mapping[str, Any]) -> Rows:
    """What the server reported over the whole run."""
    server = mapping_at(document, "moonpad", "server")
    rows = []
    for key, name, form in GAUGES:
        median, highest = number_at(server, key, "median"), number_at(server, key, "max")
        if median is not None and highest is not None:
            rows.append((name, f"median {median:{form}}, at most {highest:{form}}"))
    if (preemptions := number_at(server, "preemptions")) is not None:
        rows.append(("preemptions", f"{preemptions:,.0f}"))
    if (hits := number_at(server, "prefix_hit_rate")) is not None:
        rows.append(("prefix cache hits", f"{hits:.1%} of the tokens looked up"))
    return rows


def device_rows(document: Mapping[str, Any]) -> Rows:
    """What the devices reported over the whole run."""
    devices = mapping_at(document, "moonpad", "devices")
    rows = []
    if (count := number_at(devices, "count")) is not None:
        rows.append(("devices", f"{count:,.0f}"))
    power_w, most_w = (number_at(devices, "power_w", name) for name in ("mean", "max"))
    if power_w is not None and most_w is not None:
        rows.append(("total power", f"{power_w:,.0f} W, at most {most_w:,.0f} W"))
        duration_s, tokens = number_at(document, "duration"), number_at(document, "total_output_tokens")
        if duration_s is not None and tokens:
            rows.append(("energy per output token", f"{power_w * duration_s / tokens:,.2f} J"))
    busy, most = (number_at(devices, "busy", name) for name in ("mean", "max"))
    if busy is not None and most is not None:
        rows.append(("busy", f"{busy:.1%} of the time, at most {most:.1%}"))
    if (used_bytes := number_at(devices, "most_used_bytes")) is not None:
        rows.append(("highest memory use", f"{used_bytes / GIB:,.1f} GiB"))
    for reason in mapping_at(devices, "throttled"):
        if (share := number_at(devices, "throttled", reason)) is not None:
            rows.append((f"clocks held back by {one_line(str(reason))}", f"{share:.0%} of the time"))
    return rows


def client_bound_words(document: Mapping[str, Any]) -> str:
    """That the client was at its limit, why, and the remedy; "" where it kept up."""
    client = mapping_at(document, "moonpad", "client")
    if client.get("client_bound") is not True:
        return ""
    reasons = client.get("client_bound_by")
    why = "; ".join(str(reason) for reason in reasons) if isinstance(reasons, list) else ""
    workers = f"--workers {2 * (number_at(client, 'workers') or 1):.0f}"
    because = f" ({why})" if why else ""
    return f"client-bound: the latencies may be the client's own{because}; lower the load, or add {workers}"


def warnings(document: Mapping[str, Any], *, killed: bool = False) -> Rows:
    """(severity, text): what a reader must know before trusting a figure. Severity: fail or skip, as on the page."""
    rows = [("fail", text)] if (text := client_bound_words(document)) else []
    ended, planned = number_at(document, "moonpad", "finished_requests"), number_at(document, "num_prompts")
    if value_at(document, "moonpad", "partial") is True and ended is not None and planned is not None:
        rows.append(("skip", f"partial: {ended:,.0f} of {planned:,.0f} requests ended; all figures are of these"))
    if killed:
        rows.append(("skip", "the run was killed before it wrote a result; the figures are of the requests it saved"))
    if failed := number_at(document, "failed"):
        sent = failed + (number_at(document, "completed") or 0)
        rows.append(("fail", f"{failed:,.0f} of {sent:,.0f} requests failed; no latency or throughput includes them"))
    if isinstance(cached := value_at(document, "moonpad", "cached_prompts", "warning"), str):
        rows.append(("fail", cached))
    return rows


def latency_rows(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row per latency that has a figure: its name, description, and cells of (figure, interval at 95 % or "")."""
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


def heading(document: Mapping[str, Any]) -> dict[str, object]:
    """What a page has at its top: model, endpoint, date."""
    return {
        "model": value_at(document, "model_id") or "unnamed model",
        "endpoint": value_at(document, "moonpad", "base_url") or "endpoint not reported",
        "began": value_at(document, "date") or "date not reported",
    }


def latency_tile(document: Mapping[str, Any], key: str, title: str) -> tuple[str, str, str]:
    """(name, median, P99)."""
    median, p99 = number_at(document, f"median_{key}_ms"), number_at(document, f"p99_{key}_ms")
    return f"{LATENCY_NAMES[key][0]}{title}, median", duration_text(median), f"P99 {duration_text(p99)}"


def configuration(document: Mapping[str, Any], config: Mapping[str, Any] | None) -> Rows:
    """Every setting: of run.json where there is one, and what the result adds to it."""
    ours = mapping_at(document, "moonpad")
    settings: dict[str, Any] = {
        "model": value_at(document, "model_id"),
        "endpoint": ours.get("base_url"),
        "backend": value_at(document, "backend"),
        "began": value_at(document, "date"),
        "moonpad version": ours.get("version"),
        "words per prompt": value_at(ours, "input_tokens", "words"),
        "input tokens counted by": value_at(ours, "input_tokens", "calibrated_by"),
    }
    if config is None:
        names = ("num_prompts", "request_rate", "burstiness", "max_concurrency")
        settings |= {name: value_at(document, name) for name in names}
        settings |= {name: ours.get(name) for name in ("seed", "warmup", "ignore_eos", "temperature", "workload")}
        settings["slo"] = {name: limit for name, limit in mapping_at(ours, "slo").items() if name != "good"} or None
    return [row for name, value in {**settings, **(config or {})}.items() for row in _rows(name, value)]


def _rows(name: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _rows(f"{name}.{key}", inner)
    elif isinstance(value, list):
        more = f" … {len(value):,} in all" if len(value) > MOST_VALUES else ""
        yield name, ", ".join(map(str, value[:MOST_VALUES])) + more
    else:
        yield name, "not set" if value in (None, "") else YES_NO[value] if isinstance(value, bool) else str(value)


def _counted(count: float, noun: str) -> str:
    return f"{count:,.0f} {noun}" + ("" if count == 1 else "s")
