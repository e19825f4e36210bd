"""A rank that is written as a number in a line that srun starts on several nodes: the group never comes together."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SGLANG = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 16 --nnodes 2 --node-rank {}"
SGLANG += " --dist-init-addr 10.0.0.1:5000 --trust-remote-code"
VLLM = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 --pipeline-parallel-size 2 --nnodes 2"
VLLM += " --node-rank {} --master-addr 10.0.0.1 --trust-remote-code"
HEADER = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gres=gpu:8\n"


def same(text: str) -> list[Severity]:
    found = [finding for judged in ask(text, "2x8xH200") for finding in judged.findings]
    return [each.severity for each in found if "so all have rank" in each.message]


@pytest.mark.parametrize(
    "text",
    [
        f"{HEADER}srun {SGLANG.format(0)}\n",
        f"{HEADER}srun --container-image=lmsysorg/sglang:v0.5.5 {SGLANG.format(1)}\n",
        f"{HEADER}srun bash -c '{VLLM.format(0)}'\n",
        f"srun --nodes=2 --ntasks-per-node=1 {VLLM.format(0)}\n",
        f"srun -N 2 {SGLANG.format(0)}\n",
    ],
)
def test_all_nodes_get_the_rank_that_is_written(text: str) -> None:
    assert same(text) == [Severity.WARNING]


@pytest.mark.parametrize(
    "text",
    [
        f"{HEADER}srun bash -c '{SGLANG.format('$SLURM_NODEID')}'\n",
        f"{HEADER}srun --nodes=1 --ntasks=1 -w node0 {SGLANG.format(0)} &\n",
        f"{HEADER}srun -N1 -r 0 {SGLANG.format(0)} &\nsrun -N1 -r 1 {SGLANG.format(1)}\n",
        f"{HEADER}srun bash -c 'if [ $SLURM_PROCID -eq 0 ]; then {SGLANG.format(0)}; else {SGLANG.format(1)}; fi'\n",
        f"{HEADER}for i in 0 1; do srun -N1 -n1 -w n$i {SGLANG.format('$i')} & done\n",
        f"srun --nodes=1 {SGLANG.format(0)}\n",
    ],
)
def test_a_rank_of_its_own_is_left(text: str) -> None:
    assert same(text) == []
