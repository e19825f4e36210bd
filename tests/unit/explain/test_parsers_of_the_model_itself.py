"""A parser that a release does not take: the model's own is the remedy, else the names that begin alike come first."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.values.finding import Code
from tests.unit.explain.judging import ask, ask_one

START = "sglang serve --model-path {} --tp-size 8 --trust-remote-code {}"


def judged(model: str, options: str, version: str = "") -> Judged:
    return ask_one(START.format(model, options), version=version)


def remedies(one: Judged) -> list[str]:
    return [each.remedy for each in one.findings if each.code is Code.INVALID_VALUE]


@pytest.mark.parametrize("model", ["/mnt/models/Kimi-K3", "moonshotai/Kimi-K3"])
def test_a_slip_of_the_name_is_mended(model: str) -> None:
    text = START.format(model, "--pp-size 4 --nnodes 4 --reasoning-parser kimi_k3 --tool-call-parser kimi3")
    (one,) = ask(text)
    (corrected,) = one.corrected
    assert corrected.argv[corrected.argv.index("--tool-call-parser") + 1] == "kimi_k3"


@pytest.mark.parametrize(
    ("model", "flag", "given", "own"),
    [
        ("/mnt/models/Kimi-K3", "--tool-call-parser", "kimi3", "kimi_k3"),
        ("moonshotai/Kimi-K2-Thinking", "--tool-call-parser", "kimi", "kimi_k2"),
        ("moonshotai/Kimi-K2-Thinking", "--reasoning-parser", "kimi_k_2", "kimi_k2"),
        ("zai-org/GLM-4.6", "--tool-call-parser", "glm_45", "glm45"),
        ("Qwen/Qwen3-32B", "--reasoning-parser", "qwen_3", "qwen3"),
    ],
)
def test_the_parser_of_the_model_is_the_remedy(model: str, flag: str, given: str, own: str) -> None:
    one = judged(model, f"{flag} {given}")
    assert remedies(one) == [f"write {flag} {own}"]


def test_it_is_in_the_corrected_command() -> None:
    one = judged("moonshotai/Kimi-K2-Thinking", "--reasoning-parser kimi_k2 --tool-call-parser kimi", "0.5.20")
    (corrected,) = one.corrected
    assert corrected.argv[corrected.argv.index("--tool-call-parser") + 1] == "kimi_k2"


def test_a_parser_that_a_build_with_a_newer_model_may_have_stays() -> None:
    one = judged("zai-org/GLM-5.3-Flash", "--tool-call-parser glm53")
    (remedy,) = remedies(one)
    assert remedy.startswith("one of glm")
    assert not any("glm47" in line.argv for line in one.corrected)


def test_a_name_of_a_plugin_perhaps_is_not_replaced_in_the_corrected_command() -> None:
    one = judged("moonshotai/Kimi-K2-Thinking", "--tool-call-parser ours")
    assert remedies(one) == ["write --tool-call-parser kimi_k2"]
    assert all("ours" in line.argv for line in one.corrected)


def test_a_model_without_a_known_parser_gets_names_that_begin_alike_first() -> None:
    (remedy,) = remedies(judged("someone/Writer-9B", "--tool-call-parser kimi3"))
    assert remedy.startswith("one of kimi_k3, ")
    assert len(remedy.split(", ")) == 12


def test_a_name_like_none_of_the_list_leaves_its_order() -> None:
    (remedy,) = remedies(judged("someone/Writer-9B", "--tool-call-parser zzz"))
    names = remedy.removeprefix("one of ").split(", ")
    assert names == sorted(names)


def test_a_release_without_the_parser_of_the_model_names_what_it_has() -> None:
    (remedy,) = remedies(judged("moonshotai/Kimi-K3", "--tool-call-parser kimi3", "0.5.5"))
    assert "write --tool-call-parser" not in remedy
    assert "one of kimi_k2" in remedy
