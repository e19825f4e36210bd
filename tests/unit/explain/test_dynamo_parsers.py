"""Names of parsers that a release of Dynamo has or lacks."""

from __future__ import annotations

import pytest

from moonpad.catalog.dynamo_parsers import dynamo_parsers, lacks, releases
from moonpad.values.finding import Finding, Severity
from moonpad.values.versions import order
from tests.unit.explain.judging import ask

WORKER = "python3 -m dynamo.vllm --model moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code"
FLAGS = ("--dyn-tool-call-parser", "--dyn-reasoning-parser")


def told(words: str, release: str = "", image: str = "") -> list[Finding]:
    start = f"docker run --gpus all nvcr.io/nvidia/ai-dynamo/vllm-runtime:{image} " if image else ""
    head = f"# Dynamo {release}\n" if release else ""
    found = (finding for each in ask(f"{head}{start}{WORKER} {words}\n") for finding in each.findings)
    return [finding for finding in found if finding.where in FLAGS and "Dynamo" in finding.message]


@pytest.mark.parametrize(
    ("words", "release", "remedy"),
    [
        ("--dyn-tool-call-parser kimi_k2", "0.9.1", "take Dynamo 1.0.0 or later"),
        ("--dyn-tool-call-parser=kimi_k2", "0.7.0", "take Dynamo 1.0.0 or later"),
        ("--dyn-reasoning-parser kimi_k25", "0.9.0", "take Dynamo 1.0.0 or later"),
        ("--dyn-reasoning-parser kimi_k2", "1.5.0", "take Dynamo 1.6.1 or later, or write kimi_k25, or kimi"),
        ("--dyn-tool-call-parser kimi_k25", "1.2.1", "take Dynamo 1.6.1 or later, or write kimi_k2"),
        ("--dyn-tool-call-parser kimi_k3", "1.3.1", "take Dynamo 1.4.0 or later"),
        ("--dyn-reasoning-parser deepseek_v3", "1.2.0", "take Dynamo 1.3.0 or later, or write deepseek_r1"),
    ],
)
def test_a_name_of_a_later_release(words: str, release: str, remedy: str) -> None:
    (finding,) = told(words, release)
    assert finding.remedy.startswith(remedy)
    assert finding.severity is Severity.WARNING
    assert len(told(words, image=release)) == 1


@pytest.mark.parametrize(
    ("words", "release"),
    [
        ("--dyn-tool-call-parser kimi_k2 --dyn-reasoning-parser kimi_k25", "1.0.0"),
        ("--dyn-reasoning-parser kimi_k2", "1.6.1"),
        ("--dyn-reasoning-parser deepseek_v3", "1.3.0"),
        ("--dyn-tool-call-parser glm45", "1.6.1"),
        ("--dyn-tool-call-parser kimi_k3", "1.4.0"),
        ("--dyn-tool-call-parser qwen25", "1.2.1"),
        ("--dyn-tool-call-parser kimi_k2", ""),
        ("--dyn-tool-call-parser $PARSER", "0.9.0"),
        ("--dyn-reasoning-parser kimi_k2", "1.6.0"),  # was not run
    ],
)
def test_what_a_release_has(words: str, release: str) -> None:
    assert told(words, release) == []


def test_where_no_release_is_named() -> None:
    (finding,) = told("--dyn-reasoning-parser kimi_k2")
    assert finding.severity is Severity.NOTE
    assert "kimi_k25" in finding.remedy


def test_the_table() -> None:
    assert list(releases()) == sorted(releases(), key=order)
    firsts = {first for known in dynamo_parsers().values() for first in known.names.values()}
    assert firsts <= {"", *releases()}
    assert lacks("1.0.0", "0.9.1")
    assert not lacks("1.0.0", "0.9.2")
    assert not lacks("", "0.5.0")
