"""Fault 68 in full: seeds × steps of the state machine (tests/faults/machine.py), recorded.

    python -m benchmarks.state_machine --seeds 0-49 --steps 200 --out benchmarks/results/state_machine.json

Each seed is a process of its own; `--at-once` runs so many side by side. Odd seeds restart an engine twice, even
ones never; every second pair does without a cgroup. Each leaves its record, with its whole history, below `--home`.
What lies there is not run again, so that a measurement that was cut short goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.stage import about, write
from tests.faults import machine


def run_one(seed: int, steps: int, home: Path) -> dict[str, Any]:
    folder = home / str(seed)
    kept = folder / "record.json"
    record = json.loads(kept.read_text()) if kept.exists() else machine.run_seed(seed, steps, folder)
    counts = record["commands"], record["faults"]
    verdict = "VIOLATION" if record["violation"] else "ok"
    print(f"seed {seed}: {verdict}, {record['seconds']} s, {[sum(counter.values()) for counter in counts]}", flush=True)
    return record


def summed(records: list[dict[str, Any]], what: str) -> dict[str, int]:
    total: Counter[str] = Counter()
    for record in records:
        total.update(record[what])
    return dict(sorted(total.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0-49", help="A-B, both of them included")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--home", type=Path, help="where the runs live; a temporary folder by default")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    first, _, last = args.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    home = args.home or Path(tempfile.mkdtemp(prefix="sm"))
    with ThreadPoolExecutor(args.at_once) as pool:
        records = list(pool.map(lambda seed: run_one(seed, args.steps, home), seeds))
    violations = [record["violation"] for record in records if record["violation"]]
    result = {
        **about("fault 68: random orders of commands and faults on three endpoints of the fake engine, two ports"),
        "seeds": f"{seeds[0]}-{seeds[-1]}",
        "steps": sum(record["steps"] for record in records),
        "runs": sum(record["runs"] for record in records),
        "violations": len(violations),
        "first_lines": [text.splitlines()[0] for text in violations],
        "seconds": round(sum(record["seconds"] for record in records)),
        "disk_rules": all(record["disk"] for record in records),
        "status_late_s": max(record["late_s"] for record in records),
        **{what: summed(records, what) for what in ("commands", "exits", "faults", "tempers", "states")},
        "seeds_in_detail": [
            {name: record[name] for name in ("seed", "restarts", "cgroup", "steps", "runs", "seconds", "late_s")}
            | {"commands": sum(record["commands"].values()), "faults": sum(record["faults"].values())}
            for record in records
        ],
    }
    print(f"{len(records)} seeds, {result['steps']} steps, {len(violations)} violations, {result['seconds']} s")
    for text in violations:
        print(text, file=sys.stderr)
    write(args.out, result)
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
