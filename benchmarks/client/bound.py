"""Is the client-bound flag right? Ten loads, five that the client carries with ease and five that it cannot.

    python -m benchmarks.client.bound --out benchmarks/results/client_bound.json

The truth is the server's and the kernel's: how late requests arrive against the rate that was asked for, or, of a
closed loop, how long after an answer's end the next request of that connection comes; and the processor seconds of the
client's process from outside. Bound is a client whose lateness at P99 is over 10 ms, or that uses over 70 % of a core.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.client.peers import truth, watched
from moonpad.stats.percentiles import percentile

SLIP_MS, CPU = 10.0, 0.7
CLIENT_CORE, SERVER_CORE = 0, 1


@dataclass(frozen=True)
class Load:
    """`users` of a closed loop, or `rate` of an open one, at an even pace. `busy`: processes on the client's core."""

    bound: bool
    requests: int
    tokens: int
    gap_ms: float
    users: int | None = None
    rate: float | None = None
    busy: int = 0

    @property
    def words(self) -> tuple[str, ...]:
        if self.rate is None:
            return ("--concurrency", str(self.users))
        return ("--rate", str(self.rate), "--arrivals", "constant")


LOADS = (
    Load(False, 100, 10, 40.0, rate=20.0),
    Load(False, 500, 10, 40.0, rate=100.0),
    Load(False, 1000, 10, 40.0, rate=200.0),
    Load(False, 40, 64, 40.0, users=4),
    Load(False, 320, 64, 40.0, users=32),
    Load(True, 1024, 512, 1.0, users=256),
    Load(True, 2048, 256, 2.0, users=512),
    Load(True, 32000, 4, 1.0, rate=8000.0),
    Load(True, 1000, 10, 40.0, rate=200.0, busy=12),
    Load(True, 1024, 64, 40.0, users=256, busy=12),
)


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that want the client's core for themselves."""
    processes = [
        subprocess.Popen(
            (sys.executable, "-c", "while True: pass"), preexec_fn=lambda: os.sched_setaffinity(0, {CLIENT_CORE})
        )
        for _ in range(count)
    ]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@contextmanager
def server(load: Load) -> Iterator[int]:
    options = ("--tokens", str(load.tokens), "--gap-ms", str(load.gap_ms), "--spread", str(load.users or 1))
    process = subprocess.Popen(
        (sys.executable, "-m", "benchmarks.client.fake_server", *options),
        stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE}),
    )  # fmt: skip
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()


def lateness_ms(load: Load, true: dict[str, Any]) -> float:
    """P99, as the server saw it; an open loop's against the earliest that its pace allows."""
    if load.rate is None:
        late = [1000 * turnaround for turnaround in true["turnarounds_s"]]
    else:
        ahead = [at_s - number / load.rate for number, at_s in enumerate(sorted(true["arrivals_s"]))]
        late = [1000 * (seconds - min(ahead)) for seconds in ahead]
    return percentile(sorted(late), 99.0) if late else 0.0


def measured(load: Load, home: Path) -> dict[str, Any]:
    out = home / f"run-{time.monotonic_ns()}"
    with server(load) as port, busy(load.busy):
        at = ("--url", f"http://127.0.0.1:{port}/v1", "--model", "kimi-k2", "--warmup", "0", "--no-calibrate")
        lengths = ("--input-tokens", "32", "--output-tokens", str(load.tokens), "--requests", str(load.requests))
        argv = (sys.executable, "-m", "moonpad", "bench", *at, *lengths, *load.words, "--out", str(out))
        watch = watched(argv, CLIENT_CORE)
        true = truth(port)
    result = json.loads((out / "result.json").read_text())
    client = result["moonpad"]["client"]
    cpu = watch.between(true["from_s"], true["from_s"] + result["duration"]) / result["duration"]
    late_ms = lateness_ms(load, true)
    measurement = {
        "load": {key: value for key, value in vars(load).items() if value is not None and key != "bound"},
        "true": {"lateness_p99_ms": round(late_ms, 2), "cpu": round(cpu, 3), "bound": late_ms > SLIP_MS or cpu > CPU},
        "said": {
            "slip_p99_ms": round(client["p99_slip_ms"], 2),
            "lag_p99_ms": round(client["p99_lag_ms"], 2),
            "cpu": round(client["cpu"], 3),
            "bound": client["client_bound"],
        },
        "meant_to_be_bound": load.bound,
    }
    print(json.dumps(measurement), flush=True)
    return measurement


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    os.sched_setaffinity(0, {SERVER_CORE})
    with tempfile.TemporaryDirectory() as folder:
        rows = [measured(load, Path(folder)) for load in LOADS]
    result = {
        "what": "the client-bound flag against the truth, over ten loads",
        "at": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "right": sum(row["true"]["bound"] == row["said"]["bound"] for row in rows),
        "of": len(rows),
        "rows": rows,
    }
    print(result["right"], "of", result["of"])
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
