"""What is said of a server without a key names nothing that the command does not say."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

SERVES = "vllm serve {model} --tensor-parallel-size 8 --port {port} --trust-remote-code\n"
OPEN = "without a key"
CODE = "at whatever revision"


def insecure(text: str) -> str:
    return " ".join(
        finding.message for judged in ask(text) for finding in judged.findings if finding.code is Code.INSECURE
    )


@pytest.mark.parametrize(("port", "named"), [("8123", "port 8123"), ("$PORT", "its port"), ("$1", "its port")])
def test_the_port(port: str, named: str) -> None:
    assert f"can reach {named} " in insecure(SERVES.format(model="moonshotai/Kimi-K2-Instruct", port=port))


def test_without_a_port_it_is_the_engine_s_own() -> None:
    assert "can reach port 8000 " in insecure("vllm serve moonshotai/Kimi-K2-Instruct\n")


def test_a_list_of_options_may_leave_the_address_out() -> None:
    assert insecure("```\n--tensor-parallel-size 8\n--max-model-len 8192\n--max-num-seqs 8\n```\n") == ""


@pytest.mark.parametrize(
    ("model", "told"),
    [("moonshotai/Kimi-K2-Instruct", True), ("/models/k2", False), ("./k2", False), ("$DIR/k2", False)],
)
def test_code_of_a_repository_or_of_a_folder(model: str, *, told: bool) -> None:
    assert (CODE in insecure(SERVES.format(model=model, port=8000))) == told


VALUES = """
servingEngineSpec:
  modelSpec:
    - name: one
      repository: vllm/vllm-openai
      tag: latest
      modelURL: facebook/opt-125m
      requestGPU: 1
"""
SUITE = """
suite: labels
templates: [deployment.yaml]
tests:
  - it: has them
    set:
      servingEngineSpec:
        modelSpec:
          - name: one
            repository: vllm/vllm-openai
            tag: latest
            modelURL: facebook/opt-125m
            requestGPU: 1
    asserts:
      - equal: {path: metadata.labels.a, value: b}
"""


def test_a_chart_writes_the_command_itself() -> None:
    (judged,) = ask(VALUES)
    assert not any("starts its server by itself" in finding.message for finding in judged.findings)


def test_tests_of_a_chart_start_nothing() -> None:
    assert not ask(SUITE)
