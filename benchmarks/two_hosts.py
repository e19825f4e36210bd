"""One engine over two hosts, and what becomes of it: two network namespaces, an sshd between them, the fake engine.

    python -m benchmarks.two_hosts --times 10 --out benchmarks/results/two_hosts.json

Each case `--times` times; no restarts, so an end is final. Only root makes namespaces. Times count on one clock:

- up_s         `moonpad up`, from its start to its end; where something happens during it, from there to its end
- told_s       from what is done to the first event that tells of it
- clean_s      to the first look that found no process of the run in either namespace
- down_s       `moonpad down` where it is asked for, and what it left: folders on the second host
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.stage import ENGINES, MODEL, SPEC, about, write
from moonpad.facts.processes import read_stat, send_signal
from tests.conftest import Done, Moonpad
from tests.fake_environment import make_environment
from tests.faults import machine
from tests.faults.two_hosts import TwoHosts, open_hosts

TELLS = ("died", "stopping", "ended", "failed", "away", "controller_ended")
LIMIT_S = 60.0
CUT_S = 3.0


class Trial:
    """One start over two hosts, with what is then done to it."""

    def __init__(self, hosts: TwoHosts) -> None:
        self.hosts, self.row, self.begun = hosts, dict[str, Any](), 0.0

    def up(self, code: int = 0, **env: str) -> Done:
        begun = time.monotonic()
        done = self.hosts.moonpad("up", str(self.hosts.spec), **env)
        self.row["up_s"] = since(begun)
        assert done.code == code, done.stderr
        return done

    def down(self, code: int = 0) -> None:
        begun = time.monotonic()
        done = self.hosts.moonpad("down", "two")
        self.row["down_s"] = since(begun)
        assert done.code == code, done.stderr
        self.row["left"] = len(list(self.hosts.far.iterdir()))

    def kill(self, pid: int, start: int) -> None:
        self.begun = time.monotonic()
        assert send_signal(pid, start, signal.SIGKILL)

    @property
    def run(self) -> Path:
        return max((self.hosts.moonpad.state / "runs").iterdir(), key=lambda path: path.stat().st_mtime)

    def events(self) -> list[str]:
        return [json.loads(line)["event"] for line in (self.run / "events.jsonl").read_text().splitlines()]

    def own_keeper(self, run: Path) -> tuple[int, int]:
        own = json.loads((run / "keeper.json").read_text())["keeper"]
        return own["pid"], own["start"]

    def record_notice(self, before: int) -> None:
        self.row["told_s"] = self.until(lambda: any(event in TELLS for event in self.events()[before:]))

    def clean(self, *which: str) -> None:
        self.row["clean_s"] = self.until(lambda: not any(self.hosts.processes(host) for host in which or "ab"))

    def until(self, holds: Callable[[], bool]) -> float:
        while not holds():
            assert since(self.begun) < LIMIT_S, (self.row, self.events(), self.hosts.processes("a"))
            time.sleep(0.02)
        return since(self.begun)


def since(begun: float) -> float:
    return round(time.monotonic() - begun, 3)


def start(trial: Trial) -> None:
    """Up and down, nothing else."""
    trial.up()
    trial.begun = time.monotonic()
    trial.down()
    trial.clean()


def head_killed(trial: Trial) -> None:
    """The engine's process on the first host."""
    trial.up()
    pid = trial.hosts.moonpad("status", "two", "--json").json["endpoints"][0]["pid"]
    stat = read_stat(pid)
    assert stat is not None
    before = len(trial.events())
    trial.kill(pid, stat[1])
    trial.record_notice(before)
    trial.clean()
    trial.down()


def rank_killed(trial: Trial) -> None:
    """The engine's process on the second host."""
    trial.up()
    (folder,) = trial.hosts.far.iterdir()
    owned = json.loads((folder / "keeper.json").read_text())["owned"]
    last = max(owned, key=lambda process: process["start"])
    before = len(trial.events())
    trial.kill(last["pid"], last["start"])
    trial.record_notice(before)
    trial.clean()
    trial.down()


def keeper_killed(trial: Trial) -> None:
    """The keeper on the second host."""
    trial.up()
    (folder,) = trial.hosts.far.iterdir()
    before = len(trial.events())
    trial.kill(*trial.own_keeper(folder))
    trial.record_notice(before)
    trial.clean()
    trial.down()


def own_keeper_killed(trial: Trial) -> None:
    """The keeper on the first host: nobody is left to tell, and `down` ends what is on the second."""
    trial.up()
    trial.kill(*trial.own_keeper(trial.run))
    trial.clean("a")
    trial.begun = time.monotonic()
    trial.down()
    trial.clean()


def lost(trial: Trial, lose: Callable[[], None], find: Callable[[], None]) -> None:
    """Nothing of the second host is heard any more, until the end has been told and both are clean."""
    trial.up()
    before = len(trial.events())
    trial.begun = time.monotonic()
    lose()
    trial.record_notice(before)
    trial.clean()
    trial.hosts.mend()
    find()
    trial.down()


def host_lost(trial: Trial) -> None:
    """The second host loses its power, and comes back after the end has been told."""
    lost(trial, trial.hosts.die, trial.hosts.start_sshd)


def cut_for_good(trial: Trial) -> None:
    """The wire is cut; each host must end what it has, by itself. With a lease of 8 s."""
    lost(trial, trial.hosts.cut, lambda: None)


def cut_for_a_while(trial: Trial) -> None:
    """3 s: the same processes serve after it."""
    trial.up()
    (folder,) = trial.hosts.far.iterdir()
    owned = (folder / "keeper.json").read_text()
    trial.hosts.cut()
    time.sleep(CUT_S)
    trial.begun = time.monotonic()
    trial.hosts.mend()
    trial.row["ready_s"] = trial.until(
        lambda: trial.hosts.moonpad("status", "two", "--json").json["endpoints"][0]["state"] == "ready"
    )
    assert json.loads((folder / "keeper.json").read_text())["owned"] == json.loads(owned)["owned"]
    trial.down()
    trial.clean()


def cut_during_start(trial: Trial) -> None:
    """3 s, from the moment that the second host has its files: it starts, or says why not and leaves nothing."""
    up = trial.hosts.moonpad.start("up", str(trial.hosts.spec))
    trial.begun = time.monotonic()
    trial.until(lambda: trial.hosts.far.is_dir() and any(trial.hosts.far.iterdir()))
    trial.hosts.cut()
    time.sleep(CUT_S)
    trial.hosts.mend()
    begun = time.monotonic()
    output = up.communicate(timeout=LIMIT_S)
    trial.row |= {"up_s": since(begun), "code": up.returncode}
    assert up.returncode in (0, 4, 6), output
    trial.begun = time.monotonic()
    trial.down(0)
    trial.clean()


def late_node(trial: Trial) -> None:
    """The second host's engine begins 3 s late: late is not lost."""
    trial.hosts.set_far_env(FAKE_LATE_S="3")
    trial.up()
    trial.begun = time.monotonic()
    trial.down()
    trial.clean()


def absent_node(trial: Trial) -> None:
    """It never begins: the start ends after its 5 s and leaves nothing."""
    trial.hosts.set_far_env(FAKE_LATE_S="600")
    begun = time.monotonic()
    trial.up(code=4)
    trial.begun = begun
    trial.clean()
    trial.row["left"] = len(list(trial.hosts.far.iterdir()))


CASES: dict[str, tuple[Callable[[Trial], None], str]] = {
    "start": (start, ""),
    "head killed": (head_killed, ""),
    "rank killed": (rank_killed, ""),
    "keeper there killed": (keeper_killed, ""),
    "own keeper killed": (own_keeper_killed, ""),
    "host lost": (host_lost, ""),
    "cut for good": (cut_for_good, 'host_lease = "8s"\n'),
    "cut for a while": (cut_for_a_while, ""),
    "cut during the start": (cut_during_start, 'start_timeout = "40s"\n'),
    "late node": (late_node, ""),
    "node that never comes": (absent_node, 'start_timeout = "5s"\n'),
}


def trial_of(case: str, home: Path) -> dict[str, Any]:
    do, launch = CASES[case]
    (here, there) = (make_environment(home / name) for name in ("engine", "far-engine"))
    engine = there.parent.parent
    program = engine / "bin" / "vllm"
    program.write_text(program.read_text().replace("exec", f'[ ! -e "{engine}/env" ] || . "{engine}/env"\nexec', 1))
    table = ENGINES["fake"].format(python=here) + "\n[layout]\ntp = 2\n"
    port = machine.free_ports(random.Random())[0]
    spec = SPEC.format(model=MODEL, engine=table, port=port, grace="4s") + launch
    env = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "NO_COLOR": "1"}
    with open_hosts(Moonpad(home, env), spec, engine) as hosts:
        trial = Trial(hosts)
        try:
            do(trial)
        finally:
            hosts.mend()
            hosts.moonpad("down", "two")
    return trial.row


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Of each time its middle and its largest."""
    timings = {
        key: [row[key] for row in rows if key in row] for key in ("up_s", "told_s", "ready_s", "clean_s", "down_s")
    }
    times = {
        key: {"median": round(statistics.median(them), 3), "most": max(them)} for key, them in timings.items() if them
    }
    return {"n": len(rows), **times, "left": sum(row.get("left", 0) for row in rows)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--only", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    result = about("one engine over two hosts: what is done to it, and how soon it is told and clean")
    result["cases"] = {}
    for case in arguments.only:
        rows: list[dict[str, Any]] = []
        for _ in range(arguments.times):
            with tempfile.TemporaryDirectory() as home:
                rows.append(trial_of(case, Path(home)))
        result["cases"][case] = {**summary(rows), "rows": rows}
        print(case, summary(rows), flush=True)
        write(arguments.out, result)


if __name__ == "__main__":
    main()
