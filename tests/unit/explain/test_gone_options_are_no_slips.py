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
