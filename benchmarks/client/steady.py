"""Ten minutes of a thousand streams: does the client's memory grow, and is a record lost?

    python -m benchmarks.client.steady --out benchmarks/results/client_steady.json

Answers of 256 tokens, 40 ms apart, from a server that counts the streams it has ended; memory is the resident set that
the kernel tells of the client's process, every second, from outside.
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
import urllib.request
from pathlib import Path
from typing import Any

TOKENS, GAP_S, FIRST_S = 256, 0.04, 0.1
SETTLED_S = 30.0


def rss_bytes(pid: int) -> int | None:
    """None once it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    lines = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(lines[0].split()[1]) * 1024 if lines else None


def watched(argv: tuple[str, ...], requests_file: Path) -> tuple[int, list[tuple[float, int]]]:
    """The exit code, and the memory by the second since the first record was written."""
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    samples: list[tuple[float, int]] = []
    begun_s: float | None = None
    while process.poll() is None:
        time.sleep(1.0)
        if begun_s is None and requests_file.exists() and requests_file.stat().st_size:
            begun_s = time.monotonic()
        if begun_s is not None and (rss := rss_bytes(process.pid)) is not None:
            samples.append((time.monotonic() - begun_s, rss))
    return process.returncode, samples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    answer_s = FIRST_S + GAP_S * (TOKENS - 1)
    requests = args.streams * max(1, round(args.seconds / answer_s))
    server = subprocess.Popen(
        (sys.executable, "-m", "benchmarks.client.fake_server", "--tokens", str(TOKENS), "--spread", str(args.streams)),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    port = int(server.stdout.readline())
    try:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "run"
            at = ("--url", f"http://127.0.0.1:{port}/v1", "--model", "kimi-k2", "--out", str(out), "--no-calibrate")
            load = ("--concurrency", str(args.streams), "--requests", str(requests), "--warmup", "0")
            lengths = ("--input-tokens", "32", "--output-tokens", str(TOKENS))
            code, samples = watched(
                (sys.executable, "-m", "moonpad", "bench", *at, *load, *lengths), out / "requests.jsonl"
            )
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/truth", timeout=600) as response:
                true = json.load(response)
            reported = json.loads((out / "result.json").read_text())
            lines = sum(1 for _ in (out / "requests.jsonl").open("rb"))
    finally:
        server.kill()
        server.wait()
    mib = [(at_s, rss / 2**20) for at_s, rss in samples]
    settled = next(rss for at_s, rss in mib if at_s >= min(SETTLED_S, args.seconds / 4))
    during = [rss for at_s, rss in mib if at_s <= reported["duration"]]
    result: dict[str, Any] = {
        "what": f"{args.streams} streams, {requests} answers of {TOKENS} tokens 40 ms apart",
        "at": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "exit": code,
        "duration_s": round(reported["duration"], 1),
        "requests": requests,
        "answered_by_the_server": true["streams"],
        "records": lines,
        "completed": reported["completed"],
        "failed": reported["failed"],
        "output_tokens": reported["total_output_tokens"],
        "rss_settled_mib": round(settled, 1),
        "rss_end_of_load_mib": round(during[-1], 1),
        "growth_during_load_mib": round(max(during) - settled, 1),
        "growth_with_the_figures_mib": round(max(rss for _, rss in mib) - settled, 1),
        "client_cpu": round(reported["moonpad"]["client"]["cpu"], 3),
        "ttft_mean_ms": {"true": round(true["mean_ttft_ms"], 2), "said": round(reported["mean_ttft_ms"], 2)},
        "itl_p99_ms": {"true": round(true["p99_itl_ms"], 2), "said": round(reported["p99_itl_ms"], 2)},
        "rss_mib_every_30_s": [round(rss, 1) for at_s, rss in mib if int(at_s) % 30 == 0],
    }
    print(json.dumps(result, indent=1))
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
