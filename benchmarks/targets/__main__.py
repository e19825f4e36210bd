"""The files of `moonpad render`, run for real: started, asked, stopped or killed hard, and what is left of them.

    python -m benchmarks.targets --target all --times 10 --out benchmarks/results/targets.json
    flock LOCK python -m benchmarks.targets --target all --times 1 --engine real --out benchmarks/results/targets.json

Of each target every second run is killed: of a process of it, drawn in turn, -9 at a drawn moment between its start and
twice the time that it took to answer first. Then either all of it ends by itself or it answers again; after that it is
stopped in the way that the documentation or the file's first lines say. A run that is not killed has to answer at
/health and with a chat before it is stopped. Looked for after each: processes (whoever descends from this program, and
whoever holds its folder), the port, containers, pods, volumes and networks, mounts, network namespaces, shared memory
here and in the place's own /dev/shm, jobs and units. `--engine fake` is the stand-in of the tests; mpirun
has one for TensorRT-LLM alone. Each run is appended to OUT's neighbour `.jsonl` as it ends, and OUT counts them.
Where runs of the same target are there before, their count goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from benchmarks.stage import about, write
from benchmarks.targets.containers import Contained, open_compose, open_docker, open_played
from benchmarks.targets.mpirun import open_mpirun
from benchmarks.targets.shell import open_shell
from benchmarks.targets.slurm import open_slurm
from benchmarks.targets.systemd import open_systemd
from benchmarks.targets.target import PATIENCE_S, Target
from moonpad.facts.processes import PR_SET_CHILD_SUBREAPER, set_process_option
from tests.conftest import Moonpad
from tests.faults.helpers import wait_until
from tests.ports import free_port
from tests.world import SHARED_MEMORY, World

OPEN: Mapping[str, Callable[[Moonpad, int, str], AbstractContextManager[Target]]] = {
    "shell": open_shell,
    "docker": open_docker,
    "compose": open_compose,
    "kubernetes": open_played,
    "slurm": open_slurm,
    "systemd": open_systemd,
    "mpirun": open_mpirun,
}
AGAIN_S = 5.0
"""What still answers so long after a kill goes on: it takes a moment until an end is noticed."""
GIVE_UP_S = 120.0
"""What neither ends nor answers by then needs the documented way."""
SOCKET = "/fake-engine-"
"""The name of a process's own socket: a file of no bytes, which a kill -9 leaves in /tmp. It is counted apart."""
HOSTS = re.compile(r"[ /]m[mps]\d+-[ab]$")
OTHERS = re.compile(rf"{HOSTS.pattern}|containers/|netns-")
"""Namespaces that last longer than a run: of the hosts of mpirun and Slurm here, and of other tests."""
SETTLE_S = 60.0
"""What has not gone by then is left."""


def outside(target: Target) -> set[str]:
    """Mounts, network namespaces and shared memory of this machine, without what other tests have: the namespaces of
    hosts, shared memory of a stand-in, whose names have its port (World looks for ours), and containers where the
    target makes none."""
    mounts = {f"mount {line.split()[1]}" for line in Path("/proc/self/mounts").read_text().splitlines()}
    listed = subprocess.run(("ip", "netns", "list"), capture_output=True, text=True, check=False).stdout
    names = {f"network namespace {line.split()[0]}" for line in listed.splitlines()}
    shared = {str(path) for path in SHARED_MEMORY.iterdir() if "moonpad_" not in path.name}
    others = HOSTS if isinstance(target, Contained) else OTHERS
    return {each for each in mounts | names if not others.search(each)} | shared


def left_of(target: Target, world: World, before: set[str]) -> list[str]:
    until = time.monotonic() + SETTLE_S
    remaining = world.sweep(SETTLE_S)
    while time.monotonic() < until and (target.left() or target.is_served() or outside(target) - before):
        time.sleep(0.5)
    if target.is_served():
        remaining.append(f"port {target.port} is served")
    return remaining + target.left() + sorted(outside(target) - before)


def stopped(target: Target, number: int, begun_s: float) -> dict[str, Any]:
    wait_until(lambda: target.answers() or target.is_over(), lambda: "no answer", PATIENCE_S)
    assert not target.is_over(), "it ended before it answered"
    answered_s = round(time.monotonic() - begun_s, 2)
    return {"answered": True, "answered_s": answered_s, "stop": target.stop(number)}


def killed(target: Target, victim: str, chance: random.Random, ready_s: float) -> dict[str, Any]:
    wait_until(lambda: victim.startswith("node") or target.pids(victim), lambda: f"no {victim}", PATIENCE_S)
    moment_s = chance.uniform(0.0, 2 * ready_s)
    time.sleep(moment_s)
    served = target.answers()
    killed_s = time.monotonic()
    target.kill(victim, chance)
    then = ""

    def came_about() -> bool:
        nonlocal then
        then = "ended" if target.has_ended() else "answers" if target.answers() and not ends_within(AGAIN_S) else ""
        return bool(then)

    def ends_within(limit_s: float) -> bool:
        until = time.monotonic() + limit_s
        while time.monotonic() < until and not target.has_ended():
            time.sleep(0.5)
        return target.has_ended() or not target.answers()

    until = time.monotonic() + GIVE_UP_S
    while not came_about() and time.monotonic() < until:
        time.sleep(0.2)
    after_s = round(time.monotonic() - killed_s, 2)
    row = {
        "victim": victim,
        "moment_s": round(moment_s, 2),
        "answered": served,
        "then": then or "neither",
        "then_after_s": after_s,
    }
    return {**row, "stop": target.clean()}


def trial(target: Target, name: str, number: int, ready_s: float) -> dict[str, Any]:
    world, before = World(target.moonpad.home, target.port), outside(target)
    begun_s = time.monotonic()
    target.start()
    if number % 2:
        chance = random.Random(f"{name} {target.engine} {number}")
        row = killed(target, target.victims[number // 2 % len(target.victims)], chance, ready_s)
    else:
        row = stopped(target, number, begun_s)
    left = left_of(target, world, before)
    sockets = [each for each in left if SOCKET in each]
    row |= {"left": [each for each in left if each not in sockets], "socket_files": sockets}
    target.restore()
    return {
        "target": name,
        "engine": target.engine,
        "number": number,
        "way": "killed" if number % 2 else "stopped",
        **row,
    }


def runs_of(lines: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines.read_text().splitlines()] if lines.exists() else []


def measure(name: str, engine: str, times: int, lines: Path) -> None:
    """One opening of the place, and so many starts in it."""
    home = Path(tempfile.mkdtemp(prefix="moonpad-targets-"))
    env = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "NO_COLOR": "1"}
    done = [row for row in runs_of(lines) if row["target"] == name]
    ready_s = next((row["answered_s"] for row in done if "answered_s" in row and row["engine"] == engine), 5.0)
    # The real engine takes its turn among those that are stopped first.
    numbers = range(len(done), len(done) + times) if engine == "fake" else range(0, times)
    try:
        with OPEN[name](Moonpad(home, env), free_port(), engine) as target:
            for number in numbers:
                try:
                    row = trial(target, name, number, ready_s)
                except BaseException as error:
                    row = {"target": name, "engine": engine, "number": number, "error": str(error)[-1000:]}
                    append(lines, row)
                    raise
                ready_s = row.get("answered_s", ready_s)
                append(lines, row)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def append(lines: Path, row: dict[str, Any]) -> None:
    print(json.dumps(row), flush=True)
    lines.parent.mkdir(parents=True, exist_ok=True)
    with lines.open("a") as file:
        file.write(json.dumps(row) + "\n")


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    answered = [row for row in rows if row.get("answered_s")]
    return {
        "runs": len(rows),
        "of_the_real_engine": sum(row["engine"] == "real" for row in rows),
        "stopped": sum(row.get("way") == "stopped" for row in rows),
        "killed": sum(row.get("way") == "killed" for row in rows),
        "answered_before_the_end": sum(bool(row.get("answered")) for row in rows),
        "answered_again_after_a_kill": sum(row.get("then") == "answers" for row in rows),
        "failed": sum("error" in row for row in rows),
        "with_something_left": sum(bool(row.get("left")) for row in rows),
        "socket_files_left_by_a_kill": sum(len(row.get("socket_files", ())) for row in rows),
        "answered_s": {
            engine: statistics.median(row["answered_s"] for row in answered if row["engine"] == engine)
            for engine in dict.fromkeys(row["engine"] for row in answered)
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="all", help="one of them, several with commas, or all")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--engine", choices=("fake", "real"), default="fake")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    lines = args.out.with_suffix(".jsonl")
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)  # before a place is opened, which then is below us with all of it
    for name in OPEN if args.target == "all" else args.target.split(","):
        if args.engine == "real" and name == "mpirun":
            continue
        try:
            measure(name, args.engine, args.times, lines)
        except Exception:  # noqa: BLE001
            traceback.print_exc()  # the other targets go on; the line says what it was
        rows = runs_of(lines)
        counted = {each: summary([row for row in rows if row["target"] == each]) for each in OPEN}
        result = about("rendered files run for real, stopped or killed, and what is left")
        write(args.out, {**result, "targets": {each: row for each, row in counted.items() if row["runs"]}})
    bad = [row for row in runs_of(lines) if row.get("left") or "error" in row]
    raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
    main()
