"""The corpus of tests/explain_corpus is whole: what is expected of each input can be read, and a part is kept apart."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

CORPUS = Path(__file__).parents[2] / "explain_corpus"
FOLDERS = sorted(path for path in CORPUS.iterdir() if path.is_dir())
KINDS = {"serve", "router", "prefill", "decode", "client"}
ENGINES = {"vllm", "vllm-ascend", "sglang", "ktransformers", "tensorrt-llm", "llama-cpp", ""}
APART = range(905, 990)
"""Nobody who writes the program looks at these. The even numbers below 200 and all from 200 on were kept apart too,
until the program was measured on them; the figures of that time are in benchmarks/explain/results.md."""
ROUTERS = {"dynamo", "litellm"}


def expected(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "expect.toml").read_text(encoding="utf-8"))


def test_there_are_enough() -> None:
    assert len(FOLDERS) >= 150
    numbers = [int(folder.name[:3]) for folder in FOLDERS]
    assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_each_says_what_is_expected(folder: Path) -> None:
    expect = expected(folder)
    assert expect["source"]
    assert expect["half"] == ("apart" if int(folder.name[:3]) in APART else "open")
    assert [path for path in folder.iterdir() if path.name != "expect.toml"]
    for deployment in expect["deployments"]:
        assert deployment["engine"] in ENGINES | ROUTERS
        assert deployment["kind"] in KINDS
        assert all(deployment[name] >= 0 for name in ("tp", "pp", "dp", "ep", "context"))
    for finding in expect.get("findings", []):
        assert finding["about"]
        assert finding["why"]
        assert isinstance(finding["must"], bool)
