"""A path in a variable that is called like an option, which the command lacks."""

from __future__ import annotations

import pytest

from .judging import ask

KT = "python -m sglang.launch_server --model-path /m/Qwen3 --kt-method AMXINT8 --kt-cpuinfer 64 --port 8000"
VLLM = "vllm serve /m/Qwen3-8B --port 8000"


def told(text: str) -> list[str]:
    findings = [finding for judged in ask(f"#!/bin/bash\n{text}\n") for finding in judged.findings]
    return [finding.remedy for finding in findings if "holds a path, and nothing reads it" in finding.message]


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        (f"KT_WEIGHTS=/m/int8\n{KT}", '--kt-weight-path "$KT_WEIGHTS"'),
        (f'CHAT_TEMPLATE="./k2.jinja"\n{VLLM}', '--chat-template "$CHAT_TEMPLATE"'),
        (f"DOWNLOAD_DIR=/data/hub  # on NVMe\n{VLLM}", '--download-dir "$DOWNLOAD_DIR"'),
    ],
)
def test_the_option_that_lacks_its_path(text: str, flag: str) -> None:
    (remedy,) = told(text)
    assert remedy == f"write {flag} into the command, or leave the variable out"


@pytest.mark.parametrize(
    "text",
    [
        f"KT_WEIGHTS=/m/int8\n{KT} --kt-weight-path $KT_WEIGHTS",
        f"KT_WEIGHTS=/m/int8\nconvert.sh --out $KT_WEIGHTS\n{KT}",
        f"KT_WEIGHTS=/m/int8\n{KT} --kt-weight-path /m/other",
        f"export DOWNLOAD_DIR=/data/hub\n{VLLM}",
        f"MODEL_PATH=/m/Qwen3-8B\n{VLLM}",
        f"DATA_DIR=/data\n{VLLM}",
        f"DOWNLOAD_DIR=/data/hub\nsource common.sh\n{VLLM}",
    ],
    ids=["read", "read by another step", "given", "exported", "model", "no option", "perhaps read elsewhere"],
)
def test_paths_that_are_right(text: str) -> None:
    assert told(text) == []
