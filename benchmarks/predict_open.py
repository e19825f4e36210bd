"""The embedded engine under an open loop at 60, 80 and 95 % of its capacity, beside the simulation of its queue.

    python -m benchmarks.predict_open [--repeats 2] [--out benchmarks/results/predict_open.json]

Everything is asked of the command, with an empty state folder: up, calibrate, bench, plan --json. The capacity is what
the engine answers a second with 32 users at once. Requests arrive as a Poisson process. A run is predicted from a
trace of the instants at which its requests were sent, for two Poisson processes of one rate queue very differently in a
minute; `drawn` is the prediction that knows the rate alone. The limit is 25 % of the median and of the 95th percentile
of TTFT.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.predict_calibrated import SPEC, moonpad

PROMPT, ANSWER = 400, 48
SHARES = (0.6, 0.8, 0.95)
USERS = 32
SECONDS = 60.0
"""Of each run of an open loop."""
FIGURES = {"p50": "ttft_s", "p95": "ttft_p95_s"}
LOAD = ("--input-tokens", str(PROMPT), "--output-tokens", str(ANSWER), "--ignore-eos", "--temperature", "0")


def bench(spec: str, out: Path, requests: int, seed: int, *load: str, env: dict[str, str]) -> dict[str, Any]:
    words = ("--requests", str(requests), "--seed", str(seed), "--no-calibrate", "--out", str(out), "--json")
    return moonpad("bench", spec, *LOAD, *load, *words, **env)


def capacity(spec: str, folder: Path, env: dict[str, str]) -> float:
    """Requests a second."""
    found = bench(spec, folder / "closed", 8 * USERS, 5, "--concurrency", str(USERS), env=env)
    return float(found["request_throughput"])


def trace_of(run: Path) -> Path:
    """The requests of a run as a Mooncake trace: when each was sent, and how long prompt and answer were."""
    rows = map(json.loads, (run / "requests.jsonl").read_text().splitlines())
    trace = run / "trace.jsonl"
    lines = (
        {"timestamp": 1e3 * row["started_s"], "input_length": row["prompt_tokens"], "output_length": ANSWER}
        for row in sorted(rows, key=lambda row: row["started_s"])
    )
    trace.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return trace


def planned(spec: str, *words: str, env: dict[str, str]) -> dict[str, Any]:
    """As a chat shows it, which is how the load is sent."""
    found: dict[str, Any] = moonpad("plan", spec, *words, "--api", "chat", "--json", **env)["plans"][0]["predicted"]
    return found


def row_of(spec: str, folder: Path, share: float, rate: float, seed: int, env: dict[str, str]) -> dict[str, Any]:
    requests = max(40, round(rate * SECONDS))
    out = folder / f"{share}-{seed}"
    measured = bench(spec, out, requests, seed, "--rate", f"{rate:.4f}", env=env)
    predicted = planned(spec, "--workload", str(trace_of(out)), env=env)
    sent = measured["total_input_tokens"] / measured["completed"]
    drawn = planned(spec, "--workload", f"{round(sent)}:{ANSWER}", "--rate", f"{rate:.4f}", env=env)
    own = {"p50": measured["median_ttft_ms"] / 1e3, "p95": measured["p95_ttft_ms"] / 1e3}
    row: dict[str, Any] = {"share": share, "rate": round(rate, 4), "requests": requests, "seed": seed}
    row["standing"] = predicted["standing"]
    for name, key in FIGURES.items():
        estimate = predicted[key]
        row[name] = {
            "measured_s": round(own[name], 5),
            "predicted_s": {side: round(estimate[side], 5) for side in ("value", "low", "high")},
            "error": round(estimate["value"] / own[name] - 1, 4),
            "within": estimate["low"] <= own[name] <= estimate["high"],
            "drawn_s": round(drawn[key]["value"], 5),
        }
    print(json.dumps(row), flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/predict_open.json"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spec = str(folder / "moonpad.toml")
        Path(spec).write_text(SPEC)
        env = {"XDG_STATE_HOME": str(folder / "state")}
        moonpad("up", spec, **env)
        try:
            learnt = moonpad("calibrate", spec, "--json", **env)
            before = capacity(spec, folder, env)
            seeds = range(11, 11 + options.repeats)
            rows = [row_of(spec, folder, share, share * before, seed, env) for seed in seeds for share in SHARES]
        finally:
            moonpad("down", **env)
    document = {
        "made_by": "benchmarks/predict_open.py",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load": f"{PROMPT}:{ANSWER} tokens",
        "capacity_requests_per_s": round(before, 4),
        "calibration": learnt,
        "rows": rows,
    }
    options.out.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    print(f"written: {options.out}")


if __name__ == "__main__":
    main()
