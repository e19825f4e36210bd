"""One line for all machines that asks each of them for its own address as the place to meet."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

JOB = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n"
SERVE = "vllm serve moonshotai/Kimi-K2.5 -tp 8 -pp 2 --nnodes 2 --trust-remote-code"


def told(text: str) -> int:
    return sum(
        "each machine's own address" in each.message for one in ask(text, on="2x8xH100") for each in one.findings
    )


@pytest.mark.parametrize(
    "line",
    [
        f"srun bash -c '{SERVE} --node-rank $SLURM_PROCID --master-addr $(hostname -i)'\n",
        f"{SERVE} --node-rank $SLURM_PROCID --master-addr $(hostname -I)\n",
    ],
)
def test_each_waits_for_itself(line: str) -> None:
    assert told(JOB + line) == 1


@pytest.mark.parametrize(
    "line",
    [
        f'srun bash -c "{SERVE} --node-rank \\$SLURM_PROCID --master-addr $(hostname -i)"\n',
        f"HEAD=$(hostname -i)\nexport HEAD\nsrun bash -c '{SERVE} --node-rank $SLURM_PROCID --master-addr $HEAD'\n",
        f"{SERVE} --node-rank 0 --master-addr $(hostname -i)\n",
        f"srun bash -c '{SERVE} --node-rank $SLURM_PROCID --master-addr $MASTER_ADDR'\n",
    ],
)
def test_the_first_machine_asks_for_all(line: str) -> None:
    assert told(JOB + line) == 0
