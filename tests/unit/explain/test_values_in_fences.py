"""Values for the chart of vLLM's production stack, as a report pastes them into a fence without a language."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, layout

SPEC = """- name: kimi
  repository: lmcache/vllm-openai
  tag: v0.3.9
  modelURL: moonshotai/Kimi-Linear-48B-A3B-Instruct
  requestGPU: 2
  vllmConfig:
    tensorParallelSize: 2
    maxModelLen: 32768
"""


@pytest.mark.parametrize("head", ["", "servingEngineSpec:\n  modelSpec:\n"])
def test_they_start_a_server(head: str) -> None:
    inner = SPEC if not head else "".join(f"  {line}\n" for line in SPEC.splitlines())
    judgements = ask(f"### Bug\n\nThe engine does not start.\n\n```\n{head}{inner}```\n", on="2xH100")
    (judged,) = [each for each in judgements if each.layout is not None]
    assert layout(judged) == (2, 1, 1)
