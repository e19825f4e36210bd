"""Clients and requests that ask for a model by a name that no server of the text has."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code {more}\n"
BENCH = "vllm bench serve --model moonshotai/Kimi-K2.5 --dataset-name random --served-model-name {name} {more}\n"


def found(text: str, part: str) -> list[str]:
    return [finding.message for each in ask(text) for finding in each.findings if part in finding.message]


def test_a_client_asks_for_another_name() -> None:
    (message,) = found(SERVE.format(more="") + BENCH.format(name="kimi", more=""), "the measurement asks for")
    assert "asks for kimi, and the server is called moonshotai/Kimi-K2.5" in message


@pytest.mark.parametrize(
    ("serve", "name", "more"),
    [
        ("--served-model-name kimi", "kimi", ""),
        ("--served-model-name other kimi", "kimi", ""),
        ("", "moonshotai/Kimi-K2.5", ""),
        ("", "kimi", "--base-url http://gateway:8000"),
        ("", "kimi", "--port 9000"),
        ("", "$NAME", ""),
        ("--enable-lora", "kimi", ""),
    ],
)
def test_a_client_asks_for_what_is_there(serve: str, name: str, more: str) -> None:
    assert found(SERVE.format(more=serve) + BENCH.format(name=name, more=more), "the measurement asks for") == []


def several(first: str, second: str, asked: str) -> str:
    return (
        f"{SERVE.format(more=f'--port 8000 --served-model-name {first}')}"
        f"{SERVE.format(more=f'--port 8001 --served-model-name {second}')}"
        f'curl http://NODE:8000/v1/completions -d \'{{"model": "{asked}", "prompt": "a"}}\'\n'
    )


def test_a_request_below_several_servers() -> None:
    (message,) = found(several("kimi_k2_5", "k2", "kimi_k2.5"), "a request (line 3)")
    assert "the servers are called k2, kimi_k2_5" in message


@pytest.mark.parametrize(
    ("first", "second", "asked"),
    [
        ("kimi_k2_5", "kimi_k2.5", "kimi_k2.5"),
        ("kimi", "k2", "another"),  # of a server elsewhere
        ("$NAME", "kimi_k2_5", "kimi_k2.5"),
    ],
)
def test_a_request_for_what_is_there(first: str, second: str, asked: str) -> None:
    assert found(several(first, second, asked), "a request (") == []
