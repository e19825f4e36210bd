"""Processes of Ray that end with their step or container, and steps of Slurm that do not meet."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Instruct -tp 8 -pp 2 --distributed-executor-backend ray --trust-remote-code"
HEAD = "ray start --head --port=6379"
JOIN = "ray start --address=10.0.0.1:6379"
RUN = "docker run -d --network host --ipc=host --gpus all --entrypoint /bin/bash vllm/vllm-openai:v0.15.1 -c"
JOB = "#!/bin/bash\n#SBATCH --nodes={nodes}\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=8\n"
SGLANG = "python3 -m sglang.launch_server --model-path /l/Kimi-K2-Instruct --tp 16 --nnodes 2 --trust-remote-code"


def told(text: str, words: str) -> int:
    return sum(words in finding.message for judged in ask(text) for finding in judged.findings)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"srun -N1 -n1 {HEAD}", 1),
        (f"srun -N1 -n1 {HEAD} &", 1),
        (f"srun -N1 -n1 {HEAD} --block &", 0),
        (f"srun -N1 -n1 bash -c '{HEAD}; sleep infinity' &", 0),
        (HEAD, 0),
        (f"ssh n1 {HEAD}", 0),
        (f'{RUN} "{HEAD}"', 1),
        (f'{RUN} "{HEAD} --block"', 0),
        (f'{RUN} "{HEAD} && tail -f /dev/null"', 0),
        (f'{RUN} "{HEAD} && {SERVE}"', 0),
    ],
)
def test_ray_that_ends_with_what_started_it(line: str, expected: int) -> None:
    assert told(f"{line}\nsleep 10\n{SERVE}\n", "without --block ray start returns at once") == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (HEAD, HEAD, 1),
        (f"Node1: {HEAD}", f"Node2: {HEAD}", 1),
        (HEAD, JOIN, 0),
        (HEAD, f"ray stop\n{HEAD}", 0),
        (f"if [ $1 = a ]; then\n{HEAD}\nelse\n{HEAD}\nfi", JOIN, 0),
    ],
)
def test_two_heads_of_one_cluster(first: str, second: str, expected: int) -> None:
    last = f"Node1: {SERVE}" if first.startswith("Node1") else SERVE
    assert told(f"{first}\n{second}\n{last}\n", "--head starts a second cluster") == expected


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ("", 1),
        ('echo "up at $head"\n', 1),
        ("wait\n", 0),
        ("tail -f log\n", 0),
        ("sleep 3600\n", 0),
        ("./bench.sh\n", 0),
    ],
)
def test_a_job_that_ends_before_its_steps(end: str, expected: int) -> None:
    run = f"{SGLANG} --node-rank $i --dist-init-addr h:5000"
    text = f"{JOB.format(nodes=2)}for i in 0 1; do\n  srun -N1 -n1 -w n$i {run} &\ndone\n{end}"
    assert told(text, "the batch script ends behind it") == expected


def test_a_step_in_the_foreground_is_waited_for() -> None:
    line = f"srun {SGLANG} --node-rank 0 --dist-init-addr h:5000 > log 2>&1\n"
    assert told(JOB.format(nodes=2) + line, "the batch script ends behind it") == 0


@pytest.mark.parametrize(("nodes", "options", "expected"), [(4, "", 1), (1, "", 1), (2, "", 0), (4, "-N 2 ", 0)])
def test_nodes_of_the_job_and_of_the_group(nodes: int, options: str, expected: int) -> None:
    run = f"{SGLANG} --node-rank $SLURM_NODEID --dist-init-addr $HEAD:5000"
    text = f"{JOB.format(nodes=nodes)}export HEAD=n1\nsrun {options}bash -c '{run}'\n"
    assert told(text, "on each of which srun starts this line") == expected


@pytest.mark.parametrize(
    ("outside", "inside", "place", "expected"),
    [
        ("", "M=$(hostname -s); ", "$M:5000", 1),
        ("", "export M=$(hostname); ", "${M}:5000", 1),
        ("", "P=$((20000 + RANDOM % 1000)); ", "$HEAD:$P", 1),
        ("export M=$(hostname -s)\n", "", "$M:5000", 0),
        ("", "ME=$(hostname); echo $ME; ", "$HEAD:5000", 0),
    ],
)
def test_a_place_to_meet_that_each_task_makes_up(outside: str, inside: str, place: str, expected: int) -> None:
    run = f"{SGLANG} --node-rank $SLURM_PROCID --dist-init-addr {place}"
    text = f"{JOB.format(nodes=2)}export HEAD=n1\n{outside}srun bash -c '{inside}{run}'\n"
    assert told(text, "is filled in by every task for itself") == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--nnodes 2 --node-rank 1", 0),
        ("--node-rank 1", 1),
        ("--node-rank 0", 0),
        ("--node-rank $R", 0),
    ],
)
def test_a_rank_without_a_number_of_nodes(options: str, expected: int) -> None:
    run = "python3 -m sglang.launch_server --model-path /l/Kimi-K2-Instruct --tp 16 --dist-init-addr 10.0.0.1:5000"
    assert told(f"{run} {options} --trust-remote-code\n", "without --nnodes, which is 1 then") == expected


@pytest.mark.parametrize(
    ("address", "before", "size", "expected"),
    [
        ("127.0.0.1:5000", "", 16, 1),
        ("localhost:5000", "", 16, 1),
        ("10.0.0.1:5000", "", 16, 0),
        ("127.0.0.1:5000", "", 8, 0),  # two halves of one machine
        ("127.0.0.1:5000", "CUDA_VISIBLE_DEVICES=8,9,10,11,12,13,14,15 ", 16, 0),
    ],
)
def test_a_later_machine_that_asks_itself(address: str, before: str, size: int, expected: int) -> None:
    run = f"python3 -m sglang.launch_server --model-path /l/Kimi-K2-Instruct --tp {size} --nnodes 2 --trust-remote-code"
    text = "\n\n".join(f"{before}{run} --node-rank {rank} --dist-init-addr {address}" for rank in (0, 1))
    assert told(text, "the first rank is on another") == expected
