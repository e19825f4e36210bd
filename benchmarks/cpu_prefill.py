"""What a long prompt costs vLLM on a processor: seconds, and the peak of its worker's memory.

    python -m benchmarks.cpu_prefill --out benchmarks/results/cpu_prefill.json

One endpoint, prompts of growing length, one token each. The peak is the kernel's own (VmHWM), which only grows; what a
prompt adds is counted from the peak after the first, short one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import psutil

SPEC = (
    'model = "kimi-k2-tiny"\nengine = "vllm-cpu"\n\n[endpoint]\nport = {port}\n\n[settings]\nmax_model_len = {most}\n'
)
TOKENS = (1000, 2000, 4000, 8000, 12000, 16000)
HEADS = 4
MIB = 1 << 20


def moonpad(home: Path, *argv: str) -> None:
    env = {**os.environ, "XDG_STATE_HOME": str(home)}
    subprocess.run((sys.executable, "-m", "moonpad", *argv), env=env, check=True, stdout=subprocess.DEVNULL)


def peaks(run: Path) -> int:
    """Bytes of the largest of the engine's processes."""
    keeper = json.loads((run / "keeper.json").read_text())
    below = psutil.Process(int(keeper["keeper"]["pid"])).children(recursive=True)
    lines = [Path(f"/proc/{process.pid}/status").read_text().splitlines() for process in below]
    return max(int(line.split()[1]) * 1024 for status in lines for line in status if line.startswith("VmHWM"))


def prefill_s(port: int, tokens: int) -> float:
    body = {"model": "kimi-k2-tiny", "prompt": [100] * tokens, "max_tokens": 1, "temperature": 0}
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    begun = time.monotonic()
    with urllib.request.urlopen(request, timeout=600) as response:  # noqa: S310 - 127.0.0.1
        json.load(response)
    return time.monotonic() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8477)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        spec = home / "prefill.toml"
        spec.write_text(SPEC.format(port=args.port, most=max(TOKENS) + 100))
        moonpad(home, "up", str(spec))
        try:
            (run,) = (home / "moonpad" / "runs").iterdir()
            for tokens in TOKENS:
                seconds = prefill_s(args.port, tokens)
                row = {"tokens": tokens, "seconds": round(seconds, 2), "peak_mib": peaks(run) // MIB}
                if rows:
                    added = (row["peak_mib"] - rows[0]["peak_mib"]) * MIB
                    row["bytes_a_head_and_pair"] = round(added / (HEADS * tokens**2), 2)
                rows.append(row)
                print(row, flush=True)
        finally:
            moonpad(home, "down", str(spec))
    result = {
        "what": "vllm-cpu 0.32.0, kimi-k2-tiny (4 heads, MLA, no chunked prefill): one prompt of so many tokens",
        "at": time.strftime("%Y-%m-%d"),
        "rows": rows,
    }
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
