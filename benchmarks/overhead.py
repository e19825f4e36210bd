"""How well the model of the overhead predicts the starts that are known: each from the other, and from the rows that
moonpad ships. Nothing is run: the starts are the logged ones of catalog/data/calibrations.toml.

    python benchmarks/overhead.py --out benchmarks/results/overhead.json

Leaving one out: the context (the only part that both starts fix) is fitted to one start, so that its overhead comes out
exactly, and the other's is predicted with it. Forward pass and sampling are those of the rows.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

from moonpad.catalog.calibrations import Calibration, calibrations
from moonpad.catalog.hardware import devices
from moonpad.catalog.models import models
from moonpad.plan.memory import memory_of
from moonpad.plan.overhead import CONTEXT
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.memory import Memory
from moonpad.values.units import GIB


def start(run: Calibration, *, measured: bool) -> Memory:
    device = devices()[run.device]
    cluster = Cluster(f"8x{device.product}", 1, 8, device)
    checkpoint = catalog_checkpoint(models()[run.model])
    known = (run,) if measured else ()
    return memory_of(checkpoint, cluster, run.engine, run.engine_version, run.layout, run.settings, calibrations=known)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    runs = {run.id: run for run in calibrations() if run.layout == replace(run.layout, dcp=1)}
    seen = {name: start(run, measured=True).overhead.value / GIB for name, run in runs.items()}
    model = {name: start(run, measured=False) for name, run in runs.items()}
    peak = {name: (memory.overhead.value - memory.overhead_parts[CONTEXT]) / GIB for name, memory in model.items()}
    rows = {}
    for name, memory in model.items():
        others = {
            other: {
                "context_gib": round(seen[other] - peak[other], 3),
                "predicted_gib": round(seen[other] - peak[other] + peak[name], 3),
                "error_gib": round(seen[other] - peak[other] + peak[name] - seen[name], 3),
            }
            for other in runs
            if other != name
        }
        rows[name] = {
            "measured_gib": round(seen[name], 3),
            "model_gib": [
                round(figure / GIB, 3) for figure in (memory.overhead.value, memory.overhead.low, memory.overhead.high)
            ],
            "model_kv_tokens": [int(memory.kv_tokens.value), int(memory.kv_tokens.low), int(memory.kv_tokens.high)],
            "from_another_run": others,
        }
    result = {"what": "overhead of a device, GiB; [value, low, high]", "at": time.strftime("%Y-%m-%d"), "runs": rows}
    print(json.dumps(result, indent=1))
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
