"""Notebooks: lines for a shell, cells that wait. And what a framework is told of devices and weights."""

from __future__ import annotations

import json

import pytest

from tests.unit.explain.judging import ask

LLM = 'from vllm import LLM\nllm = LLM(model="moonshotai/Moonlight-16B-A3B-Instruct", trust_remote_code=True)\n'
SERVE = "vllm serve moonshotai/Moonlight-16B-A3B-Instruct --trust-remote-code --port 8000"


def told(text: str, where: str) -> list[str]:
    found = [finding for judged in ask(text) for finding in judged.findings if finding.where == where]
    return [f"{finding.message} => {finding.remedy}" for finding in found]


def notebook(*cells: str) -> str:
    made = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": cell.splitlines(True)}
        for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def page(*cells: str) -> str:
    return "\n".join(f"In [{number}]:\n```\n{cell}\n```\n" for number, cell in enumerate(cells, 1))


def test_an_export_that_ends_with_its_line() -> None:
    (message,) = told(notebook("!export CUDA_VISIBLE_DEVICES=2,3", LLM), "CUDA_VISIBLE_DEVICES")
    assert message.endswith("=> write %env CUDA_VISIBLE_DEVICES=…")
    (message,) = told(notebook("!cd /content/kimi", LLM), "cd")
    assert message.endswith("=> write %cd …")


@pytest.mark.parametrize("line", ["%env CUDA_VISIBLE_DEVICES=2", "!export A=1 && echo $A", "!pip install vllm"])
def test_lines_that_are_kept(line: str) -> None:
    assert told(notebook(line, LLM), "CUDA_VISIBLE_DEVICES") == told(notebook(line, LLM), "A") == []


CLIENT = 'from openai import OpenAI\nclient = OpenAI(base_url="http://localhost:8000/v1", api_key="x")'


def test_a_cell_waits_for_the_server() -> None:
    (message,) = told(page(f"!{SERVE}", CLIENT), "cell")
    assert "the cell waits for the end of the server" in message
    assert told(page(f"!nohup {SERVE} > log 2>&1 &", CLIENT), "cell") == []
    assert told(page(f"!{SERVE}"), "cell") == []


def test_a_line_of_a_cell_is_read_as_a_command() -> None:
    (judged,) = ask(page(f"!{SERVE}"))
    assert judged.layout is not None
    assert not judged.unknown & {"tp"}


SERVICE = """import bentoml
from vllm import AsyncEngineArgs, AsyncLLMEngine

@bentoml.service(resources={{"gpu": {count}}})
class Kimi:
    def __init__(self) -> None:
        self.engine = AsyncLLMEngine.from_engine_args(
            AsyncEngineArgs(model="Qwen/Qwen3-8B", tensor_parallel_size=4, max_model_len=8192)
        )
"""


def test_devices_of_a_service() -> None:
    (message,) = told(SERVICE.format(count=1), "resources")
    assert "the service gets 1 of the 4 GPUs" in message
    assert told(SERVICE.format(count=4), "resources") == told(SERVICE.format(count=8), "resources") == []


RAY = """from ray.serve.llm import LLMConfig
config = LLMConfig(
    model_loading_config=dict({model}),
    engine_kwargs=dict(tensor_parallel_size=8, trust_remote_code=True),
)
"""


def test_a_model_without_its_source() -> None:
    (message,) = told(RAY.format(model='\n        model_id="kimi-k2-thinking",\n    '), "model_id")
    assert "kimi-k2-thinking is not the name of a repository" in message
    source = '\n        model_id="kimi",\n        model_source="moonshotai/Kimi-K2-Thinking",\n    '
    assert told(RAY.format(model=source), "model_id") == []
    assert told(RAY.format(model='\n        model_id="moonshotai/Kimi-K2-Thinking",\n    '), "model_id") == []
