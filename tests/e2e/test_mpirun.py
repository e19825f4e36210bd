"""`render --to mpirun` by a real Open MPI between two real sshd on another port, each in namespaces of its own.

What the ranks run is a stand-in (mpi_stand_in.py). Needs root, Debian's openmpi-bin and openssh-server.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import Moonpad
from tests.e2e.mpi_hosts import HERE, THERE, MpiHosts, mpi_hosts
from tests.e2e.mpi_stand_in import RECORDS, make_stand_in
from tests.faults.helpers import wait_until

pytestmark = pytest.mark.slow
SPEC = """
model = "kimi-k2-tiny"
engine = "tensorrt-llm"

[hardware]
cluster = "2x2xH200"

[layout]
dp = 4

[endpoint]
port = 8123
"""
SECRET = "s3 cret"
TARGETS = {"mpirun": ("a", "mpirun --hostfile"), "orted": ("b", "bin/orted"), "rank": ("b", "trtllm-llmapi-launch")}


@dataclass
class Site:
    hosts: MpiHosts
    files: Path
    records: Path
    env: dict[str, str]

    def start(self, **env: str) -> Start:
        for path in self.records.iterdir():
            path.unlink()
        command = self.hosts.inside("a", "bash", str(self.files / "node-0" / "run.sh"))
        given = {**self.env, **env}
        entering = subprocess.Popen(
            command, env=given, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return Start(entering, self)

    def record(self, name: str) -> Any:
        path = self.records / f"{name}.json"
        try:
            return json.loads(path.read_text())
        except (OSError, ValueError):
            return None

    def answers(self, which: str = "a") -> bool:
        ask = (
            "import urllib.request as r;print(r.urlopen(r.Request('http://127.0.0.1:8123/v1/completions',b'{}'),"
            "timeout=5).read().decode())"
        )
        words = self.hosts.inside(which, "python3", "-c", ask)
        return "token" in subprocess.run(words, capture_output=True, text=True, check=False).stdout

    def left(self) -> dict[int, str]:
        return {**self.hosts.processes("a"), **self.hosts.processes("b")}

    def pids(self, target: str) -> list[int]:
        which, words = TARGETS[target]
        return [pid for pid, command in self.hosts.processes(which).items() if words in command]


@dataclass
class Start:
    """A start on the first host; `entering` is the command that goes there."""

    entering: subprocess.Popen[str]
    site: Site

    def send(self, number: signal.Signals) -> None:
        children = Path(f"/proc/{self.entering.pid}/task/{self.entering.pid}/children").read_text().split()
        os.kill(int(children[0]), number)

    def await_ready(self) -> None:
        wait_until(
            lambda: self.site.record("serve") and self.site.record("rank-3") and self.site.answers(),
            lambda: f"{self.entering.poll()} {self.site.left()}",
            60.0,
        )

    def ended(self, limit_s: float = 60.0) -> tuple[int, str]:
        output, _ = self.entering.communicate(timeout=limit_s)
        return self.entering.returncode, output


@pytest.fixture
def site(moonpad: Moonpad, clean_world: None, tmp_path: Path) -> Iterator[Site]:
    spec = moonpad.home / "tiny.toml"
    spec.write_text(SPEC)
    files, records = tmp_path / "files", tmp_path / "records"
    done = moonpad("render", str(spec), "--to", "mpirun", "--out", str(files))
    assert done.code == 0, done.stderr
    records.mkdir()
    with mpi_hosts(tmp_path) as hosts:
        env = {
            **os.environ,
            "MOONPAD_ENGINE": str(make_stand_in(tmp_path / "engine")),
            "MOONPAD_CHECKPOINT": str(tmp_path),
            "MOONPAD_RUN": str(tmp_path / "run"),
            "MOONPAD_HOST_NODE_0": HERE,
            "MOONPAD_HOST_NODE_1": THERE,
            "MOONPAD_SSH_WORDS": hosts.ssh_words,
            "NCCL_DEBUG": "WARN",
            "SOME_API_KEY": SECRET,
            RECORDS: str(records),
        }
        yield Site(hosts, files, records, env)
        assert site_is_empty(Site(hosts, files, records, env))


def site_is_empty(site: Site) -> bool:
    wait_until(lambda: not site.left(), lambda: f"left are {site.left()}", 10.0)
    return True


@pytest.mark.parametrize("number", range(7))
def test_start_and_stop(site: Site, number: int) -> None:
    start = site.start()
    start.await_ready()
    ranks = [site.record(f"rank-{rank}") for rank in range(4)]
    assert [(rank["rank"], rank["size"], rank["gathered"]) for rank in ranks] == [
        (place, 4, [0, 1, 2, 3]) for place in range(4)
    ]
    assert [rank["host"] for rank in ranks] == ["host-a", "host-a", "host-b", "host-b"]
    for rank in ranks:
        environment = rank["environment"]
        assert (environment["HF_HUB_OFFLINE"], environment["NCCL_DEBUG"]) == ("1", "WARN")
        assert environment["PATH"].startswith(f"{site.env['MOONPAD_ENGINE']}/bin:")
    assert all("SOME_API_KEY" not in rank["environment"] for rank in ranks[2:])
    assert not [command for command in site.left().values() if SECRET in command]
    served = site.record("serve")
    assert yaml.safe_load(served["config"]) == {"enable_attention_dp": True}
    assert served["mpi"] == []
    assert not site.answers("b")
    start.send(signal.SIGTERM if number % 2 else signal.SIGINT)
    code, output = start.ended()
    assert code == 0, output
    assert site_is_empty(site)


@pytest.mark.parametrize("target", TARGETS)
def test_killed_hard_at_a_drawn_moment(site: Site, target: str) -> None:
    """What is left of the others is ended, on both hosts, and the status says that it was no stop."""
    start = site.start()
    drawn = random.Random(target)
    wait_until(lambda: site.pids(target), lambda: f"{site.left()}", 30.0)
    time.sleep(drawn.uniform(0.0, 4.0))
    os.kill(drawn.choice(site.pids(target)), signal.SIGKILL)
    code, output = start.ended()
    assert code not in (0, 3), output
    assert site_is_empty(site)


def test_what_a_killed_start_left_is_ended_by_the_next(site: Site) -> None:
    """Killed with its script: mpirun gets TERM, and what the ranks have started beside themselves is left."""
    start = site.start()
    start.await_ready()
    start.send(signal.SIGKILL)
    start.entering.wait(30)
    assert site.start(MOONPAD_STOP="1").ended()[0] == 0
    assert site_is_empty(site)


def test_one_at_a_time(site: Site) -> None:
    start = site.start()
    start.await_ready()
    second = site.hosts.inside("a", "bash", str(site.files / "node-0" / "run.sh"))
    refused = subprocess.run(second, env=site.env, capture_output=True, text=True, check=False, timeout=30)
    assert refused.returncode == 3
    assert "already runs here" in refused.stderr
    assert site.answers()
    start.send(signal.SIGTERM)
    assert start.ended()[0] == 0


def test_the_other_host_is_lost(site: Site) -> None:
    """The stop says that it was not reached; once it is back, it is clean after another."""
    start = site.start()
    start.await_ready()
    link = ("ip", "-n", f"{site.hosts.tag}-a", "link", "set", f"{site.hosts.tag}a")
    subprocess.run((*link, "down"), check=True)
    start.send(signal.SIGTERM)
    code, output = start.ended(120.0)
    assert code == 1
    assert f"{THERE}: what was started there may still run" in output
    assert not site.hosts.processes("a")
    subprocess.run((*link, "up"), check=True)
    assert site.start(MOONPAD_STOP="1").ended()[0] == 0


def test_a_word_that_would_be_parted(site: Site) -> None:
    code, output = site.start(MOONPAD_CHECKPOINT="/models/of ours").ended()
    assert code == 2
    assert "it would lose '/models/of ours'" in output
