"""Lists in which a shell gets its command in pieces."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVER = "vllm serve Qwen/Qwen3-8B --port 8001\n\n"


def said(text: str) -> int:
    findings = [each for judged in ask(SERVER + text) for each in judged.findings]
    return sum("arguments of the shell" in each.message for each in findings)


@pytest.mark.parametrize(
    "text",
    [
        'command: ["/bin/sh", "-c", "vllm", "serve"]',
        "command: ['bash', '-lc', 'python3', '-m', 'sglang.launch_server']",
        "command:\n- sh\n- -c\n- vllm\n- serve\n",
        'ENTRYPOINT ["/bin/bash", "-c", "python", "server.py"]',
    ],
)
def test_a_command_in_pieces_is_told(text: str) -> None:
    assert said(text) == 1


@pytest.mark.parametrize(
    "text",
    [
        'command: ["/bin/sh", "-c", "vllm serve x"]',
        'command: ["vllm", "serve"]',
        'command: ["/bin/sh", "-c"]\nargs: ["vllm serve x"]',
        "command:\n- sh\n- -c\nargs:\n- vllm serve x --port 1\n",
        'command: ["/bin/sh", "-c", "/start.sh", "8"]',
        "sh -c 'vllm serve x'",
    ],
)
def test_one_text_is_not(text: str) -> None:
    assert said(text) == 0
