"""Ranks of a Slurm job that the batch script's own shell fills in."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

HEAD = """#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
HEAD=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
"""
SERVER = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp-size 16 --nnodes 2 "
SERVER += '--dist-init-addr "$HEAD:5000" --trust-remote-code --node-rank '


def told(text: str) -> list[str]:
    findings = [finding for judged in ask(HEAD + text) for finding in judged.findings]
    return [finding.where for finding in findings if "batch script fills" in finding.message]


@pytest.mark.parametrize(
    "text",
    [
        f"srun {SERVER}$SLURM_NODEID\n",
        f'srun --ntasks=2 --nodes=2 {SERVER}"${{SLURM_PROCID}}" &\nwait\n',
        f"srun --container-image=x.sqsh {SERVER}$SLURM_NODEID\n",
        f'NODE_RANK=$SLURM_NODEID\nsrun {SERVER}"$NODE_RANK"\n',
        'srun bash -c "' + SERVER.replace('"', "") + '$SLURM_PROCID"\n',
    ],
)
def test_a_rank_of_the_batch_script(text: str) -> None:
    assert told(text) == ["--node-rank"]


@pytest.mark.parametrize(
    "text",
    [
        f"srun bash -c '{SERVER}$SLURM_NODEID'\n",
        'srun bash -c "' + SERVER.replace('"', "") + '\\$SLURM_PROCID"\n',
        'CMD="' + SERVER.replace('"', "") + '\\$SLURM_NODEID"\nsrun apptainer exec x.sif bash -c "$CMD"\n',
        "CMD='" + SERVER.replace('"', "") + '$SLURM_NODEID\'\nsrun apptainer exec x.sif bash -c "$CMD"\n',
        f"{SERVER}$SLURM_NODEID\n",
        f"srun --nodes=1 --ntasks=1 {SERVER}$SLURM_NODEID\n",
        f'for i in 0 1; do srun -N 1 -n 1 -w "node$i" {SERVER}$i & done\n',
        "cat > run.sh <<'EOF'\n" + SERVER + "$SLURM_PROCID\nEOF\nsrun bash run.sh\n",
        "srun bash <<'EOF'\n" + SERVER + "$SLURM_PROCID\nEOF\n",
    ],
)
def test_a_rank_of_the_task(text: str) -> None:
    assert told(text) == []
