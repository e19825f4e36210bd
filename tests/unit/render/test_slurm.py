"""The job of Slurm as a text; a real Slurm runs it in tests/e2e/test_slurm.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from moonpad.plan.from_spec import runtime_of
from moonpad.render.shell import render_shell
from moonpad.render.slurm import JOB, render_slurm
from moonpad.render.targets import deployment_of
from moonpad.spec.loader import parse_spec
from tests.configurations import make_plan
from tests.unit.render.deployments import SPECS

SHELLCHECK = Path(sys.executable).with_name("shellcheck")


def job(name: str) -> str:
    spec = parse_spec(SPECS[name], name=name)
    deployment = deployment_of(spec, make_plan(spec, 0), runtime_of(spec))
    files = render_slurm(deployment, render_shell(deployment))
    assert {path: file for path, file in files.items() if path != JOB} == render_shell(deployment)
    return files[JOB].text


def directives(text: str) -> list[str]:
    return [line.removeprefix("#SBATCH ") for line in text.splitlines() if line.startswith("#SBATCH")]


@pytest.mark.parametrize("name", SPECS)
def test_shellcheck(name: str) -> None:
    command = (SHELLCHECK, "--shell=bash", "-")
    done = subprocess.run(command, input=job(name), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_directives_stand_before_the_first_command() -> None:
    """sbatch stops reading them there."""
    lines = job("two-nodes").splitlines()
    first = next(number for number, line in enumerate(lines) if line and not line.startswith("#"))
    assert not any(line.startswith("#SBATCH") for line in lines[first:])


@pytest.mark.parametrize(
    ("name", "nodes", "devices"),
    [
        ("tiny", 1, None),
        ("keyed", 1, "--gpus-per-node=8"),
        ("exposed", 1, "--gpus-per-node=8"),
        ("data-parallel", 4, "--gpus-per-node=8"),
        ("atlas", 1, "--gres=npu:16"),
    ],
)
def test_what_is_asked_for(name: str, nodes: int, devices: str | None) -> None:
    asked = directives(job(name))
    assert f"--nodes={nodes}" in asked
    assert [word for word in asked if word.startswith(("--gpus", "--gres"))] == ([devices] if devices else [])


def test_every_host_is_known_before_a_rank_starts() -> None:
    text = job("data-parallel")
    ranks = text.index('exec bash "node-$SLURM_NODEID/run.sh"')
    for number in range(4):
        assert text.index(f"export MOONPAD_HOST_NODE_{number}\n") < ranks


def test_no_key_is_written_down() -> None:
    assert "KIMI_KEY" not in job("keyed")


def test_a_front_is_a_step_beside_the_engine() -> None:
    text = job("sglang")
    assert 'nodelist="${hosts[0]}" bash node-0/front.sh &' in text
