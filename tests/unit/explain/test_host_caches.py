"""Copies of the KV cache in host memory, which each rank takes for itself."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

START = (
    "python -m sglang.launch_server --model-path moonshotai/Kimi-K2.6 --trust-remote-code --enable-hierarchical-cache "
)


def told(text: str, words: str) -> list[tuple[Severity, str]]:
    fenced = f"{text}\n\n```bash\n{START}{words}\n```\n"
    findings = [finding for judged in ask(fenced) for finding in judged.findings]
    return [(each.severity, each.message) for each in findings if each.where == "--hicache-size"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("8x B300, 4 TB of RAM.", "--tp 8 --hicache-size 500"),
        ("8x H200 and 2 TB RAM.", "--tp 8 --hicache-size 240"),
        ("A machine with 1 TB RAM.", "--tp-size 4 --hicache-size=250"),
    ],
)
def test_more_than_the_text_leaves_for_them(text: str, words: str) -> None:
    ((severity, message),) = told(text, words)
    assert severity is Severity.WARNING
    assert "GB is for each of the" in message


@pytest.mark.parametrize("words", ["--tp 8 --hicache-size 1024", "--tp-size 4 --hicache-size 2000"])
def test_more_than_any_machine_has(words: str) -> None:
    ((severity, message),) = told("8x H200.", words)
    assert severity is Severity.WARNING
    assert "hardly a machine has" in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("8x H200, 16 TB of RAM.", "--tp 8 --hicache-size 1000"),
        ("Sixteen.", "--tp 16 --nnodes 4 --node-rank 0 --hicache-size 1000"),
        ("8x H200.", "--tp 8 --hicache-size 700"),
    ],
)
def test_what_large_machines_may_have(text: str, words: str) -> None:
    assert told(text, words) == []


def test_what_the_text_takes_for_all_ranks() -> None:
    ((severity, message),) = told("8x H200. `--hicache-size 100` = 100 GB of CPU memory.", "--tp 8 --hicache-size 100")
    assert severity is Severity.NOTE
    assert "800 GB together" in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("8x H200 and 2 TB RAM.", "--tp 8 --hicache-size 100"),
        ("8x H200.", "--tp 8 --hicache-size 500"),
        ("One H200, 256 GB RAM.", "--hicache-size 200"),
        ("8x H200. `--hicache-size 100` = 100 GB for each rank.", "--tp 8 --hicache-size 100"),
        ("2 TB RAM on each of two machines.", "--tp 16 --nnodes 2 --node-rank 0 --hicache-size 150"),
        ("8x H200 and 2 TB RAM.", "--tp $TP --hicache-size 500"),
    ],
)
def test_what_has_room_or_is_not_known(text: str, words: str) -> None:
    assert told(text, words) == []
