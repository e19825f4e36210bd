"""Settings that go together in later releases alone: what is proposed says from which on, and a text that asks for an
earlier one at the least is told of it. vLLM asserts against an FP8 cache with decode context parallelism up to 0.24."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one

K2 = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code"
BOTH = f"{K2} -dcp 8 --kv-cache-dtype fp8"
LABEL = "moe1T / 32B131,072 ctxvLLM {}+text\n\n```bash\n{}\n```\n"


def better(command: str, version: str = "") -> dict[tuple[str, ...], str]:
    return {tuple(name for name, _ in each.changes): each.why for each in ask_one(command, version=version).better}


def test_what_is_proposed_says_from_which_release_on() -> None:
    assert "from vLLM 0.25.0 on" in better(K2)[("dcp", "kv_cache_dtype")]
    assert "from vLLM 0.25.0 on" not in better(K2)[("dcp",)]


def test_of_a_release_that_is_named_nothing_has_to_be_said() -> None:
    assert all("from vLLM" not in why for why in better(K2, "0.30.0").values())
    assert ("dcp", "kv_cache_dtype") not in better(K2, "0.24.0")


@pytest.mark.parametrize(("least", "told"), [("0.12.0", True), ("0.24.0", True), ("0.25.0", False)])
def test_what_the_lowest_release_refuses(least: str, told: bool) -> None:
    judged = ask_one(LABEL.format(least, BOTH))
    found = [each for each in judged.findings if each.where == "--kv-cache-dtype" and "asserts" in each.message]
    assert [each.severity for each in found if f"asks for {least} or later" in each.message] == [
        Severity.WARNING
    ] * told
    assert f"{least} or later" in judged.version_because


@pytest.mark.parametrize("said", ["start Ray on both nodes first", "over Ray"])
def test_ray_in_a_sentence(said: str) -> None:
    text = f"```bash\n# node 0 ({said})\n{K2} --pipeline-parallel-size 2\n```\n"
    messages = [each.message for each in ask_one(text, on="2x8xH800").findings if "executor" in each.where]
    assert [("no longer taken by itself" in each, "nothing says" in each) for each in messages] == [(True, False)]


def test_what_is_proposed_beside_a_lowest_release() -> None:
    judged = ask_one(LABEL.format("0.12.0", K2))
    assert any("from vLLM 0.25.0 on" in each.why for each in judged.better)
