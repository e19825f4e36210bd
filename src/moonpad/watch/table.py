"""Views as lines of text: a row for each endpoint, and what there is to say of one. Pure; no colours here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from moonpad.facts.device import DeviceUse
from moonpad.observe.histograms import Quantile
from moonpad.values.redaction import redact
from moonpad.values.units import GIB
from moonpad.values.visible_text import one_line
from moonpad.watch.view import TITLES, Latency, View

HEADS: Final = ("endpoint", "state", "gen", "run", "wait", "KV", "in/s", "out/s", "TTFT90", "alert")
"""80 columns with a name of `NAME_CHARACTERS`: tokens a second in and out, and the 90th percentile of TTFT in
seconds."""
NUMBERS_FROM: Final = 2
"""The columns from here on are set to the right."""
NAME_CHARACTERS: Final = 14
SHARES: Final = (0.5, 0.9, 0.99)


class Line(NamedTuple):
    """`tone`: error, warning, head, quiet, or "" for an ordinary line."""

    text: str
    tone: str = ""


def cells(view: View, name_characters: int | None = None) -> tuple[str, ...]:
    """A row under `HEADS`."""
    first = view.latencies.get("ttft")
    name = safe(view.name.removeprefix("http://"))
    if name_characters is not None and len(name) > name_characters:
        name = f"{name[: name_characters - 1]}…"
    return (
        name,
        view.state,
        _count(view.generation),
        _count(view.running),
        _count(view.waiting),
        "-" if view.kv_usage is None else f"{view.kv_usage:.0%}",
        _count(view.input_tokens_per_s),
        _count(view.output_tokens_per_s),
        "-" if first is None else _seconds(first.histogram.quantile(0.9)),
        str(len(view.alerts)) if view.alerts else "",
    )


def details(view: View) -> Iterator[Line]:
    """What is shown of one endpoint below its row: alerts first."""
    for alert in view.alerts:
        yield Line(safe(f"{alert.severity}: {alert.message}"), str(alert.severity))
        yield Line(safe(f"  {alert.remedy}"))
    yield Line(safe(f"{view.state}{_starts(view)}: {view.because}"))
    if view.why_no_load:
        yield Line(safe(f"load not reported: {view.why_no_load}"), "quiet")
    if view.latencies:
        yield Line(f"{'seconds':<8}{'p50':>10}{'p90':>10}{'p99':>10}{'count':>10}  over", "head")
        for field, latency in view.latencies.items():
            yield Line(_latency(TITLES[field], latency))
    if cache := tuple(_cache(view)):
        yield Line("  ".join(cache))
    for use in view.devices:
        yield Line(_device(use))
    if view.why_no_devices:
        yield Line(safe(f"devices not reported: {view.why_no_devices}"), "quiet")
    for line in view.log:
        yield Line(safe(f"| {line.rsplit(chr(13), 1)[-1]}"), "quiet")


def safe(text: str) -> str:
    """Without secrets, and nothing that moves the cursor."""
    return one_line(redact(text))


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows under `HEADS`, with a space of two between columns."""
    widths = [max(map(len, column)) for column in zip(HEADS, *rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if at >= NUMBERS_FROM else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (HEADS, *rows)
    ]


def _starts(view: View) -> str:
    if view.generation is None:
        return ""
    restarts = view.restarts or 0
    return f", generation {view.generation}, {restarts} restart{'s' * (restarts != 1)}"


def _latency(title: str, latency: Latency) -> str:
    quantiles = "".join(f"{_seconds(latency.histogram.quantile(share)):>10}" for share in SHARES)
    over = "since its start" if latency.over_s is None else f"last {latency.over_s:.0f} s"
    return f"{title:<8}{quantiles}{latency.histogram.count:>10.0f}  {over}"


def _cache(view: View) -> Iterator[str]:
    if (tokens := view.kv_tokens_measured or view.kv_tokens_planned) is not None:
        planned = "" if view.kv_tokens_measured else " planned"
        yield f"KV cache of {tokens:,.0f} tokens{planned}"
    if view.preemptions is not None:
        yield f"{view.preemptions:.0f} preemptions in {view.window_s:.0f} s"
    if view.prefix_hit_rate is not None:
        yield f"{view.prefix_hit_rate:.1%} of prompt tokens from the prefix cache"
    if view.acceptance is not None:
        yield f"{view.acceptance:.1%} of drafted tokens accepted"


def _device(use: DeviceUse) -> str:
    used = "-" if use.used_bytes is None else f"{use.used_bytes / GIB:.1f} GiB"
    power = "-" if use.power_w is None else f"{use.power_w:.0f} W"
    busy = "-" if use.busy is None else f"{use.busy:.0%}"
    heat = "" if use.temperature_c is None else f"  {use.temperature_c:.0f} °C"
    slow = f"  slowed by {', '.join(use.throttled_by)}" if use.throttled_by else ""
    return f"device {use.index:<3} used {used:>10}  power {power:>6}  busy {busy:>5}{heat}{slow}"


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _seconds(quantile: Quantile | None) -> str:
    if quantile is None:
        return "-"
    value = f"{quantile.value_s:.0f}" if quantile.value_s >= 100 else f"{quantile.value_s:.3g}"
    return f">{value}" if quantile.high_s is None else value
