"""Lines of a batch script that Slurm or bash read otherwise than they look."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

RUN = "python3 -m sglang.launch_server --model-path /l/Kimi-K2-Instruct --tp 16 --nnodes 2 --trust-remote-code"
JOB = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n"
VLLM = "vllm serve moonshotai/Kimi-K2-Instruct -tp 8 --trust-remote-code"


def told(text: str, words: str) -> int:
    return sum(words in finding.message for judged in ask(text) for finding in judged.findings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"#!/bin/bash\nmodule purge\n#SBATCH --gres=gpu:8\n{VLLM}\n", 1),
        (f"#!/bin/bash\n# a job\n\n#SBATCH --gres=gpu:8\n\n#SBATCH -t 1:00:00\nmodule purge\n{VLLM}\n", 0),
        (f"#!/bin/bash\n#SBATCH --gres=gpu:8\nmodule purge\n##SBATCH -t 1\n{VLLM}\n", 0),
        (f"Submit it:\n\n```bash\n#!/bin/bash\n#SBATCH --gres=gpu:8\n{VLLM}\n```\n", 0),
    ],
)
def test_a_directive_below_a_command(text: str, expected: int) -> None:
    assert told(text, "sbatch reads no directive below") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("export MASTER_ADDR=$SLURM_JOB_NODELIST", 1),
        ('HEAD="${SLURM_NODELIST}"', 1),
        ('export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)', 0),
        ("NODELIST=$SLURM_JOB_NODELIST", 0),
    ],
)
def test_the_list_of_nodes_as_an_address(line: str, expected: int) -> None:
    run = f"srun bash -c '{RUN} --node-rank $SLURM_NODEID --dist-init-addr $MASTER_ADDR:5000'"
    assert told(f"{JOB}{line}\n{run}\n", "is written like node[01-02]") == expected


@pytest.mark.parametrize(
    ("values", "first", "expected"),
    [
        ("{0..$N}", "", 1),
        ("{0..$((N-1))}", "", 1),
        ("{1..${N}}", "", 1),
        ("{0..3}", "", 0),
        ("$(seq 0 $N)", "", 0),
        ("{0..$N}", "#!/bin/zsh\n", 0),
    ],
)
def test_braces_around_a_variable(values: str, first: str, expected: int) -> None:
    text = f"{first}N=2\nfor r in {values}; do\n  ssh -n n$r '{RUN} --node-rank 0 --dist-init-addr n0:5000' &\ndone\n"
    assert told(text, "bash expands braces before variables") == expected


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("--export=HF_HOME=/s/hf", 1),
        ("--export=ALL,HF_HOME=/s/hf", 0),
        ("--export=ALL", 0),
        ("--export=PATH=/v/bin,HF_HOME=/s/hf", 0),
        ("", 0),
    ],
)
def test_the_environment_of_a_step(option: str, expected: int) -> None:
    assert told(f"{JOB}srun -N1 -n1 {option} {VLLM}\n", "hands on that alone") == expected
