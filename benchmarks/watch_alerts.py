"""Whether the alerts of `moonpad watch` speak in real faults, and are silent on a sound endpoint.

    python -m benchmarks.watch_alerts --engine real --minutes 10 --out benchmarks/results/watch_alerts.json

One run under one watch (`--json`, a look every 2 s), in phases: sound (two streams), a crowd (two more streams every
two seconds), its end, a core that is stopped (SIGSTOP) with requests in it, its end, a core that is killed. Of each
phase the alerts that were told, with the seconds until the first of each. `silent_after_s`: until none was told any
more; None where that did not happen in time. Then, of the real engine, a second run whose cache holds so few blocks
that the requests share them: the cache is full, and requests are preempted. OUT is written after each phase.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.stage import Stage, Streams, about, write
from moonpad.facts.processes import PR_SET_CHILD_SUBREAPER, find_descendants, set_process_option
from tests.faults import forked

CORE = "VLLM::EngineCor"
CROWD_S, HANG_S, QUIET_S, RESTART_S = 90.0, 60.0, 100.0, 120.0
MOST_STREAMS = 80
FEW_BLOCKS = 140
"""Of 16 tokens: one request of the model's 2,048 takes 128, a stream of 257 takes 17."""
SHARED_S, SHARING = 60.0, 40


class Watched:
    """The command, and what it says, with the time."""

    def __init__(self, env: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            (sys.executable, "-m", "moonpad", "watch", "k", "--json"),
            env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.rows: list[tuple[float, dict[str, Any]]] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self.rows.append((time.monotonic(), json.loads(line)["endpoints"][0]))

    def since(self, begun_s: float) -> dict[str, Any]:
        """What was told from then on."""
        rows = [(at_s, row) for at_s, row in self.rows if at_s >= begun_s]
        first: dict[str, float] = {}
        for at_s, row in rows:
            for alert in row["alerts"]:
                first.setdefault(alert["code"], round(at_s - begun_s, 1))
        most = {
            name: max((row[name] or 0 for _, row in rows), default=0) for name in ("running", "waiting", "kv_usage")
        }
        return {"looks": len(rows), "first_told_s": first, "most": most}

    def silent_after(self, begun_s: float, limit_s: float) -> float | None:
        while time.monotonic() - begun_s < limit_s:
            if self.rows and self.rows[-1][0] > begun_s and not self.rows[-1][1]["alerts"]:
                return round(time.monotonic() - begun_s, 1)
            time.sleep(0.5)
        return None

    def end(self) -> None:
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()


def core_of(stage: Stage) -> int:
    run = stage.run()
    assert run.keeper is not None
    pids = find_descendants({run.keeper[0]})
    return next(pid for pid in pids if Path(f"/proc/{pid}/comm").read_text().strip() == CORE)


def crowd(stage: Stage, watched: Watched) -> dict[str, Any]:
    begun_s, groups = time.monotonic(), []
    while time.monotonic() - begun_s < CROWD_S:
        if 2 * len(groups) < MOST_STREAMS:
            groups.append(Streams(stage.port, 2))
        time.sleep(2.0)
    told = watched.since(begun_s)
    ended_s = time.monotonic()
    stoppers = [threading.Thread(target=group.stop) for group in groups]
    for stopper in stoppers:
        stopper.start()
    for stopper in stoppers:
        stopper.join()
    return {**told, "streams": 2 * len(groups), "silent_after_s": watched.silent_after(ended_s, QUIET_S)}


def hang(stage: Stage, watched: Watched) -> dict[str, Any]:
    streams, core = Streams(stage.port, 2), core_of(stage)
    time.sleep(5.0)
    begun_s = time.monotonic()
    os.kill(core, signal.SIGSTOP)
    try:
        time.sleep(HANG_S)
        told = watched.since(begun_s)
    finally:
        os.kill(core, signal.SIGCONT)
    ended_s = time.monotonic()
    silent_s = watched.silent_after(ended_s, QUIET_S)
    streams.stop()
    return {**told, "silent_after_s": silent_s}


def kill(stage: Stage, watched: Watched) -> dict[str, Any]:
    begun_s = time.monotonic()
    os.kill(core_of(stage), signal.SIGKILL)
    while time.monotonic() - begun_s < RESTART_S:
        time.sleep(1.0)
        row = watched.rows[-1][1]
        if row["generation"] == 2 and row["state"] == "ready":
            break
    time.sleep(4.0)
    return {**watched.since(begun_s), "generation": watched.rows[-1][1]["generation"]}


def few_blocks(stage: Stage) -> dict[str, Any]:
    """Forty streams, of which eight fill the cache."""
    text = stage.spec.read_text()
    few = f'max_num_seqs = 32\nextra_args = ["--num-gpu-blocks-override", "{FEW_BLOCKS}"]'
    stage.spec.write_text(text.replace("max_num_seqs = 4", few))
    stage.up()
    watched = Watched(stage.env)
    try:
        streams, begun_s = Streams(stage.port, SHARING), time.monotonic()
        time.sleep(SHARED_S)
        told = watched.since(begun_s)
        ended_s = time.monotonic()
        streams.stop()
        return {**told, "streams": SHARING, "silent_after_s": watched.silent_after(ended_s, QUIET_S)}
    finally:
        watched.end()
        stage.down()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("fake", "real"), default="fake")
    parser.add_argument("--minutes", type=float, default=10.0, help="of the sound phase")
    parser.add_argument("--last", action="store_true", help="the last phase alone, into the same OUT")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)
    forked.import_moonpad()
    result = json.loads(args.out.read_text()) if args.out and args.out.exists() else {}
    result |= about(f"alerts of moonpad watch in phases of one run, {args.engine} engine")

    def keep(phase: str, found: dict[str, Any]) -> None:
        result[phase] = found
        print(phase, json.dumps(found), flush=True)
        write(args.out, result)

    home = Path(tempfile.mkdtemp(prefix="wa"))
    stage = Stage(home, args.engine, fake={"FAKE_SLOTS": "4", "FAKE_TOKEN_S": "0.02"})
    text = stage.spec.read_text().replace("restarts = 0", "restarts = 3\nrestart_on_stall = false")
    stage.spec.write_text(text)
    if not args.last:
        stage.up()
        watched = Watched(stage.env)
        try:
            streams, begun_s = Streams(stage.port, 2), time.monotonic()
            time.sleep(args.minutes * 60)
            keep("sound", {**watched.since(begun_s), "minutes": args.minutes})
            streams.stop()
            keep("crowd", crowd(stage, watched))
            keep("stopped_core", hang(stage, watched))
            keep("killed_core", kill(stage, watched))
        finally:
            watched.end()
            stage.down()
    if args.engine == "real":
        keep("few_blocks", few_blocks(stage))
    shutil.rmtree(home)


if __name__ == "__main__":
    main()
