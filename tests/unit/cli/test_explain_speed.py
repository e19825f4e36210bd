"""`moonpad explain --workload`: speeds, and which improvement is claimed."""

from __future__ import annotations

import json

import pytest

from moonpad.cli import command_line as command
from moonpad.cli import output

EAGER = (
    "vllm",
    "serve",
    "moonshotai/Kimi-K2.5",
    "--tensor-parallel-size",
    "1",
    "--pipeline-parallel-size",
    "8",
    "--trust-remote-code",
)


@pytest.fixture(autouse=True)
def _fresh_consoles() -> None:
    output.out.cache_clear()
    output.err.cache_clear()


def test_the_speed_of_a_command_beside_that_of_better_ones(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--on", "8xH200", "--engine-version", "0.16.0", "--workload", "1024:1024", "--concurrency", "4")
    code = command.run(["explain", *asked, "--json", "--", *EAGER, "--enforce-eager"])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    (deployment,) = json.loads(captured.out)["deployments"]
    own = deployment["predicted"]
    assert own["load"]["concurrency"] == 4
    other = next(faster for faster in deployment["faster"] if faster["why"].startswith("layout TP8"))
    assert other["predicted"]["tpot_s"]["high"] < own["tpot_s"]["low"]
    assert other["claimed"]
    assert other["gain"]["low"] > 0


def test_an_improvement_within_the_ranges_is_not_claimed(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--on", "8xH200", "--engine-version", "0.16.0", "--workload", "1024:1024", "--concurrency", "4")
    assert command.run(["explain", *asked, "--", *EAGER[:4], "8", "--trust-remote-code"]) == 0
    out = capsys.readouterr().out
    assert "vllm TP8, interpolated: TTFT" in " ".join(out.split())
    assert " sooner (" not in out


def test_a_speed_needs_a_load(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("--concurrency", "4"), ("--workload", "chat")):
        assert command.run(["explain", "--on", "8xH200", *words, "--", *EAGER]) == 2
        assert "add --" in capsys.readouterr().err
