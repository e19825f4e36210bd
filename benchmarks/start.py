"""How quick `moonpad up` is beside its engine, from the run's own events.

    python benchmarks/start.py --runs 5 --out benchmarks/results/start.json

Each run starts the embedded engine and stops it. Printed and written: seconds from the command's first instant (its
process being created) to the spawn of the engine; from the first 200 of `/health` to *ready*; of that, the one-token
request; and the engine's own start.
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

ROOT = Path(__file__).resolve().parent.parent


def moonpad(state: str, *argv: str) -> str:
    env = {**os.environ, "XDG_STATE_HOME": state, "NO_COLOR": "1"}
    done = subprocess.run((sys.executable, "-m", "moonpad", *argv), env=env, capture_output=True, text=True, check=True)
    return done.stdout


def one_run(spec: Path) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as state:
        try:
            run = json.loads(moonpad(state, "up", str(spec), "--json"))["run"]
            lines = (Path(state) / "moonpad" / "runs" / run / "events.jsonl").read_text().splitlines()
        finally:
            moonpad(state, "down", str(spec), "--json")
    first: dict[str, dict[str, float]] = {}
    for line in lines:
        event = json.loads(line)
        first.setdefault(event["event"], event)
    at = {name: event["t_s"] for name, event in first.items()}
    return {
        "command_to_spawn_s": round(first["up"]["command_age_s"] + at["spawned"] - at["up"], 3),
        "spawn_to_healthy_s": round(at["healthy"] - at["spawned"], 3),
        "healthy_to_ready_s": round(at["ready"] - at["healthy"], 3),
        "one_token_s": round(first["ready"]["token_s"], 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--spec", type=Path, default=ROOT / "examples" / "tiny.toml")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    runs = []
    for number in range(args.runs):
        runs.append(one_run(args.spec))
        print(number + 1, runs[-1], flush=True)
    result = {
        "what": "moonpad up beside its engine, seconds",
        "at": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "runs": runs,
        "median": {name: statistics.median(run[name] for run in runs) for name in runs[0]},
    }
    print(json.dumps(result["median"]))
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
