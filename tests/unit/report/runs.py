"""Folders of runs and sweeps with known records, as the benchmark writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from moonpad.bench.config import BenchConfig
from moonpad.bench.metrics import metrics_of
from moonpad.bench.result import BenchResult, as_json
from moonpad.bench.run_files import DEVICES_FILE, SERVER_FILE, RunFiles
from moonpad.bench.run_header import RunPlan
from moonpad.bench.telemetry import DeviceStats, Sample, ServerStats
from moonpad.facts.device import DeviceUse
from moonpad.load.client_error import ClientError
from moonpad.load.prompt_calibration import PromptCalibration
from moonpad.load.record import RequestRecord
from moonpad.observe.metrics import EngineLoad
from moonpad.values.records import as_dict, replace


def sample(at_s: float, running: float | None, waiting: float | None, kv_usage: float | None) -> Sample:
    return Sample(at_s, EngineLoad(running, waiting, kv_usage, None, None, preemptions=0.0))


def write_run(
    folder: Path,
    records: Sequence[RequestRecord],
    *,
    config: BenchConfig | None = None,
    samples: Iterable[Sample] = (),
    uses: Iterable[tuple[float, tuple[DeviceUse, ...]]] = (),
    model: str = "kimi-k2",
    client_cpu: float = 0.1,
    killed: bool = False,
    ours: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The document. `killed`: no result. `ours`: what the document has besides under `moonpad`."""
    config = config or BenchConfig(requests=len(records))
    plan = RunPlan(config, model, PromptCalibration(100, 128, "/tokenize"))
    server, devices = ServerStats(list(samples)), DeviceStats(list(uses))
    files = RunFiles(folder)
    files.begin(plan.as_json())
    for record in records:
        files.append(record)
    result = BenchResult(
        plan=replace(plan, base_url="http://10.0.0.7:8000/v1"),
        began="2026-11-23T12:00:00+01:00",
        records=records,
        metrics=metrics_of(records, max((record.closed_s for record in records), default=0.0), config.slo),
        client_cpu=client_cpu,
        partial=len(records) < config.requests,
        client_error=ClientError(4, 0.02, 0.0001, 0.0003, 1.004, 0.05),
        server=server,
        devices=devices,
    )
    document = as_json(result)
    document["moonpad"] |= ours or {}
    if not killed:
        files.finish(document)
    for server_sample in server.samples:
        files.append_sample(SERVER_FILE, server_sample.as_json())
    for at_s, uses_then in devices.samples:
        files.append_sample(DEVICES_FILE, {"at_s": at_s, "devices": [as_dict(use) for use in uses_then]})
    files.close()
    return document


def point(load: int, throughput: float, ttft_ms: float, tpot_ms: float, **server: float) -> dict[str, Any]:
    """One of a sweep, with the figures that its page shows. `server`: running, waiting, kv_usage."""
    config = as_dict(BenchConfig())
    return {
        "load": load,
        "model_id": "kimi-k2",
        "num_prompts": 10 * load,
        "completed": 10 * load,
        "failed": 0,
        "max_concurrency": load,
        "output_throughput": throughput,
        "request_throughput": throughput / 64,
        **{f"{name}_ttft_ms": ttft_ms for name in ("mean", "median", "p90", "p95")},
        "p99_ttft_ms": 2 * ttft_ms,
        **{f"{name}_tpot_ms": tpot_ms for name in ("mean", "median", "p90", "p95", "p99")},
        "p99_e2el_ms": 64 * tpot_ms,
        "moonpad": {
            "seed": config["seed"],
            "base_url": "http://10.0.0.7:8000/v1",
            "server": {name: {"median": value, "max": value} for name, value in server.items()},
        },
    }


def write_sweep(folder: Path, points: Sequence[Mapping[str, Any]], over: str = "concurrency") -> None:
    folder.mkdir()
    (folder / "sweep.json").write_text(json.dumps({"over": over, "points": points, "knee": None}))
