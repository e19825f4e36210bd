"""`--pp 2` of SGLang: short for `--pp-size` until other options began so, and refused since."""

from __future__ import annotations

import argparse

import pytest

from moonpad.report.explain_verdict import usual
from tests.unit.explain.judging import ask_one

START = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2.6 --tp 8 --trust-remote-code"
BEGIN_SO = ("--pp-size", "--pp-max-micro-batch-size", "--pp-async-batch-depth")


def argparse_refuses(written: str, options: tuple[str, ...]) -> bool:
    parser = argparse.ArgumentParser(exit_on_error=False)
    for option in options:
        parser.add_argument(option)
    try:
        parser.parse_known_args([written, "2"])
    except (argparse.ArgumentError, SystemExit):
        return True
    return False


@pytest.mark.parametrize("version", ["", "0.5.10", "0.5.23"])
def test_it_is_refused_and_written_out(version: str) -> None:
    assert argparse_refuses("--pp", BEGIN_SO)
    nodes = "--nnodes 2 --node-rank 0 --dist-init-addr 10.0.0.1:20000"
    judged = ask_one(f"{START} --pp 2 {nodes}\n", on="2x8xH200", version=version)
    told = [remark for remark in judged.remarks if remark.finding.where == "--pp" and remark.edits]
    assert [remark.finding.remedy for remark in told] == ["write --pp-size"]
    assert not any(map(usual, told))
    assert judged.layout is not None
    assert (judged.layout.tp, judged.layout.pp) == (8, 2)
    argv = judged.corrected[0].argv
    assert argv[argv.index("--pp-size") + 1] == "2"


def test_a_prefix_of_one_option_is_only_short() -> None:
    assert not argparse_refuses("--tp", ("--tp-size",))
    judged = ask_one(f"{START}\n", version="0.5.23")
    assert [usual(remark) for remark in judged.remarks if remark.finding.where == "--tp"] == [
        "--tp is short for --tp-size"
    ]
