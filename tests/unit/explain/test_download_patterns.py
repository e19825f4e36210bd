"""Downloads that leave the code of a tokenizer behind."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVES = "\n\nvllm serve /data/model -tp 16 --trust-remote-code\n"
KIMI, R1 = "moonshotai/Kimi-K2-Instruct", "deepseek-ai/DeepSeek-R1"


def said(text: str) -> int:
    words = "does not appear to have a file named"
    return sum(words in each.message for judged in ask(text) for each in judged.findings)


@pytest.mark.parametrize(
    "download",
    [
        f"huggingface-cli download {R1} --local-dir=/data/model --include *.safetensors *.json",
        f'hf download {KIMI} \\\n  --include "*.safetensors" "*.json" \\\n  --local-dir /data/model',
        f'python3 - <<EOF\nsnapshot_download("{KIMI}",\n  allow_patterns=["*.safetensors", "*.json"])\nEOF',
    ],
)
def test_without_the_code(download: str) -> None:
    assert said(download + SERVES) == 1


@pytest.mark.parametrize(
    "download",
    [
        f"huggingface-cli download {R1} --local-dir=/data/model --include *.safetensors *.json *.py",
        f"hf download {KIMI} --local-dir /data/model",
        f'hf download {KIMI} --include "*" --local-dir /data/model',
        'hf download deepseek-ai/DeepSeek-R1-Distill-Llama-8B --include "*.safetensors" "*.json"',
        'hf download zai-org/GLM-5-FP8 --include "*.safetensors" "*.json"',
        f'# hf download {KIMI} --include "*.safetensors"',
    ],
)
def test_with_it(download: str) -> None:
    assert said(download + SERVES) == 0


def test_code_that_nobody_trusts_is_not_missed() -> None:
    download = f"huggingface-cli download {R1} --local-dir=/data/model --include *.safetensors *.json"
    assert said(f"{download}\n\nvllm serve /data/model -tp 16\n") == 0
