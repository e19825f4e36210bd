"""Requests to this machine that go to a proxy."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code --port 8000"
ASKS = "curl -s http://127.0.0.1:8000/v1/models"


def found(text: str) -> list[str]:
    return [each.message for each in ask_one(text).findings if "asks the proxy" in each.message]


@pytest.mark.parametrize("name", ["http_proxy", "all_proxy", "ALL_PROXY"])
def test_a_proxy_gets_what_is_meant_for_this_machine(name: str) -> None:
    (message,) = found(f"export {name}=http://proxy.example:3128\n{SERVE} &\n{ASKS}")
    assert name in message


@pytest.mark.parametrize(
    "text",
    [
        f"export http_proxy=http://p.example:1\nexport no_proxy=localhost,127.0.0.1\n{SERVE} &\n{ASKS}",
        f"export HTTPS_PROXY=http://p.example:1\n{SERVE} &\n{ASKS}",
        f"export http_proxy=http://p.example:1\n{SERVE} &\nunset http_proxy\n{ASKS}",
        f"export http_proxy=http://p.example:1\n{SERVE} &\n{ASKS.replace('curl', 'curl --noproxy localhost')}",
        f"{ASKS}\nexport http_proxy=http://p.example:1\n{SERVE} &",
        f"```bash\nexport http_proxy=http://p.example:1\n{SERVE}\n```\nElsewhere:\n```bash\n{ASKS}\n```",
    ],
)
def test_requests_that_reach_it(text: str) -> None:
    assert not found(text)
