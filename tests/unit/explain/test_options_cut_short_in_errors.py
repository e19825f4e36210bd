"""An error that people copy by hand names an option without its last letters."""

from __future__ import annotations

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask_one

COMMAND = (
    "python -m sglang.launch_server --model /srv/Kimi-K2.5 --kt-amx-weight-path /srv/k25-int4 --kt-method AMXINT4"
    " --kt-cpuinfer 48 --kt-num-gpu-experts 60 --tensor-parallel-size 4"
)


def _remedy(option: str) -> str:
    error = f"launch_server.py: error: unrecognized arguments: {option} /srv/k25-int4"
    judged = ask_one(f"# KTransformers\n\n```\n{COMMAND}\n```\n\n```\n{error}\n```\n", on="")
    told = [each for each in judged.findings if each.code is Code.LOGGED_FAILURE]
    return told[0].remedy if told else ""


def test_the_option_that_is_given_is_meant() -> None:
    assert "nowhere in this text" not in _remedy("--kt-amx-weight-pa")


def test_another_option_is_in_no_command() -> None:
    assert "nowhere in this text" in _remedy("--kt-amx-folder")
