"""Machines that do not join the Ray cluster of the text."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

TEXT = """# Kimi-K2-Instruct on two machines with 8x H200, vLLM 0.11.2

Head:

```bash
export VLLM_HOST_IP=10.0.0.11
ray start --head --port=6379 --num-gpus=8
```

Worker:

```bash
export VLLM_HOST_IP=10.0.0.12
ray start --address=10.0.0.11:6379 --num-gpus=8
```

On the head:

```bash
vllm serve moonshotai/Kimi-K2-Instruct -tp 8 -pp 2 --distributed-executor-backend ray --trust-remote-code
```
"""
WORDS = (
    "ray start has no",
    "ray start refuses",
    "it joins at",
    "address of a Ray",
    "every machine itself",
    "unique IP",
)
WORDS += ("give Ray", "mp starts them")


def found(text: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if any(words in each.message for words in WORDS)]


@pytest.mark.parametrize(
    ("old", "new", "where", "words"),
    [
        ("10.0.0.11:6379", "10.0.0.11:6380", "--address", "the head listens on 6379"),
        ("10.0.0.11:6379", "10.0.0.12:6379", "--address", "its own address"),
        ("10.0.0.11:6379", "10.0.0.11", "--address", "has no port"),
        ("start --address", "start --head --address", "--head", "refuses both"),
        ("--num-gpus=8\n```\n\nW", "--num_gpus=8\n```\n\nW", "--num_gpus", "has no option"),
        ("start --head", "start --heads", "--heads", "has no option"),
        ("VLLM_HOST_IP=10.0.0.12", "VLLM_HOST_IP=10.0.0.11", "VLLM_HOST_IP", "unique IP"),
        ("VLLM_HOST_IP=10.0.0.12", "VLLM_HOST_IP=0.0.0.0", "VLLM_HOST_IP", "every machine itself"),
        ("11:6379 --num-gpus=8", "11:6379 --num-gpus=4", "--num-gpus", "12 devices"),
        ("backend ray", "backend mp", "--distributed-executor-backend", "mp starts them"),
    ],
)
def test_the_cluster_is_not_joined(old: str, new: str, where: str, words: str) -> None:
    assert old in TEXT
    (one,) = found(TEXT.replace(old, new))
    assert (one.severity, one.where) == (Severity.WARNING, where)
    assert words in one.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("10.0.0.11:6379", "$HEAD_IP:6379"),
        ("10.0.0.11:6379", "auto"),
        ("VLLM_HOST_IP=10.0.0.12", "VLLM_HOST_IP=$MY_IP"),
        ("--port=6379 ", ""),
        ("--port=6379", "--port 6379 --dashboard-host 0.0.0.0 --block"),
    ],
)
def test_the_cluster_is_joined(old: str, new: str) -> None:
    assert found(TEXT.replace(old, new, 1)) == []
