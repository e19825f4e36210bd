"""Releases as the forms of reports and the comments of scripts tell them."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

LLAMA = "\n```\nllama-server -m Kimi-K2-Thinking-UD-Q2_K_XL-00001-of-00008.gguf -c 32768 -ngl 99\n```\n"
VLLM = "\nvllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code\n"
SGLANG = "\npython -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp 8 --trust-remote-code\n"


@pytest.mark.parametrize(
    ("said", "start", "version"),
    [
        ("First Bad Commit tag: b7830", LLAMA, "b7830"),
        ("### First Bad Commit\n\nb7830", LLAMA, "b7830"),
        ("first bad build: `b7830`, the one before is good", LLAMA, "b7830"),
        ("### Name and Version\n\nb9265\n\n### Command line", LLAMA, "b9265"),
        ("### Name and Version\n\nversion b8391, built with Clang", LLAMA, "b8391"),
        ("### llama.cpp version\nb7205", LLAMA, "b7205"),
        ("It is broken since b7010.", LLAMA, "b7010"),
        ('[main] build info | build=6812 commit="df270ef7"', LLAMA, "b6812"),
        ("**Version: 0.11.1rc2**", VLLM, "0.11.1rc2"),
        ("**Version:** `0.11.2`", VLLM, "0.11.2"),
        ("Version: 0.5.6rc1", SGLANG, "0.5.6rc1"),
        ("cards: 16*H800\nversion:0.11.1", VLLM, "0.11.1"),
        ("version=v0.11.1", VLLM, "0.11.1"),
        ("版本：0.5.6", SGLANG, "0.5.6"),
        ("# vLLM version used: v0.12.0\n# Date: 2025-12-05", VLLM, "0.12.0"),
        ("# tested with SGLang v0.5.4", SGLANG, "0.5.4"),
    ],
)
def test_it_is_the_release_of_the_start(said: str, start: str, version: str) -> None:
    (judged,) = ask(said + "\n" + start)
    assert judged.version == version
    assert judged.version_because.startswith("the text names ")


@pytest.mark.parametrize(
    ("said", "start"),
    [
        ("You need b6097 or later for that model.", LLAMA),
        ("First bad commit: b7830. Another one: crashes since b7901.", LLAMA),
        ("The file is called notes-b7830 here.", LLAMA),
        ("api version: 0.11.0", VLLM),
        ("chart-version:0.11.0", VLLM),
        ("version:2.24.3", VLLM),
        ("The API version: 0.11.0 is what the client asks for", VLLM),
    ],
)
def test_others_name_none(said: str, start: str) -> None:
    (judged,) = ask(said + "\n" + start)
    assert judged.version_because.startswith("none is named")
