"""How long planning takes: whole processes, the best of ten.

    python benchmarks/plan.py --out benchmarks/results/plan.json [--before OTHER/.venv/bin/moonpad]

The first row is what a person waits for; the others search every engine and layout, of 16 and of 72 devices, or read a
spec. Other programs on the machine lengthen the wall time, so the processor's time (user and system) stands beside it;
the limits are of that. `--before`: the same with another moonpad, in turns with this one.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOONPAD = str(Path(sys.executable).parent / "moonpad")
EIGHT = ("plan", "--model", "moonshotai/Kimi-K2-Thinking", "--on", "8xH200")
LOWERED = ("plan", "--model", "moonshotai/Kimi-K2.6", "--on", "8xH20")
SIXTEEN = ("plan", "--model", "moonshotai/Kimi-K2-Instruct", "--on", "2x8xH200", "--all")
RACK = ("plan", "--model", "moonshotai/Kimi-K2-Instruct", "--on", "GB200-NVL72", "--all")
LIMITS_S = {
    "plan, 8xH200": 0.5,
    "plan, 8xH20": 0.5,
    "plan SPEC, 8xH200": 0.75,
    "plan --all, 2x8xH200": 1.0,
    "plan --all --json, 2x8xH200": 1.0,
    "plan --all, GB200-NVL72": 1.0,
    "plan --all --json, GB200-NVL72": 1.0,
}


def seconds(moonpad: str, argv: tuple[str, ...]) -> tuple[float, float]:
    """(wall, processor) of one command."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run((moonpad, *argv), capture_output=True, check=True)
    wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(moonpads: dict[str, str], argv: tuple[str, ...], runs: int) -> dict[str, dict[str, float]]:
    """Of each moonpad, in turns; the first run of each warms the file cache and is left out."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in moonpads}
    for _ in range(runs + 1):
        for name, moonpad in moonpads.items():
            taken[name].append(seconds(moonpad, argv))
    rows = {}
    for name, both in taken.items():
        wall, processor = zip(*both[1:], strict=True)
        figures = (min(processor), statistics.median(processor), min(wall), statistics.median(wall))
        keys = ("processor_best", "processor_median", "wall_best", "wall_median")
        rows[name] = {key: round(figure, 3) for key, figure in zip(keys, figures, strict=True)}
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--before")
    args = parser.parse_args()
    moonpads = {"now": MOONPAD} | ({"before": args.before} if args.before else {})
    with tempfile.TemporaryDirectory() as folder:
        spec = f"{folder}/moonpad.toml"
        subprocess.run((MOONPAD, "init", *EIGHT[1:], "-o", spec), capture_output=True, check=True)
        commands = {
            "plan, 8xH200": EIGHT,
            "plan, 8xH20": LOWERED,
            "plan SPEC, 8xH200": ("plan", spec),
            "plan --all, 2x8xH200": SIXTEEN,
            "plan --all --json, 2x8xH200": (*SIXTEEN, "--json"),
            "plan --all, GB200-NVL72": RACK,
            "plan --all --json, GB200-NVL72": (*RACK, "--json"),
        }
        rows = {name: measured(moonpads, argv, args.runs) for name, argv in commands.items()}
    document = json.loads(subprocess.run((MOONPAD, *RACK, "--json"), capture_output=True, check=True).stdout)
    result = {
        "what": "whole commands, seconds; `processor`: user and system time",
        "at": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "load_1_min": round(os.getloadavg()[0], 2),
        "runs_each": args.runs,
        "layouts_of_72_devices": len(document["plans"]) + len(document["refused"]),
        "seconds": rows,
        "limits": LIMITS_S,
        "within": {name: rows[name]["now"]["processor_best"] <= limit for name, limit in LIMITS_S.items()},
    }
    print(json.dumps(result, indent=1))
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
