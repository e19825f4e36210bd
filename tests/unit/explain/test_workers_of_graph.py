"""Dynamo's workers: their modules, how decode gets the cache, and what a request calls them."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

WORKER = "python3 -m dynamo.vllm --model Qwen/Qwen3-32B --tensor-parallel-size 4 --disaggregation-mode "
NIXL = """ --kv-transfer-config '{"kv_connector": "NixlConnector", "kv_role": "kv_both"}'"""
NAMED = """\
python3 -m dynamo.sglang.worker --model-path /m --served-model-name R1 --tp 8 --disaggregation-mode prefill &
python3 -m dynamo.sglang.decode_worker --model-path /m --served-model-name R1 --tp 8 --disaggregation-mode decode
curl localhost:8000/v1/chat/completions -d '{"model": "%s", "messages": []}'
"""


def said(text: str, words: str) -> list[str]:
    return [each.message for judged in ask(text) for each in judged.findings if words in each.message]


def test_decode_is_told_of_no_way() -> None:
    assert len(said(f"{WORKER}decode &\n{WORKER}prefill{NIXL}", "computes each prompt again")) == 1


@pytest.mark.parametrize(
    "text",
    [
        f"{WORKER}decode{NIXL} &\n{WORKER}prefill{NIXL}",
        f"{WORKER}decode &\n{WORKER}prefill",
        f'{WORKER}decode "$@" &\n{WORKER}prefill{NIXL}',
        f"{WORKER}decode --connector nixl &\n{WORKER}prefill{NIXL}",
    ],
)
def test_decode_may_know_it(text: str) -> None:
    assert not said(text, "computes each prompt again")


def test_a_request_for_what_no_worker_is_called() -> None:
    (message,) = said(NAMED % "R1-Distill", "all workers are called")
    assert message.startswith("a request (line 3) asks for R1-Distill")
    assert not said(NAMED % "R1", "all workers are called")
    assert not said(NAMED % "$MODEL", "all workers are called")
    assert not said((NAMED % "other").replace("--served-model-name R1", "--served-model-name $NAME", 1), "all workers")


def test_modules_of_early_workers_are_read() -> None:
    judged = ask(NAMED % "R1")
    assert [each.layout.tp for each in judged if each.layout is not None] == [8, 8]
    assert not said(NAMED % "R1", "listens on 127.0.0.1")


GRAPH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: a}
spec:
  services:
    VllmDecodeWorker:
      componentType: worker
      subComponentType: decode
      extraPodSpec:
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.3.0
          command: [python3, -m, dynamo.vllm]
          args: [--model, Qwen/Qwen3-32B%s]
    VllmPrefillWorker:
      componentType: worker
      subComponentType: prefill
      extraPodSpec:
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.3.0
          command: [python3, -m, dynamo.vllm]
          args: [--model, Qwen/Qwen3-32B%s, --kv-transfer-config, '{"kv_connector":"NixlConnector"}']
"""
PREFILLS = ", --disaggregation-mode, prefill"


def test_a_worker_for_decode_has_no_mode() -> None:
    assert len(said(GRAPH % ("", PREFILLS), "serves both phases by itself")) == 1
    assert not said(GRAPH % (", --disaggregation-mode, decode", PREFILLS), "serves both phases by itself")
    assert not said(GRAPH % ("", ", --is-prefill-worker"), "serves both phases by itself")
    assert not said(GRAPH % (", --is-decode-worker", PREFILLS), "serves both phases by itself")


def test_a_comment_names_the_worker() -> None:
    plain = WORKER.removesuffix(" --disaggregation-mode ")
    text = f"# Run decode worker\n{plain}{NIXL} &\n\n# Run prefill worker\n{WORKER}prefill{NIXL}"
    assert len(said(text, "serves both phases by itself")) == 1
    assert not said(text.replace("# Run decode worker\n", ""), "serves both phases by itself")
