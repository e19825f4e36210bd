"""A script in a heredoc that a wrapper hands to a shell elsewhere: what it exports is its command's."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

FED = """<< 'REMOTE'
export CUDA_VISIBLE_DEVICES=5
vllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct --trust-remote-code \\
  --enable-auto-tool-choice --tool-call-parser hermes
REMOTE
"""
"""The parser is another model's, so there is a corrected command."""


@pytest.mark.parametrize(
    "runs",
    [
        *("ssh_cmd host bash -s", 'ssh_cmd "$host" bash', "./on_node.sh 3 sudo bash -s --", "$SSH host /bin/sh -s"),
        *("sshpass -p x ssh host bash -s", "ssh_cmd host 'bash -s'", "ssh host bash -s", "bash -s"),
        'ssh_cmd() { ssh -i key "$@"; }\nssh_cmd host bash -s',
        'ssh_cmd() { local h=$1; shift; sshpass -p x ssh "$h" "$@"; }\nssh_cmd host \'sudo bash -s\'',
        'on() { timeout 60 ssh "$1" bash -s; }\non host',
    ],
)
def test_the_corrected_command_keeps_its_device(runs: str) -> None:
    judged = ask_one(f"{runs} {FED}", on="")
    (corrected,) = judged.corrected
    assert corrected.env["CUDA_VISIBLE_DEVICES"] == "5"
    assert corrected.argv[-1] == "kimi_k2"


@pytest.mark.parametrize("runs", ["./start bash", "log bash -s"])
def test_a_variable_of_a_shell_that_ended_reaches_no_later_command(runs: str) -> None:
    text = f"{runs} <<'EOF'\nexport CUDA_VISIBLE_DEVICES=5\nEOF\n{FED.split(chr(10), 2)[2].rpartition('REMOTE')[0]}"
    (corrected,) = ask_one(text, on="").corrected
    assert "CUDA_VISIBLE_DEVICES" not in corrected.env


def test_a_heredoc_that_no_shell_reads_is_left_as_it_was() -> None:
    judged = ask_one(f"notify --about bash --title now {FED}", on="")
    assert judged.layout is not None
