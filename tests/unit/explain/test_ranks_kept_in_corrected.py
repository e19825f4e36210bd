"""A corrected command that each machine runs takes the rank from where the script takes it: bash itself fills it in."""

from __future__ import annotations

import subprocess

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_json import explain_json
from moonpad.report.shell_line import typed_lines
from tests.unit.explain.judging import ask

SERVE = (
    "sglang serve --model-path moonshotai/Kimi-K3 --trust-remote-code --tp-size 16 --nnodes 2 --dist-init-addr h:20000"
    " --host 127.0.0.1 --reasoning-parser kimi_k3 --tool-call-parser kimi_k2 "
)
OF_GROUP = '"${NODE_RANK:-${LWS_WORKER_INDEX:-0}}"'


def corrected(text: str) -> str:
    (judged,) = ask(text, "2x8xB300")
    (line,) = judged.corrected
    return "\n".join(typed_lines(line))


def started(program: str, command: str, given: dict[str, str]) -> list[str]:
    """The arguments that bash makes of it on one machine."""
    script = f"{program}() {{ printf '%s\\n' \"$@\"; }}\n{command}"
    done = subprocess.run(
        ["bash", "-c", script], env={"PATH": "/usr/bin:/bin", **given}, capture_output=True, text=True, check=True
    )
    return done.stdout.replace("--node-rank=", "--node-rank\n").split("\n")


def rank(command: str, given: dict[str, str]) -> str:
    words = started("sglang", command, given)
    return words[words.index("--node-rank") + 1]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"NODE_RANK={OF_GROUP}\n{SERVE} --node-rank ${{NODE_RANK}}", "LWS_WORKER_INDEX"),
        (f"export NODE_RANK={OF_GROUP}\n{SERVE} --node-rank $NODE_RANK", "LWS_WORKER_INDEX"),
        (f"{SERVE} --node-rank ${{SLURM_PROCID:-0}}", "SLURM_PROCID"),
        (f"{SERVE} --node-rank=${{SLURM_PROCID:-0}}", "SLURM_PROCID"),
        (f"{SERVE} --node-rank {OF_GROUP}", "LWS_WORKER_INDEX"),
        (f"RANK=${{SLURM_NODEID:-0}}\n{SERVE} --node-rank $RANK", "SLURM_NODEID"),
    ],
)
def test_each_machine_has_its_own(text: str, name: str) -> None:
    command = corrected(text)
    assert "kimi_k3" in command
    assert rank(command, {name: "1"}) == "1"
    assert rank(command, {}) == "0"


def test_a_variable_of_a_container_is_that_of_the_machine() -> None:
    run = "docker run --gpus all -e NODE_RANK=${SLURM_NODEID:-0} lmsysorg/sglang:v0.5.23"
    command = corrected(f"{run} {SERVE} --node-rank ${{SLURM_NODEID:-0}}")
    words = started("docker", command, {"SLURM_NODEID": "1"})
    assert words[words.index("-e") + 1] == "NODE_RANK=1"
    assert words[words.index("--node-rank") + 1] == "1"


def test_a_number_stays_one() -> None:
    assert rank(corrected(f"{SERVE} --node-rank 1"), {"NODE_RANK": "0", "SLURM_PROCID": "0"}) == "1"


@pytest.mark.parametrize(("parser", "count"), [("kimi_k2", 1), ("kimi_k3", 0)])
def test_json_has_a_corrected_command_only_where_something_is_corrected(parser: str, count: int) -> None:
    text = SERVE.replace("--tool-call-parser kimi_k2", f"--tool-call-parser {parser}")
    text = f"export NODE_RANK={OF_GROUP}\n{text} --node-rank $NODE_RANK"
    (row,) = explain_json(ask(text, "2x8xB300"), read_script(text))["deployments"]
    assert len(row["corrected"]) == count
