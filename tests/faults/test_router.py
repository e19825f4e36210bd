"""Copies of an engine behind a router: one that is lost costs its own requests alone, and comes back by itself."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import LAUNCH, Moonpad
from tests.fake_environment import make_router
from tests.faults.helpers import streams, wait_until
from tests.ports import free_ports
from tests.world import World

COPIES = ("fake-replica-0", "fake-replica-1")


@pytest.fixture
def port(moonpad: Moonpad) -> Any:
    """The router's; the copies have the next two. Nothing of any of them is left at the end."""
    first = free_ports(4)[0]
    worlds = [World(moonpad.home, first + number) for number in range(4)]
    yield first
    left = [line for world in worlds for line in world.sweep()]
    assert not left, "\n".join(left)


@pytest.fixture
def spec(moonpad: Moonpad, fake_engine: Path, tmp_path: Path, port: int) -> Path:
    """Two copies of the fake engine behind the fake router."""
    path = moonpad.home / "fake.toml"
    launch = {**LAUNCH, "restarts": 3, "drain": "20s"}
    path.write_text(
        f'model = "kimi-k2-tiny"\n\n[engine]\nname = "vllm-cpu"\npython = "{fake_engine}"\n\n'
        f"[endpoint]\nport = {port}\n\n"
        f'[router]\nname = "sglang-router"\npython = "{make_router(tmp_path / "router")}"\n'
        f'policy = "round_robin"\nreplicas = 2\nreplica_port = {port + 1}\n\n'
        "[launch]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in launch.items())
    )
    return path


def rows(moonpad: Moonpad) -> dict[str, dict[str, Any]]:
    done = moonpad("status", "--json")
    assert done.code == 0, done.stderr
    return {row["name"]: row for row in done.json["endpoints"]}


def await_rows(moonpad: Moonpad, holds: Any, limit_s: float = 20.0) -> dict[str, dict[str, Any]]:
    last: dict[str, dict[str, Any]] = {}

    def looked() -> bool:
        last.update(rows(moonpad))
        return bool(holds(last))

    wait_until(looked, lambda: str({name: (row["state"], row["because"]) for name, row in last.items()}), limit_s)
    return last


def ready(copies: dict[str, dict[str, Any]]) -> bool:
    return all(row["state"] == "ready" for row in copies.values())


def test_a_copy_that_is_killed(moonpad: Moonpad, spec: Path, port: int) -> None:
    """Of the streams under way only those of the lost copy are cut; it is restarted alone, and serves again."""
    up = moonpad("up", str(spec), "--json", FAKE_TOKEN_S="0.05")
    assert up.code == 0, up.stderr
    assert up.json["replicas"] == list(COPIES)
    before = rows(moonpad)
    assert before["fake"]["pools"] == [{"name": "replicas", "ready": 2, "of": 2}]
    assert list(before) == ["fake", *COPIES]
    running = streams(port, 4, 80)
    running.await_tokens(3)
    os.kill(before[COPIES[0]]["pid"], signal.SIGKILL)
    late = streams(port, 4, 5).wait()
    assert all(stream.finished for stream in late), late
    ended = running.wait()
    assert running.finished == 2, ended
    assert {stream.error for stream in ended if not stream.finished} == {"the stream was cut"}
    after = await_rows(moonpad, lambda now: ready(now) and now[COPIES[0]]["restarts"] == 1)
    assert after["fake"]["pid"] == before["fake"]["pid"]
    assert after[COPIES[1]]["pid"] == before[COPIES[1]]["pid"]
    assert after[COPIES[0]]["run"] == before[COPIES[0]]["run"]
    wait_until(lambda: all(stream.finished for stream in streams(port, 4, 3).wait()), lambda: "it does not serve", 10.0)
    again = moonpad("up", str(spec), "--json")
    assert again.code == 0, again.stderr
    assert again.json["changed"] is False
    down = moonpad("down", str(spec), "--json")
    assert down.code == 0, down.stderr
    assert [row["name"] for row in down.json["replicas"]] == list(COPIES)


@pytest.mark.slow
def test_drained_and_taken_up_again(moonpad: Moonpad, spec: Path, port: int) -> None:
    """`down --drain` lets the streams finish before a copy is stopped; a router that is lost is restarted alone."""
    assert moonpad("up", str(spec), FAKE_TOKEN_S="0.1").code == 0
    before = rows(moonpad)
    os.kill(before["fake"]["pid"], signal.SIGKILL)
    after = await_rows(moonpad, lambda now: ready(now) and now["fake"]["restarts"] == 1)
    assert [after[name]["pid"] for name in COPIES] == [before[name]["pid"] for name in COPIES]
    running = streams(port, 4, 60)
    running.await_tokens(3)
    down = moonpad("down", str(spec), "--drain", "20s", "--json")
    assert down.code == 0, down.stderr
    assert down.json["drained"] == {"running": 4, "finished": 4, "cut": 0, "refuses_new": True}
    assert all(stream.finished for stream in running.wait())


def test_a_copy_that_does_not_start(moonpad: Moonpad, spec: Path, port: int) -> None:
    """Nothing is left of the others either, and the router was never started."""
    begun = time.monotonic()
    up = moonpad("up", str(spec), FAKE_CRASH_AT="load:40%", FAKE_EXIT="1")
    assert up.code == 4, up.stderr
    assert "fake-replica-" in up.stderr
    assert "fake" not in rows(moonpad)
    assert all(row["state"] in ("failed", "stopped") for row in rows(moonpad).values())
    assert time.monotonic() - begun < 60.0


@pytest.mark.slow
def test_what_is_missing_is_started(moonpad: Moonpad, spec: Path, port: int) -> None:
    """`up` after a copy was stopped starts that copy, and touches nothing else."""
    assert moonpad("up", str(spec)).code == 0
    before = rows(moonpad)
    assert moonpad("down", COPIES[1]).code == 0
    assert rows(moonpad)["fake"]["pools"] == [{"name": "replicas", "ready": 1, "of": 2}]
    assert all(stream.finished for stream in streams(port, 2, 3).wait())
    again = moonpad("up", str(spec), "--json")
    assert again.code == 0, again.stderr
    after = rows(moonpad)
    assert [after[name]["pid"] for name in ("fake", COPIES[0])] == [before[name]["pid"] for name in ("fake", COPIES[0])]
    assert ready(after)
    assert moonpad("down").code == 0, "without a name: the endpoint is one"
    assert {row["state"] for row in rows(moonpad).values()} == {"stopped"}
