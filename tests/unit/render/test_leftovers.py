"""`stop.sh`, run by bash: what has the word of its node ends, with what descends from it, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from moonpad.engines.base import installed_runtime
from moonpad.render.leftovers import mark_of, render_stops
from moonpad.values.deployment import Deployment, Gang, HttpProbe, PortSpec, Process, Role, Stop
from moonpad.values.references import PortRef
from tests.faults.helpers import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
# As an engine's first process does: a child that is in a session of its own and has no environment to be known by.
PARENT = "import os,subprocess,time; subprocess.Popen(['sleep','300'],env={},start_new_session=True); time.sleep(300)"


def deployment(name: str, grace_s: float = 1.0) -> Deployment:
    api = PortRef("engine", "api")
    stop = Stop(grace_s=grace_s, drain_s=0.0)
    process = Process(
        "engine", Role.ENGINE, "node-0", 0, installed_runtime("vllm"), (), ports=(PortSpec("api", 8000),), stop=stop,
        ready=HttpProbe(api),
    )  # fmt: skip
    return Deployment((Gang(name, (process,)),), api, "kimi", name)


@pytest.fixture
def name() -> str:
    return f"t{uuid.uuid4().hex[:10]}"


@pytest.fixture
def script(name: str, tmp_path: Path) -> Path:
    (file,) = render_stops(deployment(name)).values()
    path = tmp_path / "stop.sh"
    path.write_text(file.text)
    return path


def start(mark: str) -> subprocess.Popen[bytes]:
    env = {**os.environ, "MOONPAD_START": mark}
    return subprocess.Popen((sys.executable, "-I", "-S", "-c", PARENT), env=env)


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.fixture
def started(name: str) -> Iterator[tuple[subprocess.Popen[bytes], subprocess.Popen[bytes]]]:
    """One with the word, and one with that of another deployment."""
    both = start(mark_of(deployment(name), "node-0")), start(f"{name}-2/node-0")
    for each in both:
        wait_until(lambda each=each: children(each.pid), lambda: "no child", 20.0)  # type: ignore[misc]
    yield both
    for each in both:
        for pid in children(each.pid) if each.poll() is None else []:
            os.kill(pid, 9)
        each.kill()
        each.wait()


def test_what_has_the_word_ends_with_its_descendants(
    started: tuple[subprocess.Popen[bytes], subprocess.Popen[bytes]], script: Path
) -> None:
    ours, other = started
    (child,) = children(ours.pid)
    done = subprocess.run(("bash", str(script)), capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert ours.wait(20) != 0
    assert not Path(f"/proc/{child}/cmdline").exists() or not Path(f"/proc/{child}/cmdline").read_bytes()
    assert other.poll() is None
    assert children(other.pid)


def test_nothing_is_there(script: Path) -> None:
    done = subprocess.run(("bash", str(script)), capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no /dev/shm")
def test_shared_memory_that_nobody_has_mapped(script: Path, name: str) -> None:
    """A semaphore of a dead process goes; what may be handed on unmapped stays, and what is of no engine."""
    place = Path("/dev/shm")
    files = [place / f"{kind}{name}" for kind in ("sem.mp-", "psm_", "own-")]
    for file in files:
        file.write_bytes(b"a")
    try:
        with files[1].open():  # what nobody holds, the keeper of another test may claim
            subprocess.run(("bash", str(script)), check=True, timeout=60)
            assert [file.exists() for file in files] == [False, True, True]
    finally:
        for file in files:
            file.unlink(missing_ok=True)
