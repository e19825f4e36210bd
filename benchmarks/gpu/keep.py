"""Keep what a deployment on a GPU left behind, small enough for the repository.

Of each start its spec, what was planned, and the log up to readiness; of each load when each request began and ended,
and the samples of the server's counters. Paths of the machine are cut down to their last part.

    python -m benchmarks.gpu.keep STATE RUN NAME     # STATE/runs/RUN…  ->  benchmarks/results/gpu/NAME.jsonl.gz
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "results" / "gpu"
STAMP = re.compile(r"\d{8}-\d{6}")
PATH = re.compile(r"(?:/[\w.+-]+){2,}/")
READY = "Application startup complete"
LOADS = ("input_tokens", "output_tokens", "concurrency", "requests", "arrivals", "warmup", "seed")


def lines_of_start(log: Path) -> Iterator[str]:
    """Up to readiness, progress bars left out."""
    for line in log.read_text(errors="replace").splitlines():
        if "it/s]" not in line and "Route: " not in line and len(line) < 6000:
            yield PATH.sub("", line)
        if READY in line:
            return


def bench_of(folder: Path) -> dict[str, Any]:
    config = json.loads((folder / "run.json").read_text())["config"]
    requests = [json.loads(line) for line in (folder / "requests.jsonl").read_text().splitlines()]
    server = [json.loads(line) for line in (folder / "server.jsonl").read_text().splitlines()]
    return {
        "load": {name: config[name] for name in LOADS},
        "requests": [
            [round(each["started_s"], 4), round(each["ended_s"], 4), each["prompt_tokens"], each["finish_reason"]]
            for each in requests
        ],
        "server": [{name: value for name, value in row.items() if value is not None} for row in server],
    }


def rows(state: Path, run: Path, until: str) -> Iterator[dict[str, Any]]:
    yield {
        "start": {
            "run": run.name,
            "spec": PATH.sub("", (run / "spec.toml").read_text()),
            "planned": json.loads((run / "memory.json").read_text()),
            "log": list(lines_of_start(run / "engine.log")),
        }
    }
    for verdict in sorted(run.glob("verdicts/*/verdict.json")):
        yield {"verdict": json.loads(verdict.read_text())}
    for bench in sorted((state / "benches").iterdir()):
        if stamp(run.name) <= bench.name < until:
            yield {"bench": bench.name, **bench_of(bench)}


def stamp(name: str) -> str:
    found = STAMP.search(name)
    return found[0] if found else ""


def main() -> None:
    state, of, name = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    runs = sorted((state / "runs").iterdir(), key=lambda run: stamp(run.name))
    at = next(place for place, run in enumerate(runs) if run.name.startswith(of))
    until = stamp(runs[at + 1].name) if at + 1 < len(runs) else "~"
    FOLDER.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows(state, runs[at], until))
    path = FOLDER / f"{name}.jsonl.gz"
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
