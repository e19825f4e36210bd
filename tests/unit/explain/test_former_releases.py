"""A release with which all was well is not the one in use."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.text_hints import versions_of

COMMAND = "\nvllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 16\n"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("It works with vLLM 0.7.3. After upgrading, the start fails.", None),
        ("vLLM 0.9.1 hangs at the start. vLLM 0.8.5 is fine.", "0.9.1"),
        ("Worked well on vllm 0.10.0, since then the answers are empty; vllm 0.11.0 is what we run.", "0.11.0"),
        ("vLLM v0.12.0 was OK. With v0.13.0 the output is wrong.", None),
        ("vLLM 0.10.1 does not have this error, the nightly does.", None),
        ("Rolling back to vllm 0.10.1 helps, the latest one crashes.", None),
        ("升级后报错, vLLM 0.8.5 正常", None),
    ],
)
def test_the_release_before_is_not_taken(text: str, version: str | None) -> None:
    assert versions_of(text + COMMAND)[0].get("vllm") == version


@pytest.mark.parametrize(
    "text",
    [
        "This recipe works with vLLM 0.11.0.",
        "vLLM 0.11.0 works. It needs torch 2.8.0.",
        "We run vLLM 0.11.0, which was fine until the load grew.",
        "Tested on vLLM 0.11.0; all is well with two replicas.",
    ],
)
def test_a_release_that_works_is_the_one_in_use(text: str) -> None:
    assert versions_of(text + COMMAND)[0].get("vllm") == "0.11.0"
