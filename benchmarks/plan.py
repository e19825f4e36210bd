"""How long planning takes: whole processes, median of ten.

    python benchmarks/plan.py --out benchmarks/results/plan.json

The first row is what a person waits for; the others search every engine and layout for 16 devices, or read a spec.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOONPAD = str(Path(sys.executable).parent / "moonpad")
LIMITS_S = {"plan, 8xH200": 0.6, "plan --all, 2x8xH200": 1.5, "plan --all --json, 2x8xH200": 1.5}


def seconds(argv: tuple[str, ...], runs: int) -> list[float]:
    taken = []
    for _ in range(runs + 1):  # the first one warms the file cache and is left out
        begun = time.monotonic()
        subprocess.run((MOONPAD, *argv), capture_output=True, check=True)
        taken.append(round(time.monotonic() - begun, 3))
    return taken[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    eight = ("plan", "--model", "moonshotai/Kimi-K2-Thinking", "--on", "8xH200")
    sixteen = ("plan", "--model", "moonshotai/Kimi-K2-Instruct", "--on", "2x8xH200", "--all")
    with tempfile.TemporaryDirectory() as folder:
        spec = f"{folder}/moonpad.toml"
        subprocess.run((MOONPAD, "init", *eight[1:], "-o", spec), capture_output=True, check=True)
        rows = {
            "plan, 8xH200": seconds(eight, args.runs),
            "plan --all, 2x8xH200": seconds(sixteen, args.runs),
            "plan --all --json, 2x8xH200": seconds((*sixteen, "--json"), args.runs),
            "plan SPEC, 8xH200": seconds(("plan", spec), args.runs),
        }
    layouts = subprocess.run((MOONPAD, *sixteen, "--json"), capture_output=True, check=True)
    document = json.loads(layouts.stdout)
    median = {name: statistics.median(taken) for name, taken in rows.items()}
    result = {
        "what": "whole commands, seconds",
        "at": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "load_1_min": os.getloadavg()[0],
        "layouts_of_16_devices": len(document["plans"]) + len(document["refused"]),
        "runs": rows,
        "median": median,
        "limits": LIMITS_S,
        "within": {name: median[name] <= limit for name, limit in LIMITS_S.items()},
    }
    print(json.dumps({"median": median, "within": result["within"]}, indent=1))
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
