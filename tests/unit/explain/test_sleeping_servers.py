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
