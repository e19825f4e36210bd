"""A measured run as a page: what came out, how it was spread, when it was, and what was asked for. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from markupsafe import Markup

from moonpad.bench.lenient_json import mapping_at, number_at, value_at
from moonpad.bench.report_data import RunData
from moonpad.bench.request_data import RequestData
from moonpad.report.ecdf_chart import ecdf_chart
from moonpad.report.html_page import page
from moonpad.report.run_phrases import (
    LATENCY_NAMES,
    NOT_REPORTED,
    client_words,
    configuration,
    device_rows,
    heading,
    latency_rows,
    latency_tile,
    lengths_words,
    load_words,
    server_rows,
    short,
    warnings,
)
from moonpad.report.timeline import timeline
from moonpad.values.units import GIB

PLANNED_NAMES: Final = {
    "kv_tokens": "KV cache, tokens",
    "device_memory_gib": "highest memory use of a device, GiB",
    "median_ttft_ms": "TTFT, median, ms",
    "median_tpot_ms": "TPOT, median, ms",
}
MARKED: Final = (("P50", "median"), ("P90", "p90"), ("P99", "p99"))
"""The percentiles on a curve, by their names in the document."""


def run_page(run: RunData) -> str:
    """The HTML of one run."""
    document = run.document
    steady = _steady(document)
    svg, slice_s = timeline(run.requests, run.samples, run.devices, steady) if run.requests else (None, 0.0)
    return page(
        "run.html",
        **heading(document),
        name=run.name,
        load=load_words(document),
        lengths=lengths_words(document),
        warnings=warnings(document, killed=run.killed),
        tiles=_tiles(document),
        client=client_words(document),
        rows=latency_rows(document),
        charts=_charts(run),
        timeline=svg,
        timeline_notes=_timeline_notes(run, run.requests, slice_s) if run.requests else [],
        steady=_steady_words(document, steady),
        server=server_rows(document) if run.samples else [],
        devices=device_rows(document),
        failures=run.requests.failures if run.requests else (),
        counted=mapping_at(document, "moonpad", "failures"),
        planned=_planned(document),
        configuration=configuration(document, run.config),
    )


def _tiles(document: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """(name, figure, small print)."""

    def rate(name: str, key: str, unit: str, more: str = "") -> tuple[str, str, str]:
        value = number_at(document, key)
        return (name, short(value), unit + more if value is not None else "")

    peak = number_at(document, "max_output_tokens_per_s")
    tiles = [
        rate("output throughput", "output_throughput", "tokens/s", f", {short(peak)} at most" if peak else ""),
        rate("request throughput", "request_throughput", "requests/s"),
        latency_tile(document, "ttft", ""),
        latency_tile(document, "tpot", ""),
        latency_tile(document, "e2el", ""),
    ]
    if slo := mapping_at(document, "moonpad", "slo"):
        limits = ", ".join(
            f"{name.removesuffix('_s').upper()} ≤ {limit * 1000:g} ms"
            for name in ("ttft_s", "tpot_s", "e2el_s")
            if (limit := number_at(slo, name)) is not None
        )
        tiles.append(rate("goodput", "request_goodput", "requests/s within ", limits))
    completed, failed = number_at(document, "completed"), number_at(document, "failed")
    done = NOT_REPORTED if completed is None else f"{completed:,.0f}"
    tiles.append(("successful requests", done, f"{failed or 0:,.0f} failed"))
    duration_s = number_at(document, "duration")
    counts = (number_at(document, key) for key in ("total_input_tokens", "total_output_tokens"))
    tokens_in, tokens_out = ("?" if count is None else f"{count:,.0f}" for count in counts)
    took = NOT_REPORTED if duration_s is None else f"{short(duration_s)} s"
    tiles.append(("duration", took, f"{tokens_in} tokens in, {tokens_out} out"))
    return tiles


def _charts(run: RunData) -> list[tuple[str, str, Markup, str]]:
    """(name, description, drawing, note) of each latency."""
    if run.requests is None:
        return []
    charts = []
    for key, (name, what) in LATENCY_NAMES.items():
        figures = ((label, number_at(run.document, f"{statistic}_{key}_ms")) for label, statistic in MARKED)
        marks = {label: value for label, value in figures if value is not None}
        if values := run.requests.latencies_ms[key]:
            charts.append((name, what, *ecdf_chart(name, what, values, marks)))
    return charts


def _steady(document: Mapping[str, Any]) -> tuple[float, float] | None:
    from_s, to_s = (number_at(document, "moonpad", "steady", name) for name in ("from_s", "to_s"))
    return None if from_s is None or to_s is None or to_s <= from_s else (from_s, to_s)


def _steady_words(document: Mapping[str, Any], steady: tuple[float, float] | None) -> str:
    if steady is None:
        return ""
    rate = number_at(document, "moonpad", "steady", "output_throughput")
    gave = f": {short(rate)} output tokens a second" if rate is not None else ""
    return (
        f"Shaded: the steady part, {steady[0]:.2f} s to {steady[1]:.2f} s, between the first and the last moment with "
        f"at least 90 % of the peak concurrency{gave}."
    )


def _timeline_notes(run: RunData, requests: RequestData, slice_s: float) -> list[str]:
    notes = []
    if len(requests.bars) < requests.count:
        failed = sum(not bar.ok for bar in requests.bars)
        notes.append(
            f"{len(requests.bars)} of {requests.count:,} requests are drawn, evenly spread over the run; "
            f"{failed:,} of the {requests.failed:,} failed ones are among them."
        )
    notes.append(
        "Output tokens are those of successful requests, spread evenly over an answer's chunks, "
        f"in steps of {slice_s:g} s."
    )
    if not run.samples:
        why = value_at(run.document, "moonpad", "server", "why_not")
        notes.append(f"The server reported no metrics{f': {why}' if why else ''}.")
    return notes


def _planned(document: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """(figure, planned, measured, ratio) of each figure that `moonpad.planned` names and that was measured."""
    used_bytes = number_at(document, "moonpad", "devices", "most_used_bytes")
    observed = {"device_memory_gib": None if used_bytes is None else used_bytes / GIB}
    rows = []
    for name, estimate in mapping_at(document, "moonpad", "planned").items():
        value, low, high = (number_at(estimate, end) for end in ("value", "low", "high"))
        sources = (number_at(estimate, "measured"), observed.get(name), number_at(document, name))
        measured = next((figure for figure in sources if figure is not None), None)
        if value is None or measured is None:
            continue
        around = f" ({_plain(low)} to {_plain(high)})" if low is not None and high is not None and low < high else ""
        ratio = f"{measured / value:.3f}" if value else "–"
        rows.append((PLANNED_NAMES.get(name, name), f"{_plain(value)}{around}", _plain(measured), ratio))
    return rows


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"
