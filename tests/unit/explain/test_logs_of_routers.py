"""A log below a router: its own where no server is in the text, the server's where one is."""

from __future__ import annotations

import re

import pytest

from tests.unit.explain.judging import ask

BOUND = "OSError: [Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): address already in use"
NEW = "RuntimeError: Failed to create tokenizer from 'openai/gpt-oss-20b': Unrecognized OpenAI model name"
TAKEN = re.compile(r"the port (?:is|was) taken")
BEGUN = "Traceback (most recent call last):\n"
ROUTERS = (
    "trtllm-serve disaggregated -c disagg.yaml",
    "python3 -m sglang_router.launch_router --worker-urls http://a:30000 http://b:30000 --port 8000",
)


@pytest.mark.parametrize("router", ROUTERS)
def test_what_stopped_a_router_alone(router: str) -> None:
    (judged,) = ask(f"{router}\n{BEGUN}{BOUND}\n")
    assert len([f for f in judged.findings if TAKEN.search(f.message)]) == 1


@pytest.mark.parametrize("router", ROUTERS)
def test_a_line_that_no_row_knows_is_told_as_such(router: str) -> None:
    (judged,) = ask(f"{router}\n{BEGUN}{NEW}\n")
    assert [f.message for f in judged.findings if "the log says RuntimeError" in f.message]


@pytest.mark.parametrize("router", ROUTERS)
def test_beside_a_server_the_log_is_the_servers(router: str) -> None:
    server = "sglang serve --model-path moonshotai/Kimi-K2.5 --tp 8 --trust-remote-code --port 30000"
    found = ask(f"#!/bin/bash\n{server} &\n{router}\n{BEGUN}{BOUND}\n")
    assert [any(TAKEN.search(f.message) for f in judged.findings) for judged in found] == [True, False]


def test_a_client_has_no_log_of_an_engine() -> None:
    client = "vllm bench serve --model moonshotai/Kimi-K2.5 --base-url http://127.0.0.1:8000"
    found = ask(f"{client}\n{BEGUN}{NEW}\n")
    assert not [f for judged in found for f in judged.findings if "the log says" in f.message]
