"""Releases as Chinese texts give them, and a text that says that its start runs."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.bare_versions import bare_version
from moonpad.explain.documents.text_hints import versions_of
from tests.unit.explain.judging import ask_one

RECORDED = ("0.2.0", "0.2.1", "0.2.1.post1")


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("- 版本: 源码编译，0.2.1.post1", "0.2.1.post1"),
        ("版本：0.2.1.post1+cu121torch24avx2", "0.2.1.post1"),
        ("软件版本：最新稳定版 0.2.1", "0.2.1"),
        ("版本：CUDA 12.4.1", ""),
        ("驱动版本: 0.2.1+x", ""),
        ("版本: torch, 0.2.1", ""),
    ],
)
def test_a_line_that_gives_the_version(line: str, version: str) -> None:
    assert bare_version((line,), RECORDED) == version


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("kt版本0.20，单卡", {"ktransformers": "0.2.0"}),
        ("kt版本升级到 0.2.1.post1", {"ktransformers": "0.2.1.post1"}),
        ("vLLM版本更新到0.11.0", {"vllm": "0.11.0"}),
        ("vllm版本0.20", {"vllm": "0.20"}),  # 0.20.0 was released
        ("pkt版本0.20", {}),
    ],
)
def test_behind_a_name(line: str, named: dict[str, str]) -> None:
    assert versions_of(line)[0] == named


CHAT = "python -m ktransformers.local_chat --model_path ./R1 --gguf_path ./R1-UD-IQ2_XXS --cpu_infer 30"


@pytest.mark.parametrize(
    ("sentence", "sure"),
    [("可以跑通，但很慢", False), ("跑通了", False), ("不能跑通", True), ("请问可以跑通吗", True), ("很慢", True)],
)
def test_what_runs_by_the_text_is_not_said_to_end(sentence: str, sure: bool) -> None:
    judged = ask_one(f"ktransformers 0.2.1，{sentence}\n\n{CHAT}\n", on="")
    assert any(each.severity.value == "warning" and "load ends" in each.message for each in judged.findings) is sure
