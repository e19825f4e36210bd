"""Fault 69: run folders of every schema that was released are read, and those of a later one are refused by number."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from moonpad.facts.processes import is_alive, read_boot_id, read_stat
from moonpad.store.schema_version import SCHEMA
from tests.conftest import Moonpad

GOLDEN = Path(__file__).parents[1] / "golden" / "runs"
SCHEMAS = range(1, SCHEMA + 1)

# What `status` says of each; what is ready answers.
SAID = {
    ("ready", 1): ("ready", "/health answers 200"),
    ("stopped", 1): ("stopped", "asked to stop"),
    ("failed", 1): ("failed", "engine ended: SIGKILL"),
    ("ready", 2): ("ready", "/health answers 200"),
    ("stopped", 2): ("stopped", "asked to stop"),
    ("failed", 2): ("failed", "engine ended: SIGKILL"),
}


class Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def endpoint(free_port: int) -> Iterator[int]:
    """The port of something whose `/health` answers 200."""
    server = HTTPServer(("127.0.0.1", free_port), Healthy)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield free_port
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def process() -> Iterator[dict[str, int]]:
    """Something that lives, to stand for what a run folder names."""
    child = subprocess.Popen(("sleep", "600"))
    stat = read_stat(child.pid)
    assert stat is not None
    yield {"pid": child.pid, "start": stat[1]}
    child.kill()
    child.wait()


def bring(moonpad: Moonpad, schema: int, state: str) -> Path:
    """A golden state home becomes the command's own; the run's folder there."""
    home = GOLDEN / f"schema-{schema}-{state}"
    shutil.copytree(home, moonpad.state, dirs_exist_ok=True)
    run = json.loads((home / "endpoints" / f"{state}.json").read_text())["run"]
    return moonpad.state / "runs" / str(run)


def change(path: Path, **fields: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def bring_to_life(run: Path, process: dict[str, int], port: int) -> None:
    """What the run's files name lives, on this boot of this machine."""
    own: dict[str, Any] = {"boot_id": read_boot_id()}
    recorded = json.loads((run / "keeper.json").read_text())
    controller = {"controller": process} if "controller" in recorded else {}
    roots = [{**root, **process} for root in recorded["roots"]]
    change(run / "keeper.json", keeper=process, roots=roots, owned=[process], **own, **controller)
    change(run / "run.json", base_url=f"http://127.0.0.1:{port}/v1")
    if (run / "controller.json").exists():
        change(run / "controller.json", **process, **own)


def row_of(moonpad: Moonpad, name: str) -> dict[str, Any]:
    done = moonpad("status", "--json")
    assert done.code == 0, done.stderr
    return next(dict(row) for row in done.json["endpoints"] if row["name"] == name)


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("state", ["stopped", "failed"])
def test_what_has_ended(state: str, schema: int, moonpad: Moonpad) -> None:
    bring(moonpad, schema, state)
    row = row_of(moonpad, state)
    state_shown, because = SAID[state, schema]
    assert (row["state"], because in row["because"]) == (state_shown, True), row
    assert (row["model"], row["engine"], row["base_url"]) == ("kimi-k2-tiny", "vllm-cpu", "http://127.0.0.1:8000/v1")
    assert (row["kv_tokens"]["planned"]["value"], row["kv_tokens"]["measured"]) == (233_008, 310_672)
    assert "Starting vLLM server" in moonpad("logs", state).stdout
    down = moonpad("down", state, "--json")
    assert (down.code, down.json["was_up"]) == (0, False)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_what_is_ready(schema: int, moonpad: Moonpad, endpoint: int, process: dict[str, int]) -> None:
    """By its old keeper, which a new moonpad finds as it left it."""
    run = bring(moonpad, schema, "ready")
    bring_to_life(run, process, endpoint)
    row = row_of(moonpad, "ready")
    state_shown, because = SAID["ready", schema]
    assert (row["state"], because in row["because"]) == (state_shown, True), row
    assert row["pid"] == process["pid"]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_down_of_what_an_older_keeper_left(schema: int, moonpad: Moonpad, process: dict[str, int]) -> None:
    """Its keeper is gone, one of its processes is not: `down` finishes the job, whatever the schema."""
    run = bring(moonpad, schema, "ready")
    change(run / "keeper.json", boot_id=read_boot_id(), owned=[process])
    down = moonpad("down", "ready", "--json")
    assert (down.code, down.json["was_up"]) == (0, True), down.stderr
    assert not is_alive(process["pid"], process["start"])
    row = row_of(moonpad, "ready")
    assert row["state"] == "stopped"


@pytest.mark.parametrize("file", ["run.json", "keeper.json", "the pointer"])
def test_a_newer_run_is_refused_by_number_and_costs_no_other(file: str, moonpad: Moonpad) -> None:
    """Nothing is guessed of it, nothing is done to it, and the other endpoints are still told."""
    newer = bring(moonpad, SCHEMA, "stopped")
    bring(moonpad, SCHEMA, "failed")
    change(moonpad.state / "endpoints" / "stopped.json" if file == "the pointer" else newer / file, schema=SCHEMA + 1)
    before = contents(moonpad.state)
    sentence = f"was written by a newer moonpad: schema {SCHEMA + 1}, this one reads 1 and {SCHEMA}"

    status = moonpad("status", "--json")
    assert status.code == 0, status.stderr
    rows = {row["name"]: row for row in status.json["endpoints"]}
    assert rows["failed"]["state"] == "failed"
    assert sentence in rows["stopped"]["because"]
    assert rows["stopped"]["state"] == "unknown"

    down = moonpad("down", "stopped")
    assert (down.code, sentence in down.stderr) == (6, True), down.stderr
    assert contents(moonpad.state) == before


def test_up_does_not_take_the_name_of_a_newer_run(moonpad: Moonpad, fake_spec: Path) -> None:
    """It may be up."""
    bring(moonpad, SCHEMA, "stopped")
    pointer = moonpad.state / "endpoints" / "stopped.json"
    change(pointer.rename(pointer.with_name(f"{fake_spec.stem}.json")), schema=SCHEMA + 1)
    before = contents(moonpad.state)
    up = moonpad("up", str(fake_spec))
    assert (up.code, f"schema {SCHEMA + 1}" in up.stderr) == (6, True), up.stderr
    assert contents(moonpad.state) == before


def contents(folder: Path) -> dict[str, str]:
    return {str(path): path.read_text() for path in folder.rglob("*") if path.is_file()}
