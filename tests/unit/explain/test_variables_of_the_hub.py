"""Variables that begin as those of the Hub's library do, and are none of them."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Instruct -tp 16 --trust-remote-code"
DOCKER = "docker run --gpus all --ipc=host -e {} vllm/vllm-openai:v0.12.0 --model moonshotai/Kimi-K2-Instruct -tp 16"


def told(text: str) -> list[Finding]:
    return [each for judged in ask(text) for each in judged.findings if "huggingface_hub reads no" in each.message]


@pytest.mark.parametrize("text", [f"export {{}}\n{SERVE}", f"{{}} {SERVE}", DOCKER])
def test_the_opposite_decides(text: str) -> None:
    (finding,) = told(text.format("HF_HUB_ENABLE_XET=0"))
    assert finding.severity is Severity.WARNING
    assert finding.remedy == "write HF_HUB_DISABLE_XET=1"


def test_corrected_sets_the_one_that_is_read() -> None:
    (judged,) = ask(f"HF_HUB_ENABLE_XET=0 {SERVE}")
    assert [dict(line.env).get("HF_HUB_DISABLE_XET") for line in judged.corrected] == ["1"]
    assert not any("HF_HUB_ENABLE_XET" in dict(line.env) for line in judged.corrected)


@pytest.mark.parametrize("name", ["HF_HUB_DOWNLOAD_RETRY=10", "HF_HUB_ENABLE_XET=1", "HF_HUB_MAX_WORKERS=8"])
def test_names_without_an_effect_are_a_note(name: str) -> None:
    (finding,) = told(f"{name} {SERVE}")
    assert finding.severity is Severity.NOTE


@pytest.mark.parametrize(
    "name",
    ["HF_HUB_DISABLE_XET=1", "HF_HUB_DOWNLOAD_TIMEOUT=600", "HF_HUB_ENABLE_HF_TRANSFER=1", "HF_XET_HIGH_PERFORMANCE=1"],
)
def test_what_the_library_reads(name: str) -> None:
    assert not told(f"{name} {SERVE}")
