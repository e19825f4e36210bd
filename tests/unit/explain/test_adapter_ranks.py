"""Adapters of a higher rank than the server holds room for."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SERVER = "vllm serve Qwen/Qwen3-32B -tp 4 --enable-lora --lora-modules sql=/adapters/sql{more}\n"
CONFIG = '# adapter_config.json\n{\n  "peft_type": "LORA",\n  "r": 64,\n  "lora_alpha": 128\n}\n\n'


def told(text: str) -> list[tuple[Severity, str]]:
    found = [finding for each in ask(text) for finding in each.findings if finding.where == "--max-lora-rank"]
    return [(finding.severity, f"{finding.message} => {finding.remedy}") for finding in found]


@pytest.mark.parametrize(
    ("above", "more", "remedy"),
    [
        (CONFIG, "", "add --max-lora-rank 64"),
        (CONFIG, " --max-lora-rank 32", "write --max-lora-rank 64"),
        ("LoraConfig(r=48, lora_alpha=96)\n", "", "add --max-lora-rank 64"),
        ("swift sft --model Qwen/Qwen3-32B --lora_rank 128 --lora_alpha 256\n", "", "add --max-lora-rank 128"),
        ("```yaml\nlora_rank: 32\nlora_target: all\n```\n", "", "add --max-lora-rank 32"),
    ],
)
def test_a_rank_above_the_limit(above: str, more: str, remedy: str) -> None:
    ((severity, message),) = told(above + SERVER.format(more=more))
    assert severity is Severity.WARNING
    assert message.endswith(f"=> {remedy}")


def test_a_rank_by_the_name_alone_is_a_note() -> None:
    ((severity, message),) = told(SERVER.format(more="-r64"))
    assert severity is Severity.NOTE
    assert "its name says that the adapter has rank 64" in message


@pytest.mark.parametrize(
    "text",
    [
        CONFIG + SERVER.format(more=" --max-lora-rank 64"),
        CONFIG.replace("64", "16") + SERVER.format(more=""),
        CONFIG + "vllm serve Qwen/Qwen3-32B -tp 4\n",
        '{"kv_lora_rank": 512, "q_lora_rank": 1536}\n' + SERVER.format(more=""),
        '{"r": 64, "g": 12, "b": 3}\n' + SERVER.format(more=""),
        SERVER.format(more="-r17-run300"),
        CONFIG + SERVER.format(more=" $MORE_OPTIONS"),
    ],
)
def test_ranks_that_are_right_or_not_said(text: str) -> None:
    assert told(text) == []
