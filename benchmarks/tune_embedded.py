"""`moonpad tune` on the real vLLM on this processor: the tuned spec against the default, and against a small grid.

    python -m benchmarks.tune_embedded --budget 14m --out benchmarks/results/tune_embedded.json
    python -m benchmarks.tune_embedded --grid --out benchmarks/results/tune_embedded.json

The first runs the command as a person would, with its proof, and records its result: goodput under a stated SLO,
default and candidates side by side in one run, the ratio with its interval. It can be interrupted and started again:
`--home` keeps its state. The second measures every point of a grid of three knobs once, and what tune chose beside
them, with the default in between; the count of measurements of both is recorded. OUT is written after each point.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.stage import about, write

SPEC = 'model = "kimi-k2-tiny"\nengine = "vllm-cpu"\n\n[endpoint]\nport = 8377\n'
WORKLOAD = "128:32"
GRID = {
    "async_scheduling": (True, False),
    "max_num_seqs": (8, 16),
    "prefix_caching": (True, False),
}
EVERY = 4
"""Points between two of the default."""


def environment(home: Path) -> dict[str, str]:
    """Its state is its own; the engine is the installed one."""
    return {**os.environ, "XDG_STATE_HOME": str(home / "state"), "NO_COLOR": "1"}


def load_words(users: int, slo: str) -> tuple[str, ...]:
    return ("--workload", WORKLOAD, "--concurrency", str(users), "--slo", slo, "--goal", "throughput")


def tuned(home: Path, load: tuple[str, ...], budget: str, requests: int) -> dict[str, Any]:
    """The command's own document, and what it took."""
    spec = home / "tiny.toml"
    spec.write_text(SPEC)
    command = [sys.executable, "-m", "moonpad", "tune", str(spec), *load, "--budget", budget, "--requests"]
    begun = time.monotonic()
    done = subprocess.run(  # its progress goes to our stderr
        [*command, str(requests), "--json"], env=environment(home), stdout=subprocess.PIPE, text=True, check=False
    )
    took_s = round(time.monotonic() - begun, 1)
    document = json.loads(done.stdout) if done.stdout else {}
    kept = {name: value for name, value in document.items() if name not in ("folder", "spec", "spec_written")}
    return {"exit_code": done.returncode, "command_s": took_s, "load_average": os.getloadavg()[0], **kept}


def grid(home: Path, users: int, slo: str, requests: int, chosen: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """One visit each, by the measurer that tune has; the default before, between and behind."""
    os.environ.update(environment(home))
    from dataclasses import replace

    from moonpad.catalog.knobs import knobs
    from moonpad.cli.bench_options import read_slo
    from moonpad.cli.load_options import read_workload
    from moonpad.spec.loader import load_spec
    from moonpad.tune.answers import Answers
    from moonpad.tune.candidate import UNCHANGED, Candidate, Change
    from moonpad.tune.halving import Measure
    from moonpad.tune.journal import TuneFolder
    from moonpad.tune.load import TuneLoad
    from moonpad.tune.measurer import DeploymentMeasurer
    from moonpad.tune.order import Judged
    from moonpad.tune.search import Search
    from moonpad.tune.subject import Subject

    workload = replace(read_workload(WORKLOAD), concurrency=users)
    load = TuneLoad(workload, WORKLOAD, "throughput", read_slo(slo), requests)
    subject = Subject.of(load_spec(home / "tiny.toml"), load)
    folder = TuneFolder(home / "grid")
    measurer = DeploymentMeasurer(subject, folder, Answers(folder, lambda name: None, lambda card: None, False))
    points = [
        Candidate(tuple(Change.to(knobs()[name], value) for name, value in zip(GRID, values, strict=True)))
        for values in itertools.product(*GRID.values())
    ]
    order = [Candidate.of(chosen), *points] if chosen else points
    for place, candidate in enumerate(order):
        turn = [UNCHANGED, candidate] if place % EVERY == 0 else [candidate]
        for one in [*turn, *([UNCHANGED] if place == len(order) - 1 else [])]:
            search = Search("throughput")
            search.judged[one.id] = Judged(one)
            # The last stage: nothing is given up halfway, and nothing taken from before.
            visit = measurer.measure(search, Measure(one.id, "final", 0, requests, 1), 1e9, lambda seconds: None)
            row = {"id": one.id, "changes": one.as_json(), "worth": visit.worth, "problem": visit.problem}
            yield {**row, "tuned": bool(chosen) and one == order[0], "figures": dict(visit.figures), "s": visit.seconds}


def summary_of(rows: list[dict[str, Any]], tune: dict[str, Any]) -> dict[str, Any]:
    """The best point of the grid, and what tune chose beside it, both against the default of this run."""
    default = [row["worth"] for row in rows if row["id"] == "default" and row["worth"] is not None]
    points = [row for row in rows if row["id"] != "default" and not row["tuned"] and row["worth"] is not None]
    chosen = next((row["worth"] for row in rows if row["tuned"]), None)
    if not default or not points:
        return {}
    base = sum(default) / len(default)
    best = max(points, key=lambda row: row["worth"])
    chosen = base if chosen is None else chosen
    return {
        "points": len(points),
        "default": base,
        "best": {"id": best["id"], "worth": best["worth"], "ratio": best["worth"] / base if base else None},
        "tuned": {"worth": chosen, "ratio": chosen / base if base else None},
        "tuned_over_best": chosen / best["worth"] if best["worth"] else None,
        "measurements_of_tune": tune.get("measurements"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", default="14m")
    parser.add_argument("--requests", type=int, default=64)
    parser.add_argument("--users", type=int, default=16)
    parser.add_argument("--slo", default="ttft=1500ms,tpot=50ms")
    parser.add_argument("--grid", action="store_true")
    parser.add_argument("--home", type=Path, default=Path("/tmp/tune-embedded"))  # noqa: S108
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    args.home.mkdir(parents=True, exist_ok=True)
    load = load_words(args.users, args.slo)
    record = json.loads(args.out.read_text()) if args.out and args.out.exists() else {}
    record |= {**about("moonpad tune on vLLM on a processor"), "load": " ".join(load), "grid_of": GRID}
    if not args.grid:
        record["tune"] = tuned(args.home, load, args.budget, args.requests)
        print(json.dumps({name: record["tune"].get(name) for name in ("standing", "reason", "measurements")}, indent=1))
        write(args.out, record)
        sys.exit(record["tune"]["exit_code"])
    tune = record.get("tune", {})
    chosen = (tune.get("winner") or tune.get("best") or {}).get("changes", [])  # the best so far, if none is confirmed
    rows: list[dict[str, Any]] = []
    for row in grid(args.home, args.users, args.slo, args.requests, chosen):
        rows.append(row)
        print(row["id"], row["worth"], row["problem"], flush=True)
        record["grid"] = {"summary": summary_of(rows, record.get("tune", {})), "rows": rows}
        write(args.out, record)


if __name__ == "__main__":
    main()
