"""Releases behind an engine's name that is a link, `[vLLM](https://…) >= 0.20.0`."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.text_hints import versions_of
from tests.unit.explain.judging import ask_one

VLLM = "https://github.com/vllm-project/vllm"
SGLANG = "https://github.com/sgl-project/sglang"


@pytest.mark.parametrize(
    ("line", "engine", "least"),
    [
        (f"- [vLLM]({VLLM}) >= 0.20.0", "vllm", "0.20.0"),
        (f"- [vLLM]({VLLM}) (>= 0.20.0)", "vllm", "0.20.0"),
        (f"- [`vllm`]({VLLM}) 0.20.0 or later", "vllm", "0.20.0"),
        (f"* **[SGLang]({SGLANG})** ≥ 0.5.9", "sglang", "0.5.9"),
        (f"| [SGLang]({SGLANG}) | >=0.5.9 |", "sglang", "0.5.9"),
        ("- vllm (>=0.20.0)", "vllm", "0.20.0"),
    ],
)
def test_the_least_release(line: str, engine: str, least: str) -> None:
    assert versions_of(line) == ({}, {engine: least})


def test_the_release() -> None:
    assert versions_of(f"Measured with [vLLM]({VLLM}) v0.20.0 on 8 devices")[0] == {"vllm": "0.20.0"}


@pytest.mark.parametrize("line", [f"[notes on vLLM]({VLLM}) 0.20.0", f"[vLLM]({VLLM}/releases/tag/v0.20.0) is out"])
def test_links_of_something_else(line: str) -> None:
    assert versions_of(line) == ({}, {})


def test_the_start_is_judged_by_it() -> None:
    judged = ask_one(f"## Needs\n\n- [vLLM]({VLLM}) >= 0.20.0\n\n```bash\nvllm serve moonshotai/Kimi-K2.6 -tp 8\n```\n")
    assert "0.20.0 or later" in judged.version_because
