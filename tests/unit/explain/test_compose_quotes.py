"""Quotes behind the sign of a list's entry."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

HEAD = """services:
  vllm:
    image: vllm/vllm-openai:v0.20.1
    command: --model Qwen/Qwen3-8B --host 127.0.0.1
    environment:
"""
TAIL = "    ipc: host\n"


def told(lines: str) -> list[str]:
    found = [each for one in ask(HEAD + lines + TAIL) for each in one.findings if "as it stands" in each.message]
    return [each.message.rpartition(": ")[2] for each in found]


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ('      - HF_TOKEN="hf_abc"\n', ["HF_TOKEN"]),
        (
            "      - A=1\n      # the next\n\n      - NCCL_SOCKET_IFNAME='eth0'  # the fast one\n",
            ["NCCL_SOCKET_IFNAME"],
        ),
        ('      - HF_TOKEN="a"\n      - LMCACHE_CONFIG_FILE="/w/c.yaml"\n', ["HF_TOKEN, LMCACHE_CONFIG_FILE"]),
        ('    - HF_TOKEN="hf_abc"\n', ["HF_TOKEN"]),
        ('      - "HF_TOKEN=hf_abc"\n', []),
        ("      - HF_TOKEN=hf_abc\n", []),
        ('      HF_TOKEN: "hf_abc"\n', []),
        ("      - 'A=\"b\"'\n", []),
        ('      - A=1\n    labels:\n      - note="a"\n', []),
    ],
)
def test_quotes_of_entries(lines: str, names: list[str]) -> None:
    assert told(lines) == names
