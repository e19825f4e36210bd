"""A log of 10 MB/s: what it costs the engine's throughput, with the keeper and without one.

    python -m benchmarks.log_flood --rounds 12 --seconds 20 --out benchmarks/results/log_flood.json

Each round has four short lives of the fake engine in a random order: with and without the flood, under the keeper and
started by hand with its output in a plain file. Tokens a second by the engine's own count. A ratio is paired within its
round; its interval is the bootstrap's 95 % of the mean log ratio. `flood_under_keeper` is what the fault list asks for
(± 5 %); `keeper_in_a_flood` compares the two floods and so leaves out what the writing itself costs the engine.
"""

from __future__ import annotations

import argparse
import math
import random
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.stage import MODEL, Stage, Streams, about, generated_tokens, write
from moonpad.facts.processes import PR_SET_CHILD_SUBREAPER, set_process_option
from tests.faults import forked, oracle

CONDITIONS = ("quiet kept", "flood kept", "quiet plain", "flood plain")
RATIOS = {
    "flood_under_keeper": ("flood kept", "quiet kept"),
    "flood_in_a_plain_file": ("flood plain", "quiet plain"),
    "keeper_in_a_flood": ("flood kept", "flood plain"),
    "keeper_in_quiet": ("quiet kept", "quiet plain"),
}
WARM_S = 0.5
RESAMPLES = 10_000


@contextmanager
def kept(stage: Stage, env: dict[str, str], figures: dict[str, Any]) -> Iterator[None]:
    stage.up(**env)
    run = stage.run()
    assert run.keeper is not None
    before_kib = rss_kib(run.keeper[0])
    try:
        yield
        figures["keeper_growth_kib"] = rss_kib(run.keeper[0]) - before_kib
        figures["log_mib"] = round(sum(path.stat().st_size for path in run.path.glob("engine.log*")) / 2**20, 1)
        figures.update(stage.run().kept.get("log", {}))
    finally:
        stage.down()
        shutil.rmtree(run.path)


@contextmanager
def plain(stage: Stage, env: dict[str, str], figures: dict[str, Any]) -> Iterator[None]:
    """The same program and the same file mode, nobody above it."""
    log = stage.home / "plain.log"
    numbers = ("--host", "127.0.0.1", "--port", str(stage.port), "--served-model-name", MODEL)
    with log.open("ab") as output:
        engine = subprocess.Popen(
            (str(stage.python.parent / "vllm"), "serve", MODEL, *numbers),
            env={**stage.env, **env},
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        while not oracle.token(stage.port, MODEL):
            assert engine.poll() is None, log.read_text(errors="replace")[-500:]
            time.sleep(0.02)
        yield
        figures["log_mib"] = round(log.stat().st_size / 2**20, 1)
    finally:
        engine.send_signal(signal.SIGINT)
        engine.wait(30)
        while not stage.is_clean():
            time.sleep(0.02)
        log.unlink()


def segment(stage: Stage, condition: str, seconds: float, streams: int, flood: int) -> dict[str, Any]:
    what, _, how = condition.partition(" ")
    figures: dict[str, Any] = {"condition": condition}
    env = {"FAKE_FLOOD_BYTES_S": str(flood)} if what == "flood" else {}
    with (kept if how == "kept" else plain)(stage, env, figures):
        load = Streams(stage.port, streams)
        time.sleep(WARM_S)
        begun, first = time.monotonic(), generated_tokens(stage.port)
        time.sleep(seconds)
        tokens, passed_s = generated_tokens(stage.port) - first, time.monotonic() - begun
        load.stop()
    return {**figures, "tokens_a_second": round(tokens / passed_s, 1), "failed": load.failed}


def rss_kib(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def ratio_of(rounds: list[dict[str, float]], over: str, under: str) -> dict[str, float]:
    """The mean of the paired ratios, and the interval of it."""
    logs = [math.log(measured_round[over] / measured_round[under]) for measured_round in rounds]
    chance = random.Random(7)
    means = sorted(statistics.fmean(chance.choices(logs, k=len(logs))) for _ in range(RESAMPLES))
    low, high = means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES)]
    return {
        name: round(math.exp(value), 4)
        for name, value in zip(("value", "low", "high"), (statistics.fmean(logs), low, high), strict=True)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--token-s", type=float, default=0.002, help="seconds a token takes the engine")
    parser.add_argument("--flood", type=int, default=10_000_000, help="bytes a second")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)
    forked.import_moonpad()
    home = Path(tempfile.mkdtemp(prefix="lf"))
    stage = Stage(home, "fake", fake={"FAKE_TOKEN_S": str(args.token_s)})
    chance = random.Random(7)
    segments: list[dict[str, Any]] = []
    rounds: list[dict[str, float]] = []
    for number in range(args.rounds):
        order = chance.sample(CONDITIONS, len(CONDITIONS))
        mine = [segment(stage, condition, args.seconds, args.streams, args.flood) for condition in order]
        segments += [{"round": number, **row} for row in mine]
        rounds.append({row["condition"]: row["tokens_a_second"] for row in mine})
        print(number, rounds[-1], flush=True)
    ratios = {name: ratio_of(rounds, *pair) for name, pair in RATIOS.items()}
    flooded = [row for row in segments if row["condition"] == "flood kept"]
    result = {
        **about(f"tokens a second in a log flood of {args.flood / 1e6:g} MB/s, fake engine"),
        "rounds": args.rounds,
        "seconds": args.seconds,
        "tokens_a_second": {
            name: statistics.median(measured_round[name] for measured_round in rounds) for name in CONDITIONS
        },
        "ratios": ratios,
        "within_5_percent": all(0.95 <= ratios["flood_under_keeper"][end] <= 1.05 for end in ("low", "high")),
        "keeper_growth_kib_max": max(row["keeper_growth_kib"] for row in flooded),
        "failed_requests": sum(row["failed"] for row in segments),
        "segments": segments,
    }
    print({name: value for name, value in result.items() if name != "segments"})
    write(args.out, result)
    shutil.rmtree(home)


if __name__ == "__main__":
    main()
