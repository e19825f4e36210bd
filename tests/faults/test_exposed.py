"""Fault 61: `moonpad up` with `expose`. The engine stays on the loopback, a real nginx stands before it, and the two
are one run: they start, end and are cleaned away together."""

from __future__ import annotations

import json
import os
import shutil
import signal
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import pytest

from moonpad.render.proxy import PROGRAM
from tests.conftest import Moonpad
from tests.faults.helpers import await_event, await_gone, await_state, everybody, set_launch, streams

pytestmark = [
    pytest.mark.usefixtures("clean_world"),
    pytest.mark.skipif(shutil.which(PROGRAM) is None, reason="nginx is not here: apt install nginx-light"),
]


@pytest.fixture
def exposed(fake_spec: Path) -> Path:
    fake_spec.write_text(fake_spec.read_text().replace("[endpoint]\n", "[endpoint]\nexpose = true\n"))
    return fake_spec


def status_at(port: int, path: str) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def addresses(processes: dict[int, int]) -> set[tuple[str, int]]:
    return {
        (connection.laddr.ip, connection.laddr.port)
        for connection in psutil.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN and connection.pid in processes
    }


def test_others_reach_the_front_and_it_alone(moonpad: Moonpad, exposed: Path, free_port: int) -> None:
    up = moonpad("up", str(exposed), "--json")
    assert up.code == 0, up.stderr
    assert "no key" in up.stderr
    document = json.loads(up.stdout)
    assert document["open_port"] == free_port
    engine_port = free_port + 1
    assert document["base_url"] == f"http://127.0.0.1:{engine_port}/v1"
    wide = {port for address, port in addresses(everybody(moonpad)) if not address.startswith("127.")}
    assert wide == {free_port}
    assert [status_at(free_port, path) for path in ("/v1/models", "/health")] == [200, 200]
    assert [status_at(free_port, path) for path in ("/metrics", "/version", "/ping", "/tokenize")] == [404] * 4
    assert status_at(engine_port, "/metrics") == 200
    again = moonpad("up", str(exposed), "--json")
    assert json.loads(again.stdout)["changed"] is False
    down = moonpad("down", "fake")
    assert down.code == 0, down.stderr


@pytest.mark.slow
def test_the_front_passes_all_that_is_verified(moonpad: Moonpad, exposed: Path, free_port: int) -> None:
    assert moonpad("up", str(exposed)).code == 0
    # Not those that need /metrics or /tokenize, which the front keeps closed.
    only = ("--only", "health", "models", "chat", "completions", "streaming", "reasoning", "tool_call", "wrong_model")
    through = moonpad("verify", "--url", f"http://127.0.0.1:{free_port}", *only, "--json").json["probes"]
    directly = moonpad("verify", "fake", *only, "--json").json["probes"]
    assert len(directly) == len(only) - 1
    assert [(row["id"], row["status"]) for row in through] == [(row["id"], row["status"]) for row in directly]
    assert moonpad("down", "fake").code == 0


def test_streams_through_the_front_finish(moonpad: Moonpad, exposed: Path, free_port: int) -> None:
    """Fault 15."""
    set_launch(exposed, drain="20s")
    assert moonpad("up", str(exposed)).code == 0
    open_ = streams(free_port, 8, 400)
    open_.await_tokens()
    down = moonpad.start("down", "fake", "--drain", "20s")
    seen = open_.wait(60)
    _, errors = down.communicate(timeout=30)
    assert down.returncode == 0, errors
    assert [stream.status for stream in seen] == [200] * 8
    assert open_.finished == 8
    assert await_event(moonpad, "drained")["finished"] == 8


@pytest.mark.parametrize("program", ["nginx", "sh"])
def test_a_front_that_is_killed_takes_the_run_along(moonpad: Moonpad, exposed: Path, program: str) -> None:
    assert moonpad("up", str(exposed)).code == 0
    living = everybody(moonpad)
    fronts = [psutil.Process(pid) for pid in living if psutil.Process(pid).name() == program]
    masters = [front for front in fronts if front.ppid() not in [other.pid for other in fronts]]
    assert len(masters) == 1
    os.kill(masters[0].pid, signal.SIGKILL)
    await_state(moonpad, "failed")
    await_gone(living, 20.0)
    assert moonpad("down", "fake").code == 0
