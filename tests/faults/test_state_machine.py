"""Fault 68: whatever a user does and whatever fails, in any order, the invariants hold (machine.py, machine_world.py).

The first tests are of the judge: each breaks one invariant on purpose, and it must be noticed.
"""

from __future__ import annotations

import json
import random
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from moonpad.values.records import replace
from tests.faults import agreement, machine, oracle
from tests.faults.agreement import Look
from tests.faults.machine_world import Violation, World
from tests.faults.oracle import Run


@pytest.mark.parametrize("seed", range(1, 4))
def test_any_order(seed: int, tmp_path: Path) -> None:
    """Reduced: 15 steps."""
    record = machine.run_seed(seed, 15, tmp_path)
    assert record["violation"] is None, record["violation"]
    assert record["steps"] == 15


@pytest.mark.slow
@pytest.mark.drawn
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(100))
def test_any_order_in_full(seed: int, tmp_path: Path) -> None:
    record = machine.run_seed(seed, 200, tmp_path)
    assert record["violation"] is None, record["violation"]
    assert record["steps"] == 200


# --- the judge -------------------------------------------------------------------------------------------------------

ENGINE = frozenset({(100, 1), (101, 1)})
LIVING = Run("a", Path("run-1"), 8000, "m", "running", (99, 1), (98, 1), True, True, ENGINE, ())
DEAD = replace(LIVING, keeper_lives=False, controller_lives=False, engine=frozenset())
ORPHANED = replace(LIVING, keeper_lives=False)


def verdict_on(state: str, before: Look, after: Look, because: str = "") -> str:
    """ "" where the row may be true, "late" where it may be true for a moment, else "lie"."""
    complaint = agreement.complaint_of({"state": state, "run": "run-1", "because": because}, before, after)
    return "" if complaint is None else "late" if complaint.grace else "lie"


@pytest.mark.parametrize(
    ("state", "run", "token", "verdict"),
    [
        ("ready", LIVING, True, ""),
        ("ready", LIVING, False, "late"),
        ("ready", DEAD, False, "lie"),
        ("starting", LIVING, False, ""),
        ("starting", LIVING, True, "late"),
        ("starting", DEAD, False, "lie"),
        ("stalled", LIVING, True, "late"),
        ("stalled", LIVING, False, ""),
        ("stopped", LIVING, False, "lie"),
        ("stopped", DEAD, False, ""),
        ("failed", ORPHANED, True, "lie"),
        ("failed", DEAD, False, ""),
        ("unattended", ORPHANED, True, ""),
        ("unattended", LIVING, True, "lie"),
        ("unattended", replace(LIVING, controller_lives=False), True, ""),
        ("unattended", DEAD, False, "late"),
    ],
)
def test_a_lie_is_noticed(state: str, run: Run, token: bool, verdict: str) -> None:
    assert verdict_on(state, Look(run, token), Look(run, token)) == verdict


def test_a_change_meanwhile_excuses_both_answers() -> None:
    dying = (Look(LIVING, True), Look(DEAD, False))
    assert [verdict_on(state, *dying) for state in ("ready", "stopped", "failed", "starting")] == [""] * 4
    assert verdict_on("stopped", *(Look(LIVING, False),) * 2, because="2 processes are being stopped") == "late"
    assert agreement.complaint_of({"state": "ready", "run": "run-0"}, *(Look(LIVING, True),) * 2) is not None


@pytest.fixture
def world(tmp_path: Path) -> World:
    disk = tmp_path / "s"
    return World(tmp_path, disk, machine.free_ports(random.Random()), 0, has_disk=False)


@pytest.fixture
def stray() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(("sleep", "60"))
    yield process
    process.kill()
    process.wait()


def test_a_process_of_no_run_is_noticed(world: World, stray: subprocess.Popen[bytes]) -> None:
    assert [line for line in world.strays() if line.startswith(f"{stray.pid} ")]


def test_a_past_run_that_lives_is_noticed(world: World, stray: subprocess.Popen[bytes]) -> None:
    process = oracle.processes()[stray.pid]
    make_run(world, "a-1", owned=[{"pid": process.pid, "start": process.start}])
    assert world.strays() == ["a-1 is not the current run and lives"]
    make_run(world, "a-1", owned=[{"pid": process.pid, "start": process.start + 1}])
    assert "a-1 is not the current run and lives" not in world.strays(), "another process has got that pid"


def test_two_sockets_on_a_port_are_noticed(world: World) -> None:
    port = world.ports["a"]
    with socket.socket() as first, socket.socket() as other:
        for sock in (first, other):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            sock.bind(("127.0.0.1", port))
            sock.listen()
        assert world.doubles() == [f"port {port}: 2 sockets, API servers []"]
        assert oracle.served(port)


def test_half_a_state_file_is_noticed(world: World) -> None:
    make_run(world, "a-1")
    assert world.broken_files() == []
    path = world.state / "runs" / "a-1" / "keeper.json"
    path.write_text(path.read_text()[:-20])
    (problem,) = world.broken_files()
    assert problem.startswith("a-1/keeper.json")


def test_a_line_lost_behind_a_torn_one_is_noticed(world: World) -> None:
    make_run(world, "a-1")
    path = world.state / "runs" / "a-1" / "events.jsonl"
    whole = '{"event": "spawned"}\n'
    path.write_text(whole + '{"event": "he\n' + whole)
    assert len(world.broken_files()) == 1
    world.was_full = True
    path.write_text(whole + '{"event": "heal\n' + whole)
    assert world.broken_files() == [], "a full disk tears lines"
    path.write_text(whole + '{"event": "hea' + whole + whole)
    assert len(world.broken_files()) == 1


def test_a_finished_run_without_its_story_is_noticed(world: World) -> None:
    make_run(world, "a-1", state="stopped")
    folder = world.state / "runs" / "a-1"
    files = {"spec.toml": 'model = "m"\n', "engine.log": "", "events.jsonl": '{"event": "spawned"}\n'}
    for name, text in files.items():
        (problem,) = world.broken_files()
        assert name in problem
        (folder / name).write_text(text)
    assert world.broken_files() == ["a-1 is stopped and no event says so"]
    (folder / "events.jsonl").write_text('{"event": "stopped", "reason": "asked to stop"}\n')
    assert world.broken_files() == []


def test_how_a_command_may_not_end(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert world.command("status NAME", "status", "a").code == 2, "never up: a usage error"
    with pytest.raises(Violation, match="exit 2"):
        world.command("down", "down", "--nonsense")

    def broken(argv: list[str]) -> int:
        raise KeyError(argv[0])

    monkeypatch.setattr("moonpad.cli.command_line.run", broken)
    with pytest.raises(Violation, match="a traceback"):
        world.command("status", "status", "--json")


def test_what_is_left_is_noticed(world: World) -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", world.ports["b"]))
        sock.listen()
        with pytest.raises(Violation, match="a port is still served"):
            world.clean_up()


def make_run(world: World, name: str, *, state: str = "running", owned: object = ()) -> None:
    """A run folder as a keeper leaves it that was killed."""
    folder = world.state / "runs" / name
    folder.mkdir(parents=True, exist_ok=True)
    about = {"name": "a", "base_url": f"http://127.0.0.1:{world.ports['a']}/v1", "served_name": "m"}
    (folder / "run.json").write_text(json.dumps(about))
    (folder / "plan.json").write_text(json.dumps({"engine": "vllm-cpu"}))
    kept = {"state": state, "keeper": {"pid": 2**22, "start": 1}, "owned": owned, "at": time.monotonic_ns()}
    (folder / "keeper.json").write_text(json.dumps(kept, default=list))
