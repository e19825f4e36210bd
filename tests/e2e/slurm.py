"""A Slurm of two nodes for tests: its controller and both node daemons on this machine, without munge. Each node is a
host of its own as far as Slurm can tell: namespaces for network, host name and shared memory, and a wire between them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import Moonpad
from tests.e2e.conftest import CHECKPOINT
from tests.faults.helpers import wait_until
from tests.faults.two_hosts import HERE, THERE, run, why_not, wire

NODES = ("n1", "n2")
ADDRESSES = {"n1": HERE, "n2": THERE}
TWO_HOSTS = '\n[layout]\ntp = 2\n\n[[hosts]]\naddress = "10.0.0.1"\n\n[[hosts]]\naddress = "10.0.0.2"\nssh = "b"\n'
_ASK = """\
import json, sys, urllib.request as r
q = r.Request(sys.argv[1], sys.argv[2].encode(), {"Content-Type": "application/json"})
sys.exit(0 if json.load(r.urlopen(q, timeout=30))["choices"][0]["text"] else 1)
"""


@dataclass
class Slurm:
    folder: Path
    moonpad: Moonpad
    port: int
    env: dict[str, str]
    daemons: dict[str, subprocess.Popen[bytes]]
    tag: str

    @property
    def inside(self) -> tuple[str, ...]:
        """The words before a command on the first node, which serves, and where jobs are submitted."""
        return self.at("a")

    def at(self, which: str) -> tuple[str, ...]:
        """Not by `ip netns exec`, whose /sys has no cgroups, which the daemons look for."""
        return ("nsenter", f"--net=/run/netns/{self.tag}-{which}", "--")

    def start(self, name: str) -> None:
        """The controller, on the first node, or the daemon of a node."""
        node = "n1" if name == "slurmctld" else name
        steps = [f"hostname {node}", f'mount --bind "{self.folder}/hosts" /etc/hosts', "exec slurmctld -D"]
        if name != "slurmctld":  # What PMIx and Open MPI share among the ranks of a node they name by the job alone.
            mounts = [f'mount -t tmpfs own "{path}"' for path in (self.folder / "pmix", "/dev/shm")]
            steps = [*steps[:-1], *mounts, f"exec slurmd -D -N {name}"]
        which = "a" if node == "n1" else "b"
        words = (*self.at(which), "unshare", "--mount", "--uts", "sh", "-c", " && ".join(steps))
        output = (self.folder / f"{name}.out").open("ab")
        self.daemons[name] = subprocess.Popen(words, env=self.env, stdout=output, stderr=output, process_group=0)

    def asked(self, *words: str) -> subprocess.CompletedProcess[str]:
        inside = (*self.inside, *words)
        return subprocess.run(inside, env=self.env, capture_output=True, text=True, timeout=60, check=False)

    def __call__(self, *words: str) -> str:
        asked = self.asked(*words)
        assert asked.returncode == 0, asked.stderr
        return asked.stdout.strip()

    def submit(self, engine: Path, extra: str = "", *, name: str = "vllm-cpu", **env: str) -> str:
        """The number of the job."""
        spec = self.moonpad.home / "tiny.toml"
        spec.write_text(
            f'model = "kimi-k2-tiny"\n\n[engine]\nname = "{name}"\n\n[endpoint]\nport = {self.port}\n{extra}'
        )
        out = self.folder / "files"
        done = self.moonpad("render", str(spec), "--to", "slurm", "--out", str(out))
        assert done.code == 0, done.stderr
        given = {"MOONPAD_ENGINE": str(engine), "MOONPAD_CHECKPOINT": str(CHECKPOINT), **env}
        words = (*self.inside, "sbatch", "--parsable", "job.sbatch")
        job = subprocess.run(words, env={**self.env, **given}, cwd=out, capture_output=True, text=True, check=True)
        return job.stdout.strip()

    def sinfo(self) -> list[str]:
        return self.asked("sinfo", "--noheader", "--Node", "--format", "%t").stdout.split()

    def steps(self) -> list[str]:
        """What the node daemons still look after."""
        return [*self.asked("squeue", "--noheader", "--steps").stdout.splitlines(), *self.processes()]

    def state(self, job: str) -> str:
        found = re.search(r"JobState=(\w+)", self("scontrol", "show", "job", job))
        return found[1] if found else ""

    def log(self, job: str) -> str:
        path = self.folder / "files" / f"moonpad-tiny-{job}.log"
        return path.read_text() if path.exists() else ""

    def await_ready(self, job: str, limit_s: float = 120.0) -> None:
        wait_until(lambda: "\nready: http" in self.log(job), lambda: self.log(job)[-2000:], limit_s)

    def answers(self) -> bool:
        body = json.dumps({"model": "kimi-k2-tiny", "prompt": "1", "max_tokens": 2})
        url = f"http://127.0.0.1:{self.port}/v1/completions"
        return self.asked("python3", "-c", _ASK, url, body).returncode == 0

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

    def lose(self, node: str) -> None:
        """Its daemon and all that it runs are killed at once."""
        self.daemons[node].kill()
        for path in Path("/proc").glob("[0-9]*"):
            try:
                environ = (path / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"SLURMD_NODENAME={node}".encode() in environ and str(self.folder).encode() in b"".join(environ):
                os.kill(int(path.name), signal.SIGKILL)
        self.daemons[node].wait(20)


@contextmanager
def slurm_cluster(folder: Path, moonpad: Moonpad, port: int) -> Iterator[Slurm]:
    """Skipped where none can be made. At the end no job and nothing of one may be left."""
    for program in ("slurmctld", "slurmd", "sbatch"):
        if shutil.which(program) is None:
            pytest.skip("needs slurm-wlm")
    if reason := why_not():
        pytest.skip(reason)
    for name in ("state", "pmix", *NODES):
        (folder / name).mkdir(parents=True)
    (folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{a} {n}\n" for n, a in ADDRESSES.items()))
    lines = [
        "ClusterName=test",
        f"SlurmctldHost=n1({HERE})",
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
        *(f"NodeName={n} NodeAddr={a} CPUs=2 RealMemory=2000 Gres=gpu:2" for n, a in ADDRESSES.items()),
        f"PartitionName=all Nodes={','.join(NODES)} Default=YES MaxTime=INFINITE State=UP",
    ]
    config = folder / "slurm.conf"
    config.write_text("\n".join(lines) + "\n")
    (folder / "gres.conf").write_text("Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n")  # nothing computes there
    (folder / "mpi.conf").write_text(f"PMIxCliTmpDirBase={folder}/pmix\n")
    tag = f"ms{os.getpid() % 10_000}{time.monotonic_ns() % 1000}"
    slurm = Slurm(folder, moonpad, port, {**os.environ, "SLURM_CONF": str(config)}, {}, tag)
    wire(tag)
    try:
        for name in ("slurmctld", *NODES):
            slurm.start(name)
        wait_until(lambda: slurm.sinfo() == ["idle", "idle"], lambda: str(slurm.sinfo()), 90.0)
        yield slurm
    finally:
        slurm.asked("scancel", "--user", "root")
        try:
            wait_until(lambda: not slurm.steps(), lambda: str(slurm.steps()), 60.0)
        finally:
            for daemon in slurm.daemons.values():
                daemon.terminate()
            for daemon in slurm.daemons.values():
                daemon.wait(20)
            for which in "ab":
                run("ip", "netns", "del", f"{tag}-{which}")
