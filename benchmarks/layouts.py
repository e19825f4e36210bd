"""The layouts that the embedded engine has on a processor: which run, and what each gives beside one rank.

    python -m benchmarks.layouts --rounds 3 --out benchmarks/results/layouts.json

Each round brings up one rank and then every other layout, asks all of them the same requests, and takes them down: a
ratio is that of one round. What a processor cannot do is asked for as well, and must be refused before a start.
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
from typing import Any

SPEC = 'model = "kimi-k2-tiny"\nengine = "vllm-cpu"\n\n[endpoint]\nport = {port}\n\n[settings]\nmax_model_len = 2048\n'
LAYOUTS = {"one rank": "", "TP2": "tp = 2", "PP2": "pp = 2", "DP2": "dp = 2"}
REFUSED = {
    "expert parallel": "[layout]\ntp = 2\nexpert_parallel = true\n",
    "DCP2": "[layout]\ntp = 2\ndcp = 2\n",
    "Ray": 'executor = "ray"\n[layout]\ntp = 2\n',
    "FP8 KV cache": 'kv_cache_dtype = "fp8"\n',
}
LOAD = ("--requests", "64", "--concurrency", "8", "--input-tokens", "128", "--output-tokens", "64")
FIGURES = ("output_throughput", "median_ttft_ms", "median_tpot_ms")


def moonpad(home: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "XDG_STATE_HOME": str(home), "NO_COLOR": "1"}
    return subprocess.run(
        (sys.executable, "-m", "moonpad", *argv), env=env, capture_output=True, text=True, check=False
    )


def served(home: Path, spec: Path) -> dict[str, Any]:
    """What the layout gave, or why it did not come up."""
    begun = time.monotonic()
    up = moonpad(home, "up", str(spec), "--json")
    ready_s = time.monotonic() - begun
    try:
        if up.returncode:
            return {"code": up.returncode, "said": up.stderr.strip()}
        bench = moonpad(home, "bench", str(spec), *LOAD, "--ignore-eos", "--temperature", "0", "--json")
        if bench.returncode:
            return {"code": bench.returncode, "said": bench.stderr.strip()}
        figures = json.loads(bench.stdout)
        return {"code": 0, "ready_s": round(ready_s, 1), **{name: round(figures[name], 2) for name in FIGURES}}
    finally:
        moonpad(home, "down", str(spec), "--json")


def refused(home: Path, spec: Path) -> dict[str, Any]:
    begun = time.monotonic()
    up = moonpad(home, "up", str(spec), "--json")
    seconds = time.monotonic() - begun
    if not up.returncode:
        moonpad(home, "down", str(spec), "--json")
    runs = len(list((home / "moonpad" / "runs").glob("*")))
    return {"code": up.returncode, "seconds": round(seconds, 2), "runs_left": runs, "said": up.stderr.strip()}


def write(folder: Path, name: str, port: int, more: str) -> Path:
    spec = folder / f"{name.lower().replace(' ', '-')}.toml"
    spec.write_text(SPEC.format(port=port) + more)
    return spec


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--port", type=int, default=8471)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        refusals = {
            name: refused(home / "refused", write(home, name, args.port, more)) for name, more in REFUSED.items()
        }
        print(json.dumps(refusals, indent=1), flush=True)
        rounds: list[dict[str, dict[str, Any]]] = []
        for _ in range(args.rounds):
            rounds.append({})
            for name, words in LAYOUTS.items():
                more = f"\n[layout]\n{words}\n" if words else ""
                rounds[-1][name] = served(home / "state", write(home, name, args.port, more))
                print(len(rounds), name, rounds[-1][name], flush=True)
    ratios = {
        name: [
            round(measured_round[name]["output_throughput"] / measured_round["one rank"]["output_throughput"], 3)
            for measured_round in rounds
        ]
        for name in LAYOUTS
        if all(measured_round[name]["code"] == 0 for measured_round in rounds)
    }
    result = {
        "what": f"vllm-cpu, kimi-k2-tiny, {' '.join(LOAD)}: output tokens a second beside one rank of the same round",
        "at": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "ratios": ratios,
        "median_ratio": {name: statistics.median(series) for name, series in ratios.items()},
        "rounds": rounds,
        "refused": refusals,
    }
    print(json.dumps(result["median_ratio"]))
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
