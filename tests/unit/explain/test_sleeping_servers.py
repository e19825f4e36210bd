"""A server that sleeps at level 2 and wakes up without its weights."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVER = "VLLM_SERVER_DEV_MODE=1 vllm serve Qwen/Qwen3-8B --enable-sleep-mode --port 8000\n"
PYTHON = """from vllm import LLM
llm = LLM(model="Qwen/Qwen3-8B", enable_sleep_mode=True)
{}
print(llm.generate("hello"))
"""


def told(text: str) -> list[str]:
    return [finding.message for each in ask(text) for finding in each.findings if finding.where == "level=2"]


@pytest.mark.parametrize(
    "text",
    [
        SERVER + "curl -X POST 'localhost:8000/sleep?level=2'\ncurl -X POST localhost:8000/wake_up\n",
        SERVER + 'curl -X POST "localhost:8000/sleep?mode=abort&level=2"\ncurl -X POST localhost:8000/wake_up\n',
        PYTHON.format("llm.sleep(level=2)\nllm.wake_up()"),
    ],
)
def test_nothing_loads_the_weights_again(text: str) -> None:
    (message,) = told(text)
    assert "throws the weights away" in message


@pytest.mark.parametrize(
    "text",
    [
        SERVER + "curl -X POST 'localhost:8000/sleep?level=1'\ncurl -X POST localhost:8000/wake_up\n",
        SERVER + "curl -X POST 'localhost:8000/sleep?level=2'\n",
        SERVER
        + "curl -X POST 'localhost:8000/sleep?level=2'\ncurl -X POST 'localhost:8000/wake_up?tags=weights'\n"
        + """curl -X POST localhost:8000/collective_rpc -d '{"method": "reload_weights"}'\n""",
        SERVER + "# curl -X POST 'localhost:8000/sleep?level=2'\ncurl -X POST localhost:8000/wake_up\n",
        PYTHON.format("llm.sleep(level=2)\nllm.wake_up(tags=['weights'])\nmodel.load_weights(new)"),
        PYTHON.format("import time\ntime.sleep(2)\nllm.wake_up()"),
    ],
)
def test_what_is_right(text: str) -> None:
    assert told(text) == []


PLAIN = "VLLM_SERVER_DEV_MODE=1 vllm serve Qwen/Qwen3-8B --port 8000{}\n"


def unprepared(text: str) -> list[str]:
    found = [finding for each in ask(text) for finding in each.findings if finding.where == "--enable-sleep-mode"]
    return [finding.remedy for finding in found]


@pytest.mark.parametrize(
    "request_sent",
    [
        "curl -X POST 'http://localhost:8000/sleep?level=1'\n",
        "curl -X POST localhost:8000/sleep\n",
        '```python\nrequests.post(f"http://{host}:8000/sleep?level=1")\n```\n',
        '```python\nrequests.post(f"{BASE}/sleep", params={"level": 1})\n```\n',
    ],
)
def test_a_server_that_cannot_give_its_memory_back(request_sent: str) -> None:
    assert unprepared(PLAIN.format(" &") + request_sent) == ["add --enable-sleep-mode"]


@pytest.mark.parametrize(
    "text",
    [
        SERVER + "curl -X POST 'localhost:8000/sleep?level=1'\n",
        PLAIN.format(" $MORE &") + "curl -X POST 'localhost:8000/sleep?level=1'\n",
        PLAIN.format(" &") + "curl -X POST 'localhost:8000/sleep?level=0'\n",
        PLAIN.format(" &") + "# curl -X POST 'localhost:8000/sleep?level=1'\n",
        PLAIN.format(" &") + "sleep 20\ncurl -sf localhost:8000/health\n",
        PLAIN.format(" &") + "See https://docs.vllm.ai/en/latest/features/sleep\n",
    ],
)
def test_servers_that_are_not_sent_to_sleep_or_can(text: str) -> None:
    assert unprepared(text) == []
