"""`render --to mpirun` by a real Open MPI between two real sshd on another port, each in namespaces of its own.

What the ranks run is a stand-in (mpi_stand_in.py). Needs root, Debian's openmpi-bin and openssh-server.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.conftest import Moonpad, one_and_drawn
from tests.e2e.mpi_hosts import THERE
from tests.e2e.mpi_site import SECRET, TARGETS, MpiSite, mpi_site
from tests.faults.helpers import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture
def site(moonpad: Moonpad, clean_world: None, tmp_path: Path) -> Iterator[MpiSite]:
    with mpi_site(moonpad, tmp_path) as site:
        yield site


@pytest.mark.parametrize("number", one_and_drawn(range(7)))
def test_start_and_stop(site: MpiSite, number: int) -> None:
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
    site.await_empty()


@pytest.mark.parametrize("target", TARGETS)
def test_killed_hard_at_a_drawn_moment(site: MpiSite, target: str) -> None:
    """What is left of the others is ended, on both hosts, and the status says that it was no stop."""
    start = site.start()
    drawn = random.Random(target)
    wait_until(lambda: site.pids(target), lambda: f"{site.left()}", 30.0)
    time.sleep(drawn.uniform(0.0, 4.0))
    os.kill(drawn.choice(site.pids(target)), signal.SIGKILL)
    code, output = start.ended()
    assert code not in (0, 3), output
    site.await_empty()


def test_what_a_killed_start_left_is_ended_by_the_next(site: MpiSite) -> None:
    """Killed with its script: mpirun gets TERM, and what the ranks have started beside themselves is left."""
    start = site.start()
    start.await_ready()
    start.send(signal.SIGKILL)
    start.entering.wait(30)
    assert site.start(MOONPAD_STOP="1").ended()[0] == 0
    site.await_empty()


def test_one_at_a_time(site: MpiSite) -> None:
    start = site.start()
    start.await_ready()
    second = site.hosts.inside("a", "bash", str(site.files / "node-0" / "run.sh"))
    refused = subprocess.run(second, env=site.env, capture_output=True, text=True, check=False, timeout=30)
    assert refused.returncode == 3
    assert "already runs here" in refused.stderr
    assert site.answers()
    start.send(signal.SIGTERM)
    assert start.ended()[0] == 0


def test_the_other_host_is_lost(site: MpiSite) -> None:
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


def test_a_word_that_would_be_parted(site: MpiSite) -> None:
    code, output = site.start(MOONPAD_CHECKPOINT="/models/of ours").ended()
    assert code == 2
    assert "it would lose '/models/of ours'" in output
