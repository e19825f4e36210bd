"""What Slurm sets by the directives of a script: conditions on it, and shells that steps of the job start."""

from __future__ import annotations

import pytest

from moonpad.explain.commands import Command
from moonpad.explain.programs import is_server
from moonpad.explain.script import read_script
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code -tp 4 -pp $PP"
JOINED = "--nnodes $SLURM_NNODES --node-rank $SLURM_NODEID --master-addr $HEAD"
SCRIPT = """#!/bin/bash
#SBATCH --nodes={nodes}
#SBATCH --gres=gpu:h100:4
PP=$SLURM_JOB_NUM_NODES
JOIN=""
if [ "$SLURM_NNODES" -gt 1 ]; then
  JOIN="{joined}"
fi
srun {serve} $JOIN
"""
INSIDE = """#!/bin/bash
#SBATCH -N {nodes}
#SBATCH --gres=gpu:h100:4
export PP={nodes} HEAD=$(hostname)
{step} bash -c '
  JOIN=""
  if [ "${{SLURM_JOB_NUM_NODES}}" -gt 1 ]; then
    JOIN="--nnodes ${{SLURM_JOB_NUM_NODES}} --node-rank ${{SLURM_NODEID}} --master-addr ${{HEAD}}"
    [ "${{SLURM_NODEID}}" != 0 ] && JOIN="$JOIN --headless"
  fi
  {serve} $JOIN
'
"""


def started(text: str) -> Command:
    (command,) = [each for each in read_script(text).commands if is_server(each.program)]
    return command


def unjoined(text: str) -> list[Severity]:
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [finding.severity for finding in findings if "how the ranks reach each other" in finding.message]


@pytest.mark.parametrize(
    "text",
    [
        SCRIPT.format(nodes=4, joined=JOINED, serve=SERVE),
        INSIDE.format(nodes=3, step='srun --nodes="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1', serve=SERVE),
        INSIDE.format(nodes=3, step="srun apptainer exec --nv engine.sif", serve=SERVE),
    ],
)
def test_a_condition_that_the_directives_decide(text: str) -> None:
    assert unjoined(text) == []
    assert any(word.text == "--nnodes" for word in started(text).argv)


def test_one_node() -> None:
    command = started(SCRIPT.format(nodes=1, joined=JOINED, serve=SERVE))
    assert not any(word.text == "--nnodes" for word in command.argv)
    assert command.left_open == ()


def test_a_call_with_other_numbers_decides_nothing() -> None:
    text = SCRIPT.format(nodes=1, joined=JOINED, serve=SERVE)
    command = started(text.replace("PP=", "# sbatch --nodes=4 serve.sh\nPP=", 1))
    assert any("--nnodes" in words for each in command.left_open for _, words in each.added) or command.choices
    inside = INSIDE.format(nodes=1, step="srun", serve=SERVE)
    called = inside.replace("export PP=", "# sbatch -N 4 serve.sh\nexport PP=", 1)
    assert [bool(started(text).left_open) for text in (inside, called)] == [False, True]


def test_other_machines_do_not_get_them() -> None:
    text = INSIDE.format(nodes=3, step="ssh $HEAD", serve=SERVE)
    command = started(text)
    assert not any(word.text == "--nnodes" for word in command.argv)
    assert command.left_open != () or any(word.unresolved for word in command.argv)


def test_a_step_of_its_own_counts() -> None:
    text = INSIDE.format(nodes=3, step="srun --nodes=1", serve="export PP=${SLURM_NNODES:-1}; " + SERVE)
    texts = [word.text for word in started(text).argv]
    assert texts[texts.index("-pp") + 1] == "1"


def test_what_no_directive_decides() -> None:
    """A condition that may add it is enough: nothing says that it does not hold."""
    text = f"""PP=3
ARGS=(--port 8100)
if [ "$MACHINES" -gt 1 ]; then ARGS+=(--nnodes 3 --node-rank $RANK --master-addr $HEAD); fi
{SERVE} "${{ARGS[@]}}"  # on 3x4xH100
"""
    assert unjoined(text) == []
    assert unjoined(text.replace("--nnodes 3 --node-rank $RANK --master-addr $HEAD", "--seed 1")) != []


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("--env NCCL_SOCKET_IFNAME=ib0,ib1,ib2", {"NCCL_SOCKET_IFNAME": "ib0,ib1,ib2"}),
        ("--env NCCL_DEBUG=INFO,NCCL_IB_HCA=mlx5_0", {"NCCL_DEBUG": "INFO", "NCCL_IB_HCA": "mlx5_0"}),
    ],
)
def test_lists_with_commas_in_variables_of_images(given: str, expected: dict[str, str]) -> None:
    text = f"apptainer exec --nv {given} engine.sif vllm serve moonshotai/Kimi-K2.5 -tp 8\n"
    env = started(text).env
    assert {name: env[name].text.removeprefix(f"{name}=") for name in expected} == expected


GRES = """#!/bin/bash
# {about}
#SBATCH --nodes=2
#SBATCH --gres=gpu:{kind}:4
srun --gres=gpu:{kind}:4 vllm serve moonshotai/Kimi-K2.5 --trust-remote-code -tp 4 -pp 2 \\
  --nnodes 2 --node-rank $SLURM_NODEID --master-addr $HEAD
"""


@pytest.mark.parametrize(
    ("about", "kind", "expected"),
    [
        ("Serves on the GH200 partition", "h200", "2x4xGH200"),
        ("Two nodes of 4 GH200", "h100", "2x4xGH200"),
        ("Serves on one partition", "gh200", "2x4xGH200"),
        ("GH200 or H200 nodes", "h200", "2x4xH200"),
        ("Serves on the partition", "h200", "2x4xH200"),
    ],
)
def test_superchips_that_a_cluster_calls_by_their_gpu(about: str, kind: str, expected: str) -> None:
    (judged,) = ask(GRES.format(about=about, kind=kind))
    assert judged.cluster is not None
    assert judged.cluster.name == expected
