"""A release in prose: `vLLM - version 0.9.2`, `vllm ver: 0.9.2`, `(vLLM, 0.9.2)`, or in the title of a report."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.text_hints import versions_of
from tests.unit.explain.judging import ask_one


@pytest.mark.parametrize(
    "text",
    [
        "I loaded it by vLLM - version 0.9.2:",
        "vLLM – v0.9.2",
        "vllm ver: 0.9.2",
        "vLLM ver.0.9.2",
        "vLLM v. 0.9.2",
        "vLLM @ 0.9.2",
        "it works (vLLM, 0.9.2)",
        "vLLM (version 0.9.2)",
        "vllm, version 0.9.2",
        "using vLLM, v0.9.2",
        "vLLM version - 0.9.2",
        "**vLLM** - version **0.9.2**",
        "the version of vLLM is 0.9.2",
        "vllm的版本是0.9.2",
        "Version: 0.9.2 (vLLM)",
    ],
)
def test_a_release_in_words(text: str) -> None:
    assert versions_of(text) == ({"vllm": "0.9.2"}, {})


@pytest.mark.parametrize(
    "text",
    [
        "SGLang and vLLM, v0.5.3 and v0.9.2",
        "vLLM - 0.9.2 req/s",
        "vLLM, 0.9.2 seconds a step",
        "vLLM (see version 0.9.2 of the paper)",
        "vllm serve - version 0.9.2 of the model",
        "vLLM, version 1 engine",
        "vLLM - version 0.9.2 crashed, so we took another",
    ],
)
def test_other_numbers_behind_the_name(text: str) -> None:
    assert versions_of(text) == ({}, {})


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("vllm15.0", "0.15.0"),
        ("我用的是vllm15.0，8卡", "0.15.0"),
        ("vLLM v15.1", "0.15.1"),
        ("vllm version 15.0", "0.15.0"),
        ("vllm版本15.0", "0.15.0"),
        ("vLLM0.15.0", "0.15.0"),
        ("conda activate vllm0.15.0", "0.15.0"),
    ],
)
def test_a_release_without_its_blank_or_its_zero(text: str, version: str) -> None:
    assert versions_of(text) == ({"vllm": version}, {})


def test_another_engine_without_its_zero() -> None:
    assert versions_of("sglang v5.6")[0] == {"sglang": "0.5.6"}


@pytest.mark.parametrize(
    "text",
    [
        "vllm 15.0",
        "vllm15.0 tok/s",
        "vLLM15.0x faster",
        "vllm99.1",
        "vLLM v5.6",
        "LvLLM15.0",
        "/opt/vllm15.0/bin",
        "sglang v2.0",
    ],
)
def test_numbers_that_are_no_such_release(text: str) -> None:
    assert versions_of(text) == ({}, {})


@pytest.mark.parametrize("text", ["vllm15.0已经支持，请问你这个能运行吗？", "vLLM15.0+", "vLLM15.0以上"])
def test_the_first_that_has_something_without_its_zero(text: str) -> None:
    assert versions_of(text) == ({}, {"vllm": "0.15.0"})


BADGE = "moe1T / 32B262,144 ctxvLLM 0.19.1+multimodaltext"


def test_the_badge_of_a_page_says_what_the_page_asks_for() -> None:
    """Pasted pages have no blanks between their badges."""
    prose = "vLLM version: >= 0.15.0 (speculative decoding requires >= 0.18.0)"
    assert versions_of(prose) == ({}, {"vllm": "0.15.0"})
    assert versions_of(BADGE) == ({}, {"vllm": "0.19.1"})
    assert versions_of(f"{BADGE}\n{prose}") == versions_of(f"{prose}\n{BADGE}") == ({}, {"vllm": "0.19.1"})
    assert versions_of("LvLLM 0.19.1+ and myvllm 0.19.1+text") == ({}, {})


def test_a_lowest_release_stays_one() -> None:
    assert versions_of("vLLM - version 0.9.2 or later") == ({}, {"vllm": "0.9.2"})


SERVE = "\n\n```\nvllm serve /data/GLM-5-w8a8 --tensor-parallel-size 16 --quantization ascend\n```\n"


@pytest.mark.parametrize(
    ("title", "version"),
    [
        ("# [Misc]: v0.23 GLM5.1 OOM", "0.23.0"),
        ("# [Bug]: on v0.18.0 the start fails", "0.18.0"),
        ("# v0.18.0rc1: the start fails", "0.18.0rc1"),
        ("# [Bug]: v0.17.0 works, v0.18.0 fails", "0.18.0"),
        ("# [Bug]: v0.18.0 fails after an upgrade from v0.17", ""),
        ("# GLM v0.18 fails", ""),
        ("# [Bug]: v0.99 fails", ""),
    ],
)
def test_the_first_word_of_a_title(title: str, version: str) -> None:
    judged = ask_one(f"{title}{SERVE}", on="")
    assert judged.engine == "vllm-ascend"
    if version:
        assert judged.version.startswith(version)
        assert "the text names" in judged.version_because
    else:
        assert "none is named" in judged.version_because
