"""`render --to slurm` under a real Slurm: its controller and two of its node daemons, each node in namespaces of its
own, without munge. With the fake engine over two nodes, and with the real one. Needs Debian's slurm-wlm.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from moonpad.environments.installed import InstalledEngine
from tests.conftest import Moonpad, one_and_drawn
from tests.e2e.mpi_stand_in import RECORDS, make_stand_in
from tests.e2e.slurm import NODES, TWO_HOSTS, Slurm, slurm_cluster
from tests.faults.helpers import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture
def slurm(moonpad: Moonpad, clean_world: None, free_port: int, tmp_path: Path) -> Iterator[Slurm]:
    with slurm_cluster(tmp_path / "slurm", moonpad, free_port) as slurm:
        yield slurm


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


@pytest.mark.parametrize("seed", one_and_drawn(range(5)))
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


@pytest.mark.parametrize("seed", one_and_drawn(range(5)))
def test_a_node_is_lost(slurm: Slurm, fake: Path, seed: int) -> None:
    """Its daemon and what it runs are killed at once: the job ends as a whole, and the log says which node it was."""
    job = slurm.submit(fake, TWO_HOSTS)
    slurm.await_ready(job)
    lost = NODES[1]
    time.sleep(random.Random(seed).uniform(0.0, 3.0))
    slurm.lose(lost)
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
    if "pmix" not in slurm.asked("srun", "--mpi=list").stdout:
        pytest.skip("this Slurm has no plugin for PMIx")
    (tmp_path / "records").mkdir()
    return make_stand_in(tmp_path / "engine"), tmp_path / "records"


@pytest.mark.parametrize("number", one_and_drawn(range(5)))
def test_ranks_of_mpi(slurm: Slurm, stand_in: tuple[Path, Path], number: int) -> None:
    """TensorRT-LLM's ranks by `srun --mpi=pmix`, two a node: they find one another, and neither scancel nor a rank that
    is killed leaves any. Without cgroups Slurm follows processes by their parents, so what the rank had started is
    killed with it."""
    engine, records = stand_in
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
