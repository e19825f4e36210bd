"""`render --to slurm` under a real Slurm: its controller and two of its node daemons on this machine, without munge.
With the fake engine over two nodes, and with the real one. Needs Debian's slurm-wlm.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from moonpad.environments.installed import InstalledEngine
from tests.conftest import Moonpad
from tests.e2e.conftest import CHECKPOINT
from tests.e2e.mpi_stand_in import RECORDS, make_stand_in
from tests.faults.helpers import wait_until
from tests.ports import free_port as another_port

pytestmark = pytest.mark.slow
NODES = ("n1", "n2")
TWO_HOSTS = '\n[layout]\ntp = 2\n\n[[hosts]]\naddress = "10.0.0.1"\n\n[[hosts]]\naddress = "10.0.0.2"\nssh = "b"\n'


@dataclass
class Slurm:
    folder: Path
    moonpad: Moonpad
    port: int
    env: dict[str, str]
    daemons: dict[str, subprocess.Popen[bytes]]

    def start(self, name: str) -> None:
        """The controller, or a node."""
        words: tuple[str, ...] = ("slurmctld", "-D")
        if name != "slurmctld":  # What PMIx and Open MPI share among the ranks of a node they name by the job alone.
            mounts = "".join(f'mount -t tmpfs own "{path}" && ' for path in (self.folder / "pmix", "/dev/shm"))
            own = f"{mounts}exec slurmd -D -N {name}"
            words = ("unshare", "--mount", "sh", "-c", own)
        output = (self.folder / f"{name}.out").open("ab")
        self.daemons[name] = subprocess.Popen(words, env=self.env, stdout=output, stderr=output, process_group=0)

    def __call__(self, *words: str) -> str:
        asked = subprocess.run(words, env=self.env, capture_output=True, text=True, timeout=60, check=False)
        assert asked.returncode == 0, asked.stderr
        return asked.stdout.strip()

    def submit(self, engine: Path, extra: str = "", *, name: str = "vllm-cpu", **env: str) -> str:
        spec = self.moonpad.home / "tiny.toml"
        spec.write_text(
            f'model = "kimi-k2-tiny"\n\n[engine]\nname = "{name}"\n\n[endpoint]\nport = {self.port}\n{extra}'
        )
        out = self.folder / "files"
        done = self.moonpad("render", str(spec), "--to", "slurm", "--out", str(out))
        assert done.code == 0, done.stderr
        given = {"MOONPAD_ENGINE": str(engine), "MOONPAD_CHECKPOINT": str(CHECKPOINT), **env}
        words = ("sbatch", "--parsable", "job.sbatch")
        job = subprocess.run(words, env={**self.env, **given}, cwd=out, capture_output=True, text=True, check=True)
        return job.stdout.strip()

    def sinfo(self) -> list[str]:
        words = ("sinfo", "--noheader", "--Node", "--format", "%t")
        return subprocess.run(words, env=self.env, capture_output=True, text=True, check=False).stdout.split()

    def steps(self) -> list[str]:
        """What the node daemons still look after."""
        words = ("squeue", "--noheader", "--steps")
        steps = subprocess.run(words, env=self.env, capture_output=True, text=True, check=False).stdout.splitlines()
        return [*steps, *self.processes()]

    def state(self, job: str) -> str:
        found = re.search(r"JobState=(\w+)", self("scontrol", "show", "job", job))
        return found[1] if found else ""

    def log(self, job: str) -> str:
        path = self.folder / "files" / f"moonpad-tiny-{job}.log"
        return path.read_text() if path.exists() else ""

    def await_ready(self, job: str, limit_s: float = 60.0) -> None:
        wait_until(lambda: "\nready: http" in self.log(job), lambda: self.log(job)[-2000:], limit_s)

    def answers(self) -> bool:
        body = json.dumps({"model": "kimi-k2-tiny", "prompt": "1", "max_tokens": 2}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/v1/completions", body, {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return bool(json.load(answer)["choices"][0]["text"])
        except OSError:
            return False

    def processes(self) -> list[str]:
        """What runs of any engine of ours: by the served port in its command, or in its environment's job."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                of_job = str(self.folder).encode() in (path / "environ").read_bytes()
            except OSError:
                continue
            is_slurm = any(name in command for name in ("slurmd ", "slurmctld", "slurmscriptd")) or not command
            if int(path.name) != os.getpid() and not is_slurm and (of_job or f"--port {self.port}" in command):
                found.append(command)
        return found


@pytest.fixture
def slurm(moonpad: Moonpad, clean_world: None, free_port: int, tmp_path: Path) -> Iterator[Slurm]:
    for program in ("slurmctld", "slurmd", "sbatch"):
        if shutil.which(program) is None or os.getuid():
            pytest.skip("needs slurm-wlm, and root for its node daemons")
    folder = tmp_path / "slurm"
    host = socket.gethostname().partition(".")[0]
    for name in ("state", *NODES):
        (folder / name).mkdir(parents=True)
    lines = [
        "ClusterName=test",
        f"SlurmctldHost={host}(127.0.0.1)",
        f"SlurmctldPort={another_port()}",
        "AuthType=auth/none",
        "CredType=cred/none",
        "SlurmUser=root",
        f"StateSaveLocation={folder}/state",
        f"SlurmdSpoolDir={folder}/%n",
        f"SlurmctldPidFile={folder}/slurmctld.pid",
        f"SlurmdPidFile={folder}/%n.pid",
        "ProctrackType=proctrack/linuxproc",
        "TaskPlugin=task/none",
        "SelectType=select/cons_tres",
        "ReturnToService=2",
        "KillWait=5",
        "SlurmdTimeout=5",
        "MpiDefault=none",
        "GresTypes=gpu",
        *(
            f"NodeName={n} NodeHostname={host} NodeAddr=127.0.0.1 Port={another_port()} CPUs=2 RealMemory=2000"
            " Gres=gpu:2"
            for n in NODES
        ),
        f"PartitionName=all Nodes={','.join(NODES)} Default=YES MaxTime=INFINITE State=UP",
    ]
    config = folder / "slurm.conf"
    config.write_text("\n".join(lines) + "\n")
    (folder / "gres.conf").write_text("Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n")  # nothing computes there
    (folder / "pmix").mkdir()
    (folder / "mpi.conf").write_text(f"PMIxCliTmpDirBase={folder}/pmix\n")
    slurm = Slurm(folder, moonpad, free_port, {**os.environ, "SLURM_CONF": str(config)}, {})
    try:
        for name in ("slurmctld", *NODES):
            slurm.start(name)
        wait_until(lambda: slurm.sinfo() == ["idle", "idle"], lambda: str(slurm.sinfo()), 40.0)
        yield slurm
    finally:
        subprocess.run(("scancel", "--user", "root"), env=slurm.env, capture_output=True, check=False, timeout=20)
        wait_until(lambda: not slurm.steps(), lambda: str(slurm.steps()), 40.0)
        for daemon in slurm.daemons.values():
            daemon.terminate()
        for daemon in slurm.daemons.values():
            daemon.wait(20)


@pytest.fixture
def fake(moonpad: Moonpad, fake_engine: Path) -> Path:
    """The folder of the fake engine's environment."""
    return fake_engine.parent.parent


def test_one_node(slurm: Slurm, fake: Path) -> None:
    job = slurm.submit(fake)
    slurm.await_ready(job)
    assert slurm.answers()
    slurm("scancel", job)
    wait_until(lambda: slurm.state(job) == "CANCELLED", lambda: slurm.state(job), 30.0)
    wait_until(lambda: not slurm.processes(), lambda: "\n".join(slurm.processes()), 20.0)
    assert not slurm.answers()


@pytest.mark.parametrize("seed", range(5))
def test_cancelled_at_a_drawn_moment(slurm: Slurm, fake: Path, seed: int) -> None:
    """Two nodes; nothing of them is left, and the next job finds its ports free."""
    job = slurm.submit(fake, TWO_HOSTS, FAKE_LOAD_S="2")
    time.sleep(random.Random(seed).uniform(0.5, 12.0))
    slurm("scancel", job)
    wait_until(lambda: slurm.state(job) == "CANCELLED", lambda: slurm.state(job), 30.0)
    wait_until(lambda: not slurm.processes(), lambda: "\n".join(slurm.processes()), 20.0)
    again = slurm.submit(fake, TWO_HOSTS)
    slurm.await_ready(again)
    assert slurm.answers()


@pytest.mark.parametrize("seed", range(5))
def test_a_node_is_lost(slurm: Slurm, fake: Path, seed: int) -> None:
    """Its daemon and what it runs are killed at once: the job ends as a whole, and the log says which node it was."""
    job = slurm.submit(fake, TWO_HOSTS)
    slurm.await_ready(job)
    lost = NODES[1]
    time.sleep(random.Random(seed).uniform(0.0, 3.0))
    slurm.daemons[lost].kill()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            environ = (path / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"SLURMD_NODENAME={lost}".encode() in environ and str(slurm.folder).encode() in b"".join(environ):
            os.kill(int(path.name), signal.SIGKILL)
    wait_until(lambda: slurm.state(job) != "RUNNING", lambda: slurm.log(job)[-1500:], 60.0)
    assert slurm.state(job) in ("PENDING", "NODE_FAIL", "FAILED", "COMPLETING", "REQUEUED")
    wait_until(lambda: not slurm.processes(), lambda: "\n".join(slurm.processes()), 30.0)
    assert re.search(rf"\b{lost}\b", slurm.log(job))


def test_what_was_never_ready_is_not_tried_again(slurm: Slurm, fake: Path) -> None:
    job = slurm.submit(fake, FAKE_CRASH_AT="load:40%")
    wait_until(lambda: slurm.state(job) == "FAILED", lambda: slurm.log(job), 30.0)
    assert "queued again" not in slurm.log(job)


def test_what_ends_after_it_was_ready_is_queued_again(slurm: Slurm, fake: Path) -> None:
    job = slurm.submit(fake, FAKE_CRASH_AT="ready+9s")
    slurm.await_ready(job)
    wait_until(lambda: "queued again" in slurm.log(job), lambda: slurm.log(job), 60.0)
    wait_until(lambda: slurm.state(job) == "PENDING", lambda: slurm.state(job), 20.0)


def test_the_real_engine(slurm: Slurm, engine: InstalledEngine) -> None:
    """TP2 over two nodes, as the embedded engine runs it over two hosts."""
    job = slurm.submit(engine.python.parent.parent, TWO_HOSTS)
    slurm.await_ready(job, 400.0)
    assert slurm.answers()
    slurm("scancel", job)
    wait_until(lambda: not slurm.processes(), lambda: "\n".join(slurm.processes()), 40.0)


MPI = '\n[hardware]\ncluster = "2x2xH200"\n\n[layout]\ndp = 4\n'


@pytest.fixture
def stand_in(slurm: Slurm, tmp_path: Path) -> tuple[Path, Path]:
    """The environment of TensorRT-LLM's stand-in, and the folder of its records."""
    if "pmix" not in subprocess.run(("srun", "--mpi=list"), env=slurm.env, capture_output=True, text=True).stdout:
        pytest.skip("this Slurm has no plugin for PMIx")
    (tmp_path / "records").mkdir()
    return make_stand_in(tmp_path / "engine"), tmp_path / "records"


@pytest.mark.parametrize("number", range(5))
def test_ranks_of_mpi(slurm: Slurm, stand_in: tuple[Path, Path], number: int) -> None:
    """TensorRT-LLM's ranks by `srun --mpi=pmix`, two a node: they find one another, and neither scancel nor a rank that
    is killed leaves any. Without cgroups Slurm follows processes by their parents, so what the rank had started is
    killed with it."""
    engine, records = stand_in
    # The nodes have one host name here, by which Open MPI would take ranks of both for such that share their memory.
    job = slurm.submit(engine, MPI, name="tensorrt-llm", OMPI_MCA_btl="tcp,self", **{RECORDS: str(records)})
    slurm.await_ready(job, 120.0)
    ranks = [json.loads((records / f"rank-{rank}.json").read_text()) for rank in range(4)]
    assert [(rank["rank"], rank["size"], rank["gathered"]) for rank in ranks] == [
        (place, 4, [0, 1, 2, 3]) for place in range(4)
    ]
    assert [rank["environment"]["SLURMD_NODENAME"] for rank in ranks] == ["n1", "n1", "n2", "n2"]
    assert "enable_attention_dp: true" in json.loads((records / "serve.json").read_text())["config"]
    assert slurm.answers()
    if number % 2:
        children = Path(f"/proc/{ranks[3]['pid']}/task/{ranks[3]['pid']}/children").read_text().split()
        for pid in (*map(int, children), ranks[3]["pid"]):
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: slurm.state(job) != "RUNNING", lambda: slurm.log(job), 60.0)
    else:
        slurm("scancel", job)
        wait_until(lambda: slurm.state(job) == "CANCELLED", lambda: slurm.state(job), 30.0)
    wait_until(lambda: not slurm.processes(), lambda: "\n".join(slurm.processes()), 20.0)
