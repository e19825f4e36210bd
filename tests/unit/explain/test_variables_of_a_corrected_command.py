"""A corrected command sets what the person's sets, and what it uses has a value in the shell that it is typed into."""

from __future__ import annotations

import subprocess

import pytest

from moonpad.report.shell_line import filled_lines
from tests.unit.explain.judging import ask

START = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --trust-remote-code"
PRINTS = 'vllm() { printenv A VLLM_HOST_IP SERVER_PORT; printf "%s\\n" "$@"; }; '


def corrected(text: str) -> str:
    (judged,) = ask(text, on="8xH200")
    assert judged.corrected
    return "\n".join(filled_lines(judged.corrected[0], 4000))


def run(line: str, given: dict[str, str]) -> list[str]:
    """What bash itself makes of it: the variables that the engine gets, and its arguments."""
    environment = {"PATH": "/usr/bin:/bin", **given}
    return subprocess.run(["bash", "-c", PRINTS + line], env=environment, capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize("fence", ["python", "bash", "toml"])
@pytest.mark.parametrize("value", ["$(echo one)", '"two words"', "'two words'", "$((1 + 2))", "plain"])
def test_no_variable_in_front_is_lost(fence: str, value: str) -> None:
    line = corrected(f"```{fence}\nA=1 X={value} B=2 {START}\n```\n")
    assert line.startswith("A=1 X=")
    assert " B=2 " in line


def test_none_is_lost_outside_of_a_fence() -> None:
    assert corrected(f"Start it so:\n\nA=$(echo one) B=2 {START}\n").startswith('A="$(echo one)" B=2 ')


def test_a_command_in_a_value_has_the_values_that_the_script_sets() -> None:
    script = f"DNS=host-0\nIP=$(echo $DNS ${{DNS}} '$DNS')\nexport VLLM_HOST_IP=$IP\n{START}\n"
    assert run(corrected(script), {})[:3] == ["host-0", "host-0", "$DNS"]


def test_a_command_in_a_value_keeps_what_nothing_sets() -> None:
    script = f"export VLLM_HOST_IP=$(echo $DNS)\n{START}\n"
    assert run(corrected(script), {"DNS": "host-1"})[0] == "host-1"


MANIFEST = """model: moonshotai/Kimi-K2.6
num_nodes: 1
config:
  - node_index: 0
env_common: &e
  SERVER_PORT: "${PORT}"
templates:
  - node_index: 0
    envs:
      <<: *e
    server_cmd_template:
      - --port
      - $SERVER_PORT
      - --tensor-parallel-size
      - "8"
      - --trust-remote-code
"""


def test_a_variable_of_a_manifest_is_filled_in() -> None:
    line = corrected(MANIFEST)
    told = run(line, {"PORT": "8123"})
    assert told[0] == "8123"
    assert told[told.index("--port") + 1] == "8123"


def test_a_variable_is_not_set_to_itself() -> None:
    branch = 'case "${KIND:-}" in\n"") ;;\na) export A=1 ;;\nesac\n'
    assert "A=" not in corrected(f"{branch}{START}\n").split()[0]
