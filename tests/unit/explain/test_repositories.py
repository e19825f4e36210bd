"""Repositories that a publisher does not have, and the switch without which the family's tokenizers do not load."""

from __future__ import annotations

import pytest

from moonpad.catalog.other_models import with_active
from moonpad.catalog.publishers import lacking, publishers
from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Code, Finding, Severity


def findings(text: str) -> list[Finding]:
    return [finding for judged in judge(read_script(text), Question()) for finding in judged.findings]


@pytest.mark.parametrize(
    ("repository", "has"),
    [
        ("moonshotai/Kimi-K2-7B", "Kimi-K2-Instruct"),
        ("moonshotai/Kimi-K2.5-Instruct", "Kimi-K2.5"),
        ("moonshotai/Kimi-K2-Instruct-Thinking", "Kimi-K2-Thinking"),
        ("moonshotai/kimi-k3-instruct", "Kimi-K3"),
        ("moonshotai/Kimi-Linear-7B", "Kimi-Linear-48B-A3B-Instruct"),
        ("moonshotai/Kimi-K25", "Kimi-K2.5"),
    ],
)
def test_a_publisher_lacks_it(repository: str, has: str) -> None:
    names, day = lacking(repository)
    assert has in names
    assert day == publishers()["moonshotai"].provenance.checked
    (finding,) = [each for each in findings(f"vllm serve {repository} -tp 8") if each.code is Code.MODEL_NAME]
    assert finding.severity is Severity.WARNING
    assert day in finding.message
    assert has in finding.remedy


@pytest.mark.parametrize(
    "repository",
    [
        "moonshotai/Kimi-K2-Instruct",
        "moonshotai/kimi-k2.6",
        "moonshotai/Kimi-VL-A3B-Instruct",
        "moonshotai/Moonlight-16B-A3B",
        "someone/Kimi-K2-7B",
        "/models/moonshotai/Kimi-K2-7B",
        "moonshotai/Kimi-K2-7B/main",
        "$MODEL",
        "Kimi-K2-7B",
    ],
)
def test_nothing_is_known_to_lack(repository: str) -> None:
    assert lacking(repository) == ((), "")


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("# vLLM 0.12.0\nvllm serve moonshotai/Kimi-K2-Instruct -tp $TP", "error"),
        ("# vLLM 0.6.0\nvllm serve moonshotai/Kimi-K2.6 -tp 8", "warning"),
        ("vllm serve moonshotai/Kimi-K2.5-Instruct -tp 8", "note"),
        ("vllm serve moonshotai/Kimi-K2-Instruct -tp $TP", "note"),
        ("vllm serve moonshotai/Kimi-K2-Instruct -tp 8 $EXTRA_ARGS", ""),
        ('EXTRA=()\nvllm serve moonshotai/Kimi-K2-Instruct -tp "" "${EXTRA[@]}"', ""),
        ("vllm serve someone/Llama-3-8B -tp 8", ""),
        ("vllm serve moonshotai/Kimi-K2.5-Instruct -tp 8 --trust-remote-code", ""),
    ],
)
def test_the_switch_is_missing(text: str, severity: str) -> None:

    about = [each for each in findings(text) if each.where == "--trust-remote-code" and each.code is Code.MISSING_FLAG]
    assert [each.severity.value for each in about] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("repository", "meant"),
    [
        ("Qwen/Qwen3-235B", "Qwen/Qwen3-235B-A22B"),
        ("Qwen/Qwen3.5-397B-FP8", "Qwen/Qwen3.5-397B-A17B-FP8"),
        ("Qwen/Qwen3-235B-A22B-Instruct-2507", ""),
        ("Qwen/Qwen3-30B-a3b", ""),
        ("Qwen/Qwen3-32B", ""),
        ("somebody/Qwen3-235B", ""),
        ("/models/Qwen3-235B", ""),
    ],
)
def test_a_name_without_its_active_weights(repository: str, meant: str) -> None:
    assert with_active(repository) == meant
    named = [each for each in findings(f"vllm serve {repository} -tp 8") if each.code is Code.MODEL_NAME]
    assert [each.remedy for each in named] == ([f"write {meant}"] if meant else [])
