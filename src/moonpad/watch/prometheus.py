"""What a Prometheus needs to watch the same endpoints: scrape configuration, recording rules that give the figures of
each engine one name, and alerts over those. Pure; the names are those of `MetricNames`, the limits those of alerts.py.

https://prometheus.io/docs/prometheus/latest/configuration/configuration/ and …/recording_rules/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from moonpad.engines.base import MetricNames, RequestTimeNames
from moonpad.watch.alerts import Limits

SCRAPE_S: Final = 15
JOB: Final = "moonpad"
BY: Final = "by (endpoint, engine)"
"""Each copy of an endpoint and each data-parallel rank counts towards one figure."""
WINDOW: Final = "2m"
"""Eight scrapes, so that a missed one leaves a rate."""
QUANTILES: Final = (0.5, 0.9, 0.99)
RULES_FILE: Final = "moonpad.rules.yml"

TIMES: Final[Mapping[str, str]] = {
    "ttft": "ttft_seconds", "between_tokens": "itl_seconds", "e2e": "e2e_seconds", "queued": "queued_seconds",
}  # fmt: skip
"""A field of `RequestTimeNames` → the recorded name."""


@dataclass(frozen=True, slots=True)
class Scraped:
    """`addresses`: scheme and HOST:PORT of the processes that have `/metrics`, several behind a router. `engine`: ""
    where it is unknown."""

    endpoint: str
    engine: str
    addresses: tuple[tuple[str, str], ...]


def scrape_config(endpoints: Sequence[Scraped], *, exposition: str = "") -> dict[str, Any]:
    """prometheus.yml. `exposition`: HOST:PORT of `moonpad watch --expose`, "" without."""
    jobs: list[dict[str, Any]] = [
        {
            "job_name": f"{JOB}-{scheme}",
            "scheme": scheme,
            "static_configs": [
                {"targets": hosts, "labels": {"endpoint": each.endpoint, "engine": each.engine or "unknown"}}
                for each in endpoints
                if (hosts := [host for of, host in each.addresses if of == scheme])
            ],
        }
        for scheme in ("http", "https")
    ]
    kept = [job for job in jobs if job["static_configs"]]
    if exposition:
        kept.append({"job_name": f"{JOB}-watch", "honor_labels": True, "static_configs": [{"targets": [exposition]}]})
    return {
        "global": {"scrape_interval": f"{SCRAPE_S}s", "evaluation_interval": f"{SCRAPE_S}s"},
        "rule_files": [RULES_FILE],
        "scrape_configs": kept,
    }


def rules(engines: Sequence[MetricNames], limits: Limits = Limits()) -> dict[str, Any]:
    """moonpad.rules.yml, for endpoints of any of these engines."""
    recorded = {"name": "moonpad-figures", "rules": list(_recorded(engines))}
    return {"groups": [recorded, {"name": "moonpad-alerts", "rules": alerts(limits)}]}


def alerts(limits: Limits) -> list[dict[str, Any]]:
    """The rules of alerts.py, where Prometheus can see what they are about."""
    return [
        _alert("MoonpadNotAnswering", f'up{{job=~"{JOB}-https?"}} == 0', "1m", "critical",
               "{{ $labels.endpoint }} does not answer at {{ $labels.instance }}",
               "moonpad status; moonpad logs {{ $labels.endpoint }}"),
        _alert("MoonpadHung",
               "moonpad:requests_running > 0 and moonpad:output_tokens:rate == 0 and moonpad:input_tokens:rate == 0",
               f"{max(limits.hung_s, 2 * SCRAPE_S):.0f}s", "critical",
               "{{ $labels.endpoint }} has requests, and no token has moved for two minutes",
               "moonpad logs {{ $labels.endpoint }}; the spec's [launch] restart_on_stall = true restarts it"),
        _alert("MoonpadQueueGrows",
               f"moonpad:requests_waiting > {limits.queue:g} and deriv(moonpad:requests_waiting[5m]) > 0",
               "5m", "warning",
               '{{ $value | printf "%.0f" }} requests wait at {{ $labels.endpoint }}, and more come than leave',
               "raise max_num_seqs if the KV cache has room, else add a copy behind a router"),
        _alert("MoonpadKvCacheFull",
               f"moonpad:kv_usage >= {limits.kv_usage:g} and moonpad:requests_waiting > 0", "2m", "warning",
               "the KV cache of {{ $labels.endpoint }} is full, and requests wait",
               "lower max_model_len or the concurrency, use an FP8 KV cache, or give the engine more memory"),
        _alert("MoonpadPreemptions", f"moonpad:preemptions:rate * 60 >= {limits.preemptions:g}", "2m", "warning",
               '{{ $value | printf "%.0f" }} requests a minute are preempted at {{ $labels.endpoint }}',
               "lower max_num_seqs, so that fewer requests share the KV cache"),
        _alert("MoonpadSlowFirstToken",
               f'moonpad:ttft_seconds:quantile{{quantile="0.9"}} > {limits.first_token_s:g}', "5m", "warning",
               "one in ten first tokens of {{ $labels.endpoint }} takes more than {{ $value | humanize }} s",
               "moonpad doctor --url URL of {{ $labels.endpoint }} measures where the time goes"),
        _alert("MoonpadRestarted", "changes(moonpad_run_generation[10m]) > 0", "0s", "warning",
               "{{ $labels.endpoint }} was restarted within ten minutes",
               "moonpad doctor --log FILE names the cause by the engine's log"),
    ]  # fmt: skip


def recorded_names(engines: Sequence[MetricNames]) -> tuple[str, ...]:
    """What `rules` records for these engines."""
    return tuple(dict.fromkeys(str(rule["record"]) for rule in _recorded(engines)))


def _recorded(engines: Sequence[MetricNames]) -> Iterator[dict[str, Any]]:
    """Each figure once, over the names of all engines: of which an endpoint has one."""
    for record, field, how in (
        ("moonpad:requests_running", "running", "sum"),
        ("moonpad:requests_waiting", "waiting", "sum"),
        ("moonpad:kv_usage", "kv_cache_usage", "max"),
    ):
        if expr := _either(f"{how} {BY} ({name})" for name in _named(engines, field)):
            yield {"record": record, "expr": expr}
    for record, field in (
        ("moonpad:input_tokens:rate", "prompt_tokens"),
        ("moonpad:output_tokens:rate", "generation_tokens"),
        ("moonpad:preemptions:rate", "preemptions"),
    ):
        if expr := _either(map(_rate, _named(engines, field))):
            yield {"record": record, "expr": expr}
    for record, part, whole in (
        ("moonpad:prefix_hit_ratio", "prefix_hits", "prefix_queries"),
        ("moonpad:acceptance_ratio", "accepted", "drafted"),
    ):
        pairs = dict.fromkeys((str(getattr(each, part)), str(getattr(each, whole))) for each in engines)
        if expr := _either(f"({_rate(some)} / {_rate(every)})" for some, every in pairs if some and every):
            yield {"record": record, "expr": expr}
    for field, record in TIMES.items():
        names = _named([each.times for each in engines], field)
        for share in QUANTILES if names else ():
            buckets = (f"sum by (endpoint, engine, le) (rate({name}_bucket[{WINDOW}]))" for name in names)
            yield {
                "record": f"moonpad:{record}:quantile",
                "labels": {"quantile": f"{share:g}"},
                "expr": f"histogram_quantile({share:g}, {_either(buckets)})",
            }


def _named(holders: Sequence[MetricNames | RequestTimeNames], field: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for holder in holders if (name := str(getattr(holder, field)))))


def _either(expressions: Iterable[str]) -> str:
    return " or ".join(expressions)


def _rate(name: str) -> str:
    return f"sum {BY} (rate({name}[{WINDOW}]))"


def _alert(name: str, expr: str, for_: str, severity: str, summary: str, remedy: str) -> dict[str, Any]:
    return {
        "alert": name,
        "expr": expr,
        "for": for_,
        "labels": {"severity": severity},
        "annotations": {"summary": summary, "remedy": remedy},
    }
