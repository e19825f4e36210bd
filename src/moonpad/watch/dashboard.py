"""A dashboard for Grafana over the recorded names of prometheus.py, as JSON to import. Pure.

https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from moonpad.watch.exposition import HELP

WIDTH: Final = 12
HEIGHT: Final = 8
SOURCE: Final = {"type": "prometheus", "uid": "${source}"}
CHOSEN: Final = '{endpoint=~"$endpoint"}'

PANELS: Final[tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...]] = (
    ("Requests", "short", (("moonpad:requests_running", "running"), ("moonpad:requests_waiting", "waiting"))),
    ("Tokens a second", "short", (("moonpad:input_tokens:rate", "in"), ("moonpad:output_tokens:rate", "out"))),
    ("Time to the first token", "s", (("moonpad:ttft_seconds:quantile", "p{{quantile}}"),)),
    ("Time between tokens", "s", (("moonpad:itl_seconds:quantile", "p{{quantile}}"),)),
    ("Time of a request", "s", (("moonpad:e2e_seconds:quantile", "p{{quantile}}"),)),
    ("Time in the queue", "s", (("moonpad:queued_seconds:quantile", "p{{quantile}}"),)),
    ("KV cache", "percentunit", (("moonpad:kv_usage", "in use"), ("moonpad:prefix_hit_ratio", "prefix hits"))),
    ("Speculative decoding", "percentunit", (("moonpad:acceptance_ratio", "accepted"),)),
    ("Preemptions a second", "short", (("moonpad:preemptions:rate", "preempted"),)),
    ("Generation", "short", (("moonpad_run_generation", "generation"),)),
    ("Device memory", "bytes", (("moonpad_device_used_bytes", "device {{device}}"),)),
    ("Clocks held back", "short", (("moonpad_device_throttled", "device {{device}}"),)),
)
"""Title, unit, and the series with their legends."""


def dashboard(recorded: Sequence[str]) -> dict[str, Any]:
    """With the panels of which at least one series is recorded, or is of moonpad's own exposition."""
    known = {*recorded, *HELP}
    panels: list[dict[str, Any]] = []
    for title, unit, series in PANELS:
        shown = [each for each in series if each[0] in known]
        if shown:
            panels.append(_panel(len(panels), title, unit, shown))
    return {
        "title": "moonpad",
        "uid": "moonpad",
        "schemaVersion": 39,
        "tags": ["moonpad"],
        "timezone": "browser",
        "refresh": "15s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [_source(), _endpoint()]},
        "panels": panels,
    }


def _panel(at: int, title: str, unit: str, series: Sequence[tuple[str, str]]) -> dict[str, Any]:
    return {
        "id": at + 1,
        "type": "timeseries",
        "title": title,
        "datasource": SOURCE,
        "gridPos": {"x": at % 2 * WIDTH, "y": at // 2 * HEIGHT, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [
            {
                "refId": chr(ord("A") + number),
                "datasource": SOURCE,
                "expr": f"{name}{CHOSEN}",
                "legendFormat": f"{{{{endpoint}}}} {legend}",
            }
            for number, (name, legend) in enumerate(series)
        ],
    }


def _source() -> dict[str, Any]:
    return {"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"}


def _endpoint() -> dict[str, Any]:
    return {
        "name": "endpoint",
        "type": "query",
        "datasource": SOURCE,
        "query": {"query": "label_values(up, endpoint)", "refId": "endpoint"},
        "includeAll": True,
        "multi": True,
        "current": {"text": "All", "value": "$__all"},
        "refresh": 2,
    }
