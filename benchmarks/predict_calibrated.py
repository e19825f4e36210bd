"""The embedded engine calibrated by `moonpad calibrate`, then predicted at twelve other loads and measured there.

    python -m benchmarks.predict_calibrated [--out benchmarks/results/predict_calibrated.json]

Everything is asked of the command: up, calibrate, plan --json and bench, with an empty state folder. Loads: 1 to 32
users, three lengths. The limits are 10 % of TPOT's median and 20 % of TTFT's.
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
from pathlib import Path
from typing import Any

LENGTHS = ((96, 48), (400, 48), (1200, 32))
USERS = (1, 4, 12, 32)
SPEC = """\
model = "kimi-k2-tiny"
engine = "vllm-cpu"
name = "calibrated"
[settings]
max_model_len = 4096
max_num_seqs = 32
[endpoint]
port = 18427
"""


def moonpad(*argv: str, **env: str) -> dict[str, Any]:
    command = (sys.executable, "-m", "moonpad", *argv)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **env})
    if done.returncode:
        raise SystemExit(f"{' '.join(argv)}: {done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout) if "--json" in argv else {}
    return found


def predicted(spec: str, prompt: float, answer: int, users: int, **env: str) -> dict[str, Any]:
    words = ("--workload", f"{round(prompt)}:{answer}", "--concurrency", str(users), "--api", "chat")
    found: dict[str, Any] = moonpad("plan", spec, *words, "--json", **env)["plans"][0]["predicted"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/predict_calibrated.json"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        spec = str(Path(folder) / "moonpad.toml")
        Path(spec).write_text(SPEC)
        env = {"XDG_STATE_HOME": str(Path(folder) / "state")}
        before = {users: predicted(spec, 96, 48, users, **env)["tpot_s"]["value"] for users in USERS}
        moonpad("up", spec, **env)
        try:
            learnt = moonpad("calibrate", spec, "--json", **env)
            rows = [row_of(spec, folder, *lengths, users, env) for lengths in LENGTHS for users in USERS]
        finally:
            moonpad("down", **env)
    errors = {name: [abs(row[name]["error"]) for row in rows] for name in ("tpot_s", "ttft_s")}
    summary = {
        name: {
            "median_error": round(statistics.median(found), 4),
            "largest": round(max(found), 4),
            "within_range": sum(row[name]["within"] for row in rows),
        }
        for name, found in errors.items()
    }
    document = {
        "made_by": "benchmarks/predict_calibrated.py",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "summary": {"loads": len(rows), **summary},
        "tpot_s_before": before,
        "calibration": learnt,
        "rows": rows,
    }
    options.out.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    print(json.dumps(document["summary"], indent=1))


def row_of(spec: str, folder: str, prompt: int, answer: int, users: int, env: dict[str, str]) -> dict[str, Any]:
    load = ("--input-tokens", str(prompt), "--output-tokens", str(answer), "--concurrency", str(users))
    count = ("--requests", str(max(10, 5 * users)), "--ignore-eos", "--temperature", "0", "--no-calibrate")
    out = Path(folder) / f"{prompt}-{users}"
    measured = moonpad("bench", spec, *load, *count, "--seed", "7", "--out", str(out), "--json", **env)
    sent = measured["total_input_tokens"] / measured["completed"]
    found = predicted(spec, sent, answer, users, **env)
    row: dict[str, Any] = {"input_tokens": sent, "output_tokens": answer, "users": users, "standing": found["standing"]}
    for name in ("tpot_s", "ttft_s"):
        median_s, estimate = measured[f"median_{name[:4]}_ms"] / 1e3, found[name]
        row[name] = {
            "measured": round(median_s, 5),
            "predicted": {key: round(estimate[key], 5) for key in ("value", "low", "high")},
            "error": round(estimate["value"] / median_s - 1, 4),
            "within": estimate["low"] <= median_s <= estimate["high"],
        }
    print(row, flush=True)
    return row


if __name__ == "__main__":
    main()
