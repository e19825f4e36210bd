"""What is proposed exists: parsers in releases older than all that are known, and pipeline stages of the model."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

POD = """apiVersion: apps/v1
kind: Deployment
metadata: {{name: chat}}
spec:
  selector: {{matchLabels: {{app: chat}}}}
  template:
    metadata: {{labels: {{app: chat}}}}
    spec:
      containers:
        - name: server
          image: lmsysorg/sglang:{tag}
          command: [python3, -m, sglang.launch_server, --model-path, deepseek-ai/DeepSeek-R1, --tp-size, "8",
                    --served-model-name, chat]
          resources: {{limits: {{nvidia.com/gpu: 8}}}}
"""
OVER = "python3 -m sglang.launch_server --model-path {model} --tp-size 16 --nnodes 2 --node-rank $RANK "
OVER += "--dist-init-addr $HEAD:5000 --trust-remote-code\n"


def remedy(text: str, where: str, version: str = "", on: str = "") -> str:
    findings = [finding for judged in ask(text, on=on, version=version) for finding in judged.findings]
    return next((finding.remedy for finding in findings if finding.where == where), "")


def test_a_parser_of_an_older_release_than_all_that_are_known() -> None:
    assert remedy(POD.format(tag="v0.4.3"), "--reasoning-parser").startswith("take SGLang 0.4.6.post5 or later")
    assert remedy(POD.format(tag="v0.5.10"), "--reasoning-parser") == "add --reasoning-parser deepseek-r1"


@pytest.mark.parametrize(
    ("model", "version", "expected"),
    [
        ("deepseek-ai/DeepSeek-V3", "0.4.5", "take SGLang 0.5.1 or newer, which has pipeline stages for this model"),
        ("deepseek-ai/DeepSeek-R1", "0.4.9.post2", "take SGLang 0.5.1 or newer, which has pipeline stages for"),
        ("moonshotai/Kimi-K2.5", "0.5.9", "take SGLang 0.5.10 or newer, which has pipeline stages for this model"),
        ("deepseek-ai/DeepSeek-V3", "0.5.10", "set --tp-size 8, with pp"),
    ],
)
def test_stages_of_a_release_that_has_them_for_the_model(model: str, version: str, expected: str) -> None:
    assert remedy(OVER.format(model=model), "--tp-size", version, "2x8xH100").startswith(expected)
