"""An option that a release does not have and an older one has is not taken for a slip of another one."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

_SGLANG = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8 --trust-remote-code"


def _remedies(command: str, version: str = "") -> list[str]:
    flag = command.split()[-1]
    return [
        each.remedy for each in ask_one(command, version=version).findings if flag in f"{each.where} {each.message}"
    ]


@pytest.mark.parametrize("version", ["", "0.5.23"])
def test_a_gone_option(version: str) -> None:
    # --enable-lean-attention is one letter pair away, and another thing.
    (remedy,) = _remedies(f"{_SGLANG} --enable-nan-detection", version)
    assert remedy.startswith("leave it out")
    assert "lean" not in remedy


def test_a_slip_is_still_one() -> None:
    (remedy,) = _remedies(f"{_SGLANG} --enable-lean-atention", "0.5.23")
    assert remedy == "did you mean --enable-lean-attention?"


def test_an_option_of_the_servers_is_no_beginning_of_one_of_the_router() -> None:
    command = "python3 -m sglang_router.launch_server --model-path Qwen/Qwen3-32B --dp 2 --host 0.0.0.0 --port 30000"
    judged = ask_one(command)
    assert not [each for each in judged.findings if "--dp-aware" in f"{each.message} {each.remedy}"]
    assert all("--dp-aware" not in line.argv for line in judged.corrected)
