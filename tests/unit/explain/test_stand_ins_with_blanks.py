"""What is to be filled in, with signs and blanks within, and sentences behind a command."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

LLAMA = "llama-server -m /models/a.gguf"
VLLM = "vllm serve Qwen/Qwen3-8B"
SGLANG = "python -m sglang.launch_server --model-path Qwen/Qwen3-8B"
DASHES = "lacks its dashes"


def errors(text: str) -> list[str]:
    return [
        finding.message for judged in ask(text) for finding in judged.findings if finding.severity is Severity.ERROR
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"{LLAMA} -c <question + 512> -np 1",
        f"{LLAMA} -c <1024 * slots> -np <slots>",
        f"{VLLM} --port 8000 <DRAFT FLAGS: LATER \u2014 head of the model, 5 tokens>",
        f"docker run --gpus all --ipc=host <IMAGE:PINNED> {VLLM} --port 8000",
        f"{SGLANG} --remote-instance-weight-loader-send-weights-group-ports [group_ports_of_seed]",
    ],
)
def test_to_be_filled_in(text: str) -> None:
    assert errors(text) == []


def test_a_value_that_is_no_number_is_still_told() -> None:
    assert any("does not take" in message for message in errors(f"{LLAMA} -c many"))


def test_what_is_read_from_a_file_is_no_stand_in() -> None:
    assert any("does not take" in message for message in errors(f"{LLAMA} -c many <in.txt 2>/dev/null"))


@pytest.mark.parametrize(
    ("behind", "expected"),
    [("reasoning-parser qwen3", True), ("instead of reasoning-parser", False)],
)
def test_an_option_that_a_sentence_names(behind: str, *, expected: bool) -> None:
    assert any(DASHES in message for message in errors(f"{VLLM} --tool-call-parser hermes {behind}")) == expected


@pytest.mark.parametrize(
    ("behind", "expected"),
    [
        ("trust_remote_code=True", True),
        ("gpu_memory_utilization=0.9", True),
        ("enforce_eager=False", True),
        ("--max-model-len 4096", False),
        ("no_such_option=3", False),
        ("gpu_memory_utilization=$SHARE", False),
    ],
)
def test_an_option_as_python_writes_it(behind: str, *, expected: bool) -> None:
    assert any(DASHES in message for message in errors(f"{VLLM} {behind}")) == expected
