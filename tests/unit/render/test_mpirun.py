"""The files for mpirun as texts; a real Open MPI runs them in tests/e2e/test_mpirun.py and in containers beside it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from moonpad.render.targets import render_for
from moonpad.spec.loader import parse_spec
from moonpad.values.errors import UsageError
from tests.configurations import make_plan
from tests.unit.render.deployments import DIGEST

SHELLCHECK = Path(sys.executable).with_name("shellcheck")
SPEC = """
model = "m/K2"
engine = {engine}

[hardware]
cluster = "{cluster}"

[layout]
tp = {tp}
"""
BARE, IMAGE = '"tensorrt-llm"', f'{{ name = "tensorrt-llm", image = "i@{DIGEST}" }}'


def files(engine: str, cluster: str = "2x8xH200", tp: int = 16, extra: str = "") -> Mapping[str, str]:
    spec = parse_spec(SPEC.format(engine=engine, cluster=cluster, tp=tp) + extra, name="k2")
    return {path: file.text for path, file in render_for("mpirun", spec, make_plan(spec, 0)).files.items()}


@pytest.mark.parametrize("engine", [BARE, IMAGE])
def test_shellcheck(engine: str) -> None:
    for path, text in files(engine).items():
        if path.endswith(".sh"):
            done = subprocess.run(
                (SHELLCHECK, "--shell=bash", "-"), input=text, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, (path, done.stdout)


def test_which_files() -> None:
    assert set(files(BARE)) == {"node-0/run.sh", "node-0/mpi.sh", "node-0/firewall.sh", "node-1/firewall.sh"}
    three = set(files(IMAGE, "3x8xH200", 24))
    assert three == {
        *(f"node-{node}/{name}" for node in range(3) for name in ("run.sh", "firewall.sh")),
        *("node-0/mpi.sh", "node-1/sshd.sh", "node-2/sshd.sh", "keys.sh", "image/Containerfile"),
    }


def test_the_port_of_the_hosts_own_daemons() -> None:
    hosts = '\n[[hosts]]\naddress = "10.0.0.1"\n\n[[hosts]]\naddress = "10.0.0.2"\nssh = "b"\nport = 2233\n'
    assert "'-p 2233' HF_HUB_OFFLINE" in files(BARE, extra=hosts)["node-0/run.sh"]
    assert "'' HF_HUB_OFFLINE" in files(BARE)["node-0/run.sh"]


def test_what_containers_are_not_given() -> None:
    """The mistakes of the guide: a privileged container, root by password, a daemon on every address."""
    made = files(IMAGE)
    text = "\n".join(made.values())
    assert not re.search(r"privileged|PermitRootLogin yes|StrictHostKeyChecking[ =]no|--ipc|(?<!\d)0\.0\.0\.0", text)
    daemon = made["node-1/run.sh"]
    assert "ListenAddress '\"${MOONPAD_HOST_NODE_1}\"'" in daemon
    assert "--network host" in daemon
    assert "id_ed25519" not in daemon, "the first host alone has the key"
    assert 'restrict,from=\\"${MOONPAD_HOST_NODE_0}\\"' in made["keys.sh"]


def test_the_daemons_port_is_shut_for_other_hosts() -> None:
    assert "tcp dport ${MOONPAD_PORT_SSH_1_SSH} drop" in files(IMAGE)["node-1/firewall.sh"]


@pytest.mark.parametrize(("engine", "cluster", "tp"), [('"vllm"', "2x8xH200", 16), (BARE, "8xH200", 8)])
def test_nothing_to_start_by_mpi(engine: str, cluster: str, tp: int) -> None:
    with pytest.raises(UsageError, match="does not start its ranks by MPI, or has one machine alone"):
        files(engine, cluster, tp)


def test_slurm_starts_the_ranks_itself() -> None:
    spec = parse_spec(SPEC.format(engine=BARE, cluster="2x8xH200", tp=16), name="k2")
    made = render_for("slurm", spec, make_plan(spec, 0)).files
    job = made["job.sbatch"].text
    assert "#SBATCH --ntasks-per-node=8" in job
    assert "srun --mpi=pmix" in job
    assert "--ntasks=16 --ntasks-per-node=8" in job
    script = made["node-0/run.sh"].text
    assert 'exec "${MOONPAD_ENGINE}"/bin/trtllm-llmapi-launch "${MOONPAD_ENGINE}"/bin/trtllm-serve' in script
    assert "mpirun" not in job + script
    spec = parse_spec(SPEC.format(engine=IMAGE, cluster="2x8xH200", tp=16), name="k2")
    with pytest.raises(UsageError, match="in containers by a plugin alone"):
        render_for("slurm", spec, make_plan(spec, 0))
