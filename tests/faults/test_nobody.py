"""A run of a user without any rights, beside one of root."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT, Done, Moonpad
from tests.faults.helpers import (
    await_gone,
    everybody,
    keeper_document,
    pid_of_role,
    run_folder,
)

pytestmark = pytest.mark.usefixtures("clean_world")

GONE_S = 15.0
NOBODY = 65534

AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs")


def python_of_nobody() -> tuple[str, str] | None:
    """(a Python that a user without privileges can start, and whose children can, the PYTHONPATH that it needs)."""
    if os.getuid() != 0 or not shutil.which("setpriv"):
        return None
    release = f"{sys.version_info.major}.{sys.version_info.minor}"
    packages = os.pathsep.join((str(ROOT / "src"), sysconfig.get_paths()["purelib"]))
    proof = "import subprocess, sys, moonpad, aiohttp, psutil; subprocess.run([sys.executable, '-c', ''], check=True)"
    for program in (sys.executable, f"/usr/bin/python{release}", f"/usr/local/bin/python{release}"):
        if Path(program).exists():
            env = {"PATH": os.environ["PATH"], "PYTHONPATH": packages}
            tried = subprocess.run(
                (*AS_NOBODY, program, "-c", proof), env=env, cwd="/", capture_output=True, check=False
            )
            if tried.returncode == 0:
                return program, packages
    return None


@dataclass(frozen=True)
class Nobody:
    """The command as a user without privileges, with a home and an engine of its own."""

    there: Moonpad
    program: str
    spec: Path

    def __call__(self, *argv: str, **env: str) -> Done:
        done = subprocess.run(
            (*AS_NOBODY, self.program, "-m", "moonpad", *argv),
            env={**self.there.env, **env},
            cwd=self.there.home,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def nobody(moonpad: Moonpad, fake_spec: Path, fake_engine: Path) -> Iterator[Nobody]:
    python = python_of_nobody()
    if python is None:
        pytest.skip("not root, or no Python here that a user without privileges can start")
    program, packages = python
    home = Path(tempfile.mkdtemp(prefix="nobody-"))
    env = {
        **moonpad.env,
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
    }
    engine = shutil.copytree(fake_engine.parent.parent, home / "engine", symlinks=True)
    (engine / "bin" / "python").unlink()
    (engine / "bin" / "python").symlink_to(program)
    vllm = engine / "bin" / "vllm"
    vllm.write_text(f'#!/bin/sh\nexec {program} -I -S "{engine}/fake_engine/vllm.py" "$@"\n')
    spec = home / "fake.toml"
    spec.write_text(fake_spec.read_text().replace(str(fake_engine), str(engine / "bin" / "python")))
    for path in (home, *home.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    yield Nobody(Moonpad(home, {**env, "PYTHONPATH": packages}), program, spec)
    shutil.rmtree(home)


def test_as_nobody(nobody: Nobody) -> None:
    """Without root and without a cgroup: up, ready, down."""
    up = nobody("up", str(nobody.spec), "--json")
    assert up.code == 0, up.stderr
    living = everybody(nobody.there)
    assert all(Path(f"/proc/{pid}").stat().st_uid == NOBODY for pid in living)
    assert keeper_document(nobody.there)["cgroup"] == ""
    assert (run_folder(nobody.there) / "control.sock").stat().st_mode & 0o777 == 0o600
    down = nobody("down", "fake")
    assert down.code == 0, down.stderr
    await_gone(living, 1.0)


@pytest.mark.slow
def test_api_server_killed_as_nobody(nobody: Nobody) -> None:
    """Fault 5 without root: what has left its session is found and ended."""
    up = nobody("up", str(nobody.spec), FAKE_IGNORE_TERM="1")
    assert up.code == 0, up.stderr
    living = everybody(nobody.there)
    os.kill(pid_of_role(nobody.there, "api"), signal.SIGKILL)
    await_gone(living, GONE_S)
    assert nobody("status", "--json").json["endpoints"][0]["state"] == "failed"


@pytest.mark.slow
def test_two_users(moonpad: Moonpad, fake_spec: Path, nobody: Nobody) -> None:
    """Fault 17: root has the port, and a user without privileges, who may not look, is told so; and the reverse."""
    first = moonpad("up", str(fake_spec), "--no-wait", "--json", FAKE_LOAD_S="4")
    assert first.code == 0, first.stderr
    refused = nobody("up", str(nobody.spec))
    assert refused.code == 3, refused.stderr
    assert first.json["run"] in refused.stderr
    assert moonpad("down", "fake").code == 0
    second = nobody("up", str(nobody.spec), "--no-wait", "--json", FAKE_LOAD_S="4")
    assert second.code == 0, second.stderr
    refused = moonpad("up", str(fake_spec))
    assert refused.code == 3, refused.stderr
    assert second.json["run"] in refused.stderr
    assert nobody("down", "fake").code == 0
