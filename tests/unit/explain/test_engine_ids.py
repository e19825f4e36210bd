"""Copies of a server with one engine_id."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

POD = """\
apiVersion: apps/v1
kind: {kind}
metadata: {{name: prefill}}
spec:
  replicas: {replicas}
  template:
    spec:
      containers:
      - name: vllm
        image: vllm/vllm-openai:v0.20.0
        command: [vllm, serve, moonshotai/Kimi-K2.5, --tensor-parallel-size, "8", --kv-transfer-config]
        args: ['{{"kv_connector": "NixlConnector", "kv_role": "kv_both"{key}}}']
"""
RECIPE = """\
resources: {{prefill_workers: 1, gpus_per_node: 8}}
count:
  prefill_workers: {prefill}
  decode_workers: {decode}
backend:
  type: vllm
  vllm_config:
    prefill:
      kv-transfer-config: '{{"kv_connector": "NixlConnector", "kv_role": "kv_both", "engine_id": "p"}}'
      model: moonshotai/Kimi-K2.5
      tensor-parallel-size: 8
    decode:
      kv-transfer-config: '{{"kv_connector": "NixlConnector", "kv_role": "kv_both", "engine_id": "d"}}'
      model: moonshotai/Kimi-K2.5
      tensor-parallel-size: 8
"""
GIVEN = ', "engine_id": "a"'


def said(text: str) -> list[str]:
    return [
        each.message for judged in ask(text) for each in judged.findings if "copies get the engine_id" in each.message
    ]


def test_of_an_object() -> None:
    (message,) = said(POD.format(kind="Deployment", replicas=3, key=GIVEN))
    assert message.startswith("3 copies get the engine_id a:")


@pytest.mark.parametrize(
    ("kind", "replicas", "key"),
    [
        ("Deployment", 1, GIVEN),
        ("Deployment", 3, ""),
        ("Deployment", 3, ', "engine_id": "$(POD_NAME)"'),
        ("Job", 3, GIVEN),
    ],
)
def test_one_copy_or_names_of_their_own(kind: str, replicas: int, key: str) -> None:
    assert not said(POD.format(kind=kind, replicas=replicas, key=key))


@pytest.mark.parametrize(("prefill", "decode", "names"), [(2, 1, ["p"]), (1, 4, ["d"]), (1, 1, [])])
def test_of_a_recipe(prefill: int, decode: int, names: list[str]) -> None:
    found = said(RECIPE.format(prefill=prefill, decode=decode))
    assert [message.partition("engine_id ")[2][:1] for message in found] == names
