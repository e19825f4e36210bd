"""The files for Prometheus and Grafana: by hand, and by promtool where it is installed (Debian: `prometheus`)."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from moonpad.engines import ENGINES
from moonpad.watch.dashboard import PANELS, dashboard
from moonpad.watch.prometheus import RULES_FILE, Scraped, recorded_names, rules, scrape_config

ALL = tuple(dict.fromkeys(each.metrics for each in ENGINES.values()))
VLLM = (ENGINES["vllm"].metrics,)
ENDPOINTS = (
    Scraped("k", "vllm", (("http", "10.0.0.1:8000"), ("http", "10.0.0.2:8000"))),
    Scraped("s", "", (("https", "[2001:db8::1]:443"),)),
)


def test_scrape_configuration() -> None:
    http, https = scrape_config(ENDPOINTS)["scrape_configs"]
    (k,), (s,) = http["static_configs"], https["static_configs"]
    assert k == {"targets": ["10.0.0.1:8000", "10.0.0.2:8000"], "labels": {"endpoint": "k", "engine": "vllm"}}
    assert s == {"targets": ["[2001:db8::1]:443"], "labels": {"endpoint": "s", "engine": "unknown"}}


def test_each_figure_is_recorded_once_over_the_names_of_all_engines() -> None:
    figures = rules(ALL)["groups"][0]["rules"]
    keys = [(rule["record"], str(rule.get("labels"))) for rule in figures]
    assert len(keys) == len(set(keys))
    text = json.dumps(figures)
    for engine in ENGINES.values():
        for name in (engine.metrics.running, engine.metrics.generation_tokens, engine.metrics.times.ttft):
            assert name in text


def test_what_an_engine_does_not_report_is_not_recorded() -> None:
    names = recorded_names((ENGINES["llama-cpp"].metrics,))
    assert "moonpad:requests_running" in names
    assert not [name for name in names if "kv_usage" in name or "quantile" in name or "prefix" in name]


def test_the_dashboard_shows_what_is_recorded_and_nothing_else() -> None:
    document = dashboard(recorded_names(VLLM))
    shown = {
        target["expr"].partition("{")[0] for panel in document["panels"] for target in panel["targets"]
    }  # fmt: skip
    assert set(recorded_names(VLLM)) <= shown
    assert len(document["panels"]) == len(PANELS)
    assert len({(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in document["panels"]}) == len(PANELS)
    few = dashboard(recorded_names((ENGINES["llama-cpp"].metrics,)))
    assert "KV cache" not in [panel["title"] for panel in few["panels"]]


# --- by Prometheus itself

L = 'endpoint="k", engine="vllm", instance="10.0.0.1:8000", job="moonpad-http"'
SOUND = {
    f"up{{{L}}}": "1x80",
    f"vllm:num_requests_running{{{L}}}": "4x80",
    f"vllm:num_requests_waiting{{{L}}}": "0 1 0 0 2 0 0 0 1x72",
    f"vllm:kv_cache_usage_perc{{{L}}}": "0.9x80",
    f"vllm:generation_tokens_total{{{L}}}": "0+1500x80",
    f"vllm:prompt_tokens_total{{{L}}}": "0+300x80",
    f"vllm:num_preemptions_total{{{L}}}": "7x80",
    f'vllm:time_to_first_token_seconds_bucket{{{L}, le="1.0"}}': "0+15x80",
    f'vllm:time_to_first_token_seconds_bucket{{{L}, le="20.0"}}': "0+15x80",
    f'vllm:time_to_first_token_seconds_bucket{{{L}, le="40.0"}}': "0+15x80",
    f'vllm:time_to_first_token_seconds_bucket{{{L}, le="+Inf"}}': "0+15x80",
    'moonpad_run_generation{endpoint="k"}': "1x80",
}
"""Twenty minutes, a sample every 15 s."""
FAULTS = {
    "MoonpadNotAnswering": {f"up{{{L}}}": "0x80"},
    "MoonpadHung": {
        f"vllm:generation_tokens_total{{{L}}}": "900x80", f"vllm:prompt_tokens_total{{{L}}}": "900x80",
    },
    "MoonpadQueueGrows": {f"vllm:num_requests_waiting{{{L}}}": "0+1x80"},
    "MoonpadKvCacheFull": {
        f"vllm:num_requests_waiting{{{L}}}": "3x80", f"vllm:kv_cache_usage_perc{{{L}}}": "0.99x80",
    },
    "MoonpadPreemptions": {f"vllm:num_preemptions_total{{{L}}}": "0+2x80"},
    "MoonpadSlowFirstToken": {
        f'vllm:time_to_first_token_seconds_bucket{{{L}, le="1.0"}}': "0x80",
        f'vllm:time_to_first_token_seconds_bucket{{{L}, le="20.0"}}': "0+3x80",
    },
    "MoonpadRestarted": {'moonpad_run_generation{endpoint="k"}': "1x40 2x40"},
}  # fmt: skip


def asked_promtool(folder: Path, *argv: str) -> tuple[int, str]:
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("promtool is not installed: apt-get install prometheus")
    ended = subprocess.run((found, *argv), cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def promtool(folder: Path, *argv: str) -> None:
    code, said = asked_promtool(folder, *argv)
    assert code == 0, said


def write(folder: Path, name: str, document: dict[str, Any]) -> None:
    (folder / name).write_text(yaml.safe_dump(document, sort_keys=False))


@pytest.mark.slow
@pytest.mark.parametrize("names", [ALL, *((names,) for names in ALL)], ids=lambda names: str(len(names)))
def test_promtool_checks_configuration_and_rules(tmp_path: Path, names: Any) -> None:
    write(tmp_path, RULES_FILE, rules(names))
    write(tmp_path, "prometheus.yml", scrape_config(ENDPOINTS, exposition="127.0.0.1:9100"))
    promtool(tmp_path, "check", "config", "prometheus.yml")
    promtool(tmp_path, "check", "rules", RULES_FILE)


@pytest.mark.slow
def test_promtool_fires_each_alert_in_its_fault_and_none_on_a_sound_endpoint(tmp_path: Path) -> None:
    document = rules(VLLM)
    write(tmp_path, RULES_FILE, document)
    alerts = {rule["alert"]: rule for rule in document["groups"][1]["rules"]}
    assert set(alerts) == set(FAULTS)
    tests = [_case(SOUND, dict.fromkeys(alerts))]
    for name, fault in FAULTS.items():
        tests.append(_case({**SOUND, **fault}, {other: None for other in alerts if other != name}))
    write(tmp_path, "silent.yml", {"rule_files": [RULES_FILE], "evaluation_interval": "15s", "tests": tests})
    promtool(tmp_path, "test", "rules", "silent.yml")
    for name, fault in FAULTS.items():
        wrong = _case({**SOUND, **fault}, {name: None})
        write(tmp_path, "fires.yml", {"rule_files": [RULES_FILE], "evaluation_interval": "15s", "tests": [wrong]})
        code, said = asked_promtool(tmp_path, "test", "rules", "fires.yml")
        assert code != 0, f"{name} is silent"
        assert re.search(rf'alertname:? *"?{name}', said), said
        assert "remedy=" in said, said


def _case(series: dict[str, str], expected: dict[str, None]) -> dict[str, Any]:
    """At 12 minutes none of `expected` fires."""
    return {
        "interval": "15s",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": [{"eval_time": "12m", "alertname": name, "exp_alerts": []} for name in expected],
    }
