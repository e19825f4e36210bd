"""Fault 68: any order of user commands and faults, and the invariants after every step.

    python -m tests.faults.machine --seed 3 --steps 200 --restarts 2 --out record.json

Hypothesis draws the steps (`RuleBasedStateMachine`, one run of exactly so many a seed). A violation is reported with
the whole history of its run; nothing is shrunk, because real processes do not repeat themselves to the millisecond.
The run has a process of its own, where it can with mounts of its own: then the state lies on a small file system that
can be filled, and /dev/shm holds nothing of others. Else the rules of the disk are left out, and the record says so.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import HealthCheck, Phase, assume, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from moonpad.facts.processes import PR_SET_CHILD_SUBREAPER, send_signal, set_process_option
from tests.faults import forked, mounts, oracle
from tests.faults.machine_world import DISK_BYTES, TEMPERS, Violation, World

ROOT = Path(__file__).resolve().parent.parent.parent
# Hypothesis leaves some of the rules out of each run, on purpose. A run without `up`, or with a disk that stays full,
# would have nothing to act on: after so many steps an `up` is slipped in, or the obstacle taken away.
IDLE_STEPS = 6
OBSTACLE_STEPS = 8

NAME = st.sampled_from(("a", "b", "c"))
TEMPER = st.sampled_from((*("sound",) * 5, *("ignores TERM",) * 2, *TEMPERS))
NUMBER = st.integers(0, 7)
MOMENT_S = st.integers(0, 1500).map(lambda thousandths: thousandths / 1000)


class Machine(RuleBasedStateMachine):
    """`make_world` makes the one world of this process, `current_world`. No rule has a precondition: one of
    those that are left in must always be possible, or Hypothesis gives up the run."""

    make_world: ClassVar[Callable[[], World]]
    current_world: ClassVar[World | None] = None
    failure: ClassVar[str | None] = None

    def __init__(self) -> None:
        super().__init__()
        self.idle = 0
        self.obstructed = 0

    @initialize(chance=st.integers(0, 2**32))
    def begin(self, chance: int) -> None:
        # Hypothesis tries the simplest draws first, the same rule over and over. That is no run of ours.
        assume(chance > 0)
        # And what has failed it runs again; a run of real processes that failed once is reported as it was.
        assert type(self).current_world is None, "the run is not repeated"
        type(self).current_world = type(self).make_world()
        self.world.record.steps = -1  # the first look comes before the first step

    @property
    def world(self) -> World:
        assert self.current_world is not None
        return self.current_world

    @property
    def is_up(self) -> bool:
        return any(not run.ended for run in self.world.now.values())

    @invariant()
    def holds(self) -> None:
        self.obstructed = self.obstructed + 1 if self.world.is_full or self.world.taken else 0
        if self.obstructed > OBSTACLE_STEPS:
            self.world.clear_obstacles()
        self.idle = 0 if self.is_up else self.idle + 1
        if self.idle > IDLE_STEPS:
            self.world.up("a", "sound")
        self.world.check()
        self.world.record.steps += 1

    # - commands -

    @rule(name=NAME, temper=TEMPER)
    def up(self, name: str, temper: str) -> None:
        self.world.up(name, temper)

    @rule(name=NAME, temper=TEMPER)
    def up_no_wait(self, name: str, temper: str) -> None:
        self.world.up(name, temper, wait=False)

    @rule(name=NAME, temper=TEMPER, moment_s=MOMENT_S)
    def up_interrupted(self, name: str, temper: str, moment_s: float) -> None:
        self.world.up(name, temper, interrupt_after_s=moment_s)

    @rule(name=NAME)
    def down(self, name: str) -> None:
        self.world.down(name)

    @rule(name=NAME)
    def down_drain(self, name: str) -> None:
        self.world.down(name, "500ms")

    @rule(name=NAME)
    def status_of_one(self, name: str) -> None:
        """The invariants ask for all of them after every step."""
        self.world.command("status NAME", "status", name)

    @rule(name=NAME)
    def logs(self, name: str) -> None:
        self.world.command("logs", "logs", name, "-n", "5")

    @rule(name=NAME)
    def bench(self, name: str) -> None:
        numbers = "--requests 2 --concurrency 2 --input-tokens 16 --output-tokens 4 --warmup 0 --json"
        self.world.command("bench", "bench", str(self.world.home / f"{name}.toml"), *numbers.split())

    # - faults -

    @rule(number=NUMBER)
    def kill_worker(self, number: int) -> None:
        self.world.kill("worker", number)

    @rule(number=NUMBER)
    def kill_api_server(self, number: int) -> None:
        self.world.kill("API server", number)

    @rule(number=NUMBER)
    def kill_core(self, number: int) -> None:
        self.world.kill("engine core", number)

    @rule(number=NUMBER)
    def kill_keeper(self, number: int) -> None:
        self.world.kill("keeper", number)

    @rule(number=NUMBER)
    def kill_controller(self, number: int) -> None:
        self.world.kill("controller", number)

    @rule()
    def fill_or_free_disk(self) -> None:
        if self.world.is_full:
            self.world.free_disk()
        elif self.world.has_disk:
            self.world.fill_disk()

    @rule(name=NAME)
    def take_or_give_port(self, name: str) -> None:
        if self.world.taken:
            self.world.give_ports()
        else:
            self.world.take_port(self.world.ports[name])

    @rule(moment_s=MOMENT_S)
    def wait_a_moment(self, moment_s: float) -> None:
        time.sleep(moment_s / 3)
        self.world.note(f"waited {moment_s / 3:.2f} s")

    def teardown(self) -> None:
        # What Hypothesis makes of an error, after it has tried to repeat it, says less than the error.
        error = sys.exc_info()[1]
        if isinstance(error, Exception) and type(self).failure is None and self.current_world is not None:
            type(self).failure = str(error) if isinstance(error, Violation) else traceback.format_exc()


# --- one run ---------------------------------------------------------------------------------------------------------


def run_seed(number: int, steps: int, home: Path) -> dict[str, Any]:
    """The record of a run in a process of its own, `violation` None where all held. Every second seed restarts an
    engine twice, the others never; every second pair does without a cgroup.

    Raises:
        AssertionError: the process ended without a record.
    """
    home.mkdir(parents=True, exist_ok=True)
    out = home / "record.json"
    mine = ("--seed", str(number), "--steps", str(steps), "--home", str(home), "--out", str(out))
    variant = ("--restarts", str(2 * (number % 2)), *(("--no-cgroup",) if number % 4 >= 2 else ()))
    argv = (sys.executable, "-m", "tests.faults.machine", *mine, *variant)
    prefix = mounts.own_mounts()
    done = subprocess.run((*prefix, *argv, *(("--own-mounts",) if prefix else ())), cwd=ROOT, check=False)
    assert out.exists(), f"the state machine ended with {done.returncode} and left no record"
    record: dict[str, Any] = json.loads(out.read_text())
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--restarts", type=int, default=0)
    parser.add_argument("--no-cgroup", action="store_true", help="as where none can be made")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--own-mounts", action="store_true", help="this process may mount what others do not see")
    args = parser.parse_args()
    # Short: a run's control socket has a path, and a path of a socket has 107 bytes.
    home = Path(tempfile.mkdtemp(prefix="m", dir=args.home))
    state = home / "s"
    state.mkdir()
    if args.own_mounts:
        for where in (state, Path("/dev/shm")):
            mounts.mount_tmpfs(where, DISK_BYTES)
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)
    forked.import_moonpad()
    gc.collect()
    gc.freeze()  # what a fork does not touch it need not copy
    ports = free_ports(random.Random(args.seed))
    Machine.make_world = lambda: World(
        home, state, ports, args.restarts, has_disk=args.own_mounts, has_cgroup=not args.no_cgroup
    )
    violation = run_machine(args.seed, args.steps)
    end_all()
    if violation and args.own_mounts:  # the small disk goes with this process
        shutil.copytree(state, home / "left", ignore=shutil.ignore_patterns("control.sock"))
    elif not violation:
        mounts.unmount(state)
        shutil.rmtree(home)
    variant = {"restarts": args.restarts, "cgroup": not args.no_cgroup, "disk": args.own_mounts}
    record = {"seed": args.seed, **variant, "violation": violation}
    if Machine.current_world is not None:
        seconds = round(time.monotonic() - Machine.current_world.begun, 1)
        record |= {"seconds": seconds, **vars(Machine.current_world.record)}
    if args.out:
        args.out.write_text(json.dumps(record, indent=1) + "\n")
    if violation:
        print(violation, file=sys.stderr)
    sys.exit(1 if violation else 0)


def run_machine(number: int, steps: int) -> str | None:
    """The first violation with its history, None where there was none."""
    limits = settings(
        max_examples=1,
        stateful_step_count=steps + 1,  # `begin` is one
        phases=(Phase.generate,),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    try:
        run_state_machine_as_test(seed(number)(Machine), settings=limits)
        assert Machine.current_world is not None, "Hypothesis made no run"
        Machine.current_world.clean_up()
    except BaseException as error:  # noqa: BLE001 - whatever it was, the history belongs to it
        history = Machine.current_world.record.history if Machine.current_world else []
        what = Machine.failure or (str(error) if isinstance(error, Violation) else repr(error))
        return (
            f"seed {number}, step {Machine.current_world.record.steps + 1 if Machine.current_world else 0}: {what}\n"
            + "\n".join(history)
        )
    return None


def end_all() -> None:
    """What a violation has left."""
    while left := oracle.below({os.getpid()}, oracle.processes()):
        for process in left.values():
            send_signal(process.pid, process.start, 9)
        oracle.reap()
        time.sleep(0.02)


def free_ports(chance: random.Random) -> tuple[int, int]:
    """Two ports that nobody listens on, below those that the kernel gives to clients."""
    ports: list[int] = []
    while len(ports) < 2:
        port = chance.randrange(10_000, 30_000)
        with socket.socket() as sock:
            try:
                sock.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in ports:
            ports.append(port)
    return ports[0], ports[1]


if __name__ == "__main__":
    main()
