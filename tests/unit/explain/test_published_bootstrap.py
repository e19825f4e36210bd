"""A prefill server in a container: the port that decode servers ask at."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

RUN = "docker run {options} lmsysorg/sglang:v0.5.9 python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B"
SERVE = "--host 0.0.0.0 --port 30000 {more}"


def told(options: str, more: str) -> bool:
    text = f"{RUN.format(options=options)} {SERVE.format(more=more)}"
    return any("bootstrap port" in f.message for each in ask(text) for f in each.findings)


PREFILL = "--disaggregation-mode prefill"


@pytest.mark.parametrize(
    ("options", "more"),
    [
        ("--gpus all -p 30000:30000", PREFILL),
        ("--gpus all -p 30000:30000 -p 8998:8998", f"{PREFILL} --disaggregation-bootstrap-port 9001"),
    ],
)
def test_the_port_is_not_published(options: str, more: str) -> None:
    assert told(options, more)


@pytest.mark.parametrize(
    ("options", "more"),
    [
        ("--gpus all -p 30000:30000 -p 8998:8998", PREFILL),
        ("--gpus all -p 30000:30000 -p 8990-9010:8990-9010", PREFILL),
        ("--gpus all --network host", PREFILL),
        ("--gpus all --network pools -p 30000:30000", PREFILL),
        ("--gpus all -p 30000:30000", "--disaggregation-mode decode"),
        ("--gpus all -p 30000:30000", ""),
        ("--gpus all", PREFILL),
    ],
)
def test_it_is_or_nobody_asks(options: str, more: str) -> None:
    assert not told(options, more)
