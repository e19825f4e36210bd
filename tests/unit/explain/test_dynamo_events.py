"""Workers of Dynamo behind a frontend that chooses them by what their caches hold."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

FRONT = "python3 -m dynamo.frontend --router-mode kv --http-port 8000 &\n"
SGLANG = "python3 -m dynamo.sglang --model-path Qwen/Qwen3-32B --page-size 16"
VLLM = "python3 -m dynamo.vllm --model Qwen/Qwen3-32B"
TRTLLM = "python3 -m dynamo.trtllm --model-path Qwen/Qwen3-32B"
ZMQ = """'{"publisher":"zmq","endpoint":"tcp://*:5557"}'"""
GRAPH = """apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: q
spec:
  services:
    Frontend:
      componentType: frontend
      replicas: 1
      envs:
        - name: DYN_ROUTER_MODE
          value: {mode}
    Worker:
      componentType: worker
      replicas: 2
      extraPodSpec:
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.3.0
          command: [python3, -m, dynamo.vllm]
          args: [--model, Qwen/Qwen3-32B]
"""


def told(text: str) -> bool:
    return any("finds no prefix anywhere" in each.message for judged in ask(text) for each in judged.findings)


@pytest.mark.parametrize(
    "text",
    [
        FRONT + SGLANG,
        FRONT + VLLM,
        FRONT + TRTLLM,
        FRONT + SGLANG + " --disaggregation-mode prefill",
        FRONT + SGLANG + """ --kv-events-config '{"enable_kv_cache_events":true}'""",
        FRONT + VLLM + f" --kv-events-config {ZMQ}",
        FRONT.replace("-mode kv", "-mode=kv") + SGLANG,
        "export DYN_ROUTER_MODE=kv\n" + FRONT.replace("--router-mode kv ", "") + SGLANG,
        GRAPH.format(mode="kv"),
    ],
)
def test_a_router_without_events(text: str) -> None:
    assert told(text)


@pytest.mark.parametrize(
    "text",
    [
        SGLANG,
        FRONT.replace("kv", "round-robin") + SGLANG,
        FRONT.replace("--http", "--no-router-kv-events --http") + SGLANG,
        FRONT + FRONT.replace("--router-mode kv ", "") + SGLANG,
        FRONT + SGLANG + f" --kv-events-config {ZMQ}",
        FRONT + SGLANG + " --kv-events-config $EVENTS",
        FRONT + SGLANG + " $MORE",
        FRONT + SGLANG + " --config worker.yaml",
        FRONT + SGLANG + " --disaggregation-mode decode",
        FRONT + VLLM + """ --kv-events-config '{"enable_kv_cache_events": true}'""",
        FRONT + TRTLLM + " --publish-events-and-metrics",
        "ai-dynamo==0.7.1\n\n```\n" + FRONT + VLLM + "\n```\n",
        FRONT + SGLANG.replace("dynamo.sglang", "sglang.launch_server"),
        GRAPH.format(mode="round-robin"),
    ],
)
def test_events_or_no_need_of_them(text: str) -> None:
    assert not told(text)
