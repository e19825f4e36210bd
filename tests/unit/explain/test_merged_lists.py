"""Patches of Kustomize that write a list of arguments anew."""

from __future__ import annotations

from tests.unit.explain.judging import ask

BASE = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: kimi
spec:
  template:
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.14.0
          args: ["Qwen/Qwen3-8B", "--tensor-parallel-size=2"]
---
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../../base]
"""
PATCH = """patches:
  - patch: |-
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: kimi
      spec:
        template:
          spec:
            containers:
              - name: vllm
                args: {args}
"""


def told(text: str) -> list[str]:
    found = [
        finding for judged in ask(text) for finding in judged.findings if "a patch puts its list" in finding.message
    ]
    return [f"{finding.message} => {finding.remedy}" for finding in found]


def test_a_list_in_a_patch_replaces_the_whole_one() -> None:
    (message,) = told(BASE + PATCH.format(args='["--max-model-len=8192"]'))
    assert "the model and the options of line 11 are gone" in message


def test_a_patch_with_all_arguments() -> None:
    assert told(BASE + PATCH.format(args='["Qwen/Qwen3-8B", "--tensor-parallel-size=4"]')) == []


def test_a_patch_that_adds_one() -> None:
    patch = (
        "patches:\n  - target: {kind: Deployment}\n    patch: |-\n      - op: add\n        path: /spec/template/spec"
    )
    patch += '/containers/0/args/-\n        value: "--max-model-len=8192"\n'
    assert told(BASE + patch) == []
