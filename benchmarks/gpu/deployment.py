"""Start a spec on this machine's GPU through moonpad, and keep what it planned, predicted, measured and left behind.

One line of JSON for each command: its document, its exit code and how long it took. A load is IN:OUT:USERS,USERS.

    python -m benchmarks.gpu.deployment SPEC OUT.jsonl --loads 1024:128:1,4,16,64 8192:128:1,4 --most-s 500
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

MOONPAD = (sys.executable, "-m", "moonpad")


class Record:
    def __init__(self, path: Path) -> None:
        self.path, self.began = path, time.monotonic()

    def run(self, name: str, *words: str, limit_s: float = 580.0, **more: Any) -> dict[str, Any]:
        """Run a command and append what it said; never raises for what the command does."""
        began = time.monotonic()
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=limit_s, check=False)
            code, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            code, out, err = -1, "", f"took more than {limit_s:g} s"
        try:
            document = json.loads(out)
        except ValueError:
            document = out[-20000:]
        row = {
            "name": name, "code": code, "took_s": round(time.monotonic() - began, 3), "document": document,
            "stderr": err[-4000:], **more,
        }  # fmt: skip
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        said = f": {err[-1500:]}" if code else ""
        print(f"{time.monotonic() - self.began:6.1f} s {name} {code} after {row['took_s']} s{said}", flush=True)
        return row

    def moonpad(self, name: str, *words: str, **more: Any) -> dict[str, Any]:
        return self.run(name, *MOONPAD, *words, "--json", **more)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("spec")
    parser.add_argument("into", type=Path)
    parser.add_argument("--loads", nargs="*", default=[])
    parser.add_argument("--commands", nargs="*", default=[], help="more commands on the endpoint, each one text")
    parser.add_argument("--most-s", type=float, default=560.0, help="no load begins after this")
    parser.add_argument("--seed", type=int, default=1000, help="of the first load; each has its own")
    parser.add_argument("--keep", action="store_true", help="leave it running")
    asked = parser.parse_args()
    record = Record(asked.into)
    try:
        if record.moonpad("up", "up", asked.spec)["code"]:
            print(record.run("logs", *MOONPAD, "logs", asked.spec)["document"][-6000:])
            return
        record.moonpad("status", "status", asked.spec)
        record.run("devices", "nvidia-smi", "--query-gpu=name,memory.used,memory.total,power.draw", "--format=csv")
        record.moonpad("watch", "watch", "--once")
        for words in asked.commands:
            record.moonpad(words, *words.replace("SPEC", asked.spec).split())
        loads = [(*load.split(":")[:2], int(count)) for load in asked.loads for count in load.split(":")[2].split(",")]
        for seed, (inputs, outputs, users) in enumerate(loads, asked.seed):
            if time.monotonic() - record.began > asked.most_s:
                print("no time is left for", inputs, outputs, users)
                continue
            measure(record, asked.spec, inputs, outputs, users, seed)
    finally:
        if not asked.keep:
            record.moonpad("down", "down", asked.spec)
            record.run("devices after", "nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv")


def measure(record: Record, spec: str, inputs: str, outputs: str, users: int, seed: int) -> None:
    """First what is predicted, then the same load measured, with prompts that no load before had."""
    load = {"load": {"input_tokens": int(inputs), "output_tokens": int(outputs), "users": users}}
    record.moonpad("predict", "plan", spec, "--workload", f"{inputs}:{outputs}", "--concurrency", str(users), **load)
    record.moonpad(
        "bench", "bench", spec, "--input-tokens", inputs, "--output-tokens", outputs, "--ignore-eos",
        "--concurrency", str(users), "--requests", str(max(6, 3 * users)), "--warmup", "1", "--seed", str(seed),
        "--no-calibrate", **load,
    )  # fmt: skip


if __name__ == "__main__":
    main()
