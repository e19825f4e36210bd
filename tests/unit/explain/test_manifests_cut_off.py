"""A manifest that breaks off in an open fence, or leaves something out: what is missing may stand in the rest."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import found

POD = """apiVersion: v1
kind: Pod
metadata: {name: kimi}
spec:
  containers:
  - name: vllm
    image: vllm/vllm-openai:v0.20.0
    args: [--model, moonshotai/Kimi-K2-Thinking, --tensor-parallel-size, "8", --trust-remote-code]
    volumeMounts:
    - {name: weights, mountPath: /models}
    resources:
      limits: {nvidia.com/gpu: 8}
"""
SECRET = """    env:
    - name: HF_TOKEN
      valueFrom:
        secretKeyRef:
          name: hf
"""
REFUSED = "Kubernetes refuses the object"


@pytest.mark.parametrize(
    "text",
    [
        f"Start it:\n\n```yaml\n{POD}",
        f"Start it:\n\n```yaml\n{POD}{SECRET}",
        f"Start it:\n\n```yaml\n{POD}  # ...\n```\n",
        f"Start it:\n\n```yaml\n{POD}  # rest of the spec\n```\n",
    ],
)
def test_a_part_of_a_manifest(text: str) -> None:
    assert found(text, REFUSED) == []


@pytest.mark.parametrize(
    "text",
    [
        f"Start it:\n\n```yaml\n{POD}```\n",
        POD,
        f"```sh\nls\n```\n\n```yaml\n{POD}```\n\nThen wait.\n",
        f"```yaml\n{POD}  # the node is big\n```\n",
    ],
)
def test_a_whole_one(text: str) -> None:
    (finding,) = found(text, REFUSED)
    assert "no volume weights" in finding.message


def test_a_key_that_is_missing_in_a_whole_one() -> None:
    text = POD.replace("    volumeMounts:\n    - {name: weights, mountPath: /models}\n", "")
    (finding,) = found(f"```yaml\n{text}{SECRET}```\n", REFUSED)
    assert "has no key" in finding.message
