"""What Dynamo's workers and its frontend do not take."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

TRT = "python3 -m dynamo.trtllm --model-path nvidia/Kimi-K2.5-NVFP4 --tensor-parallel-size 8"
SGL = "python3 -m dynamo.sglang --model-path moonshotai/Kimi-K2.5 --tp 8 --trust-remote-code"
POOLS = (
    "CUDA_VISIBLE_DEVICES=0,1,2,3 {a} {sgl} --disaggregation-mode prefill &\n"
    "CUDA_VISIBLE_DEVICES=4,5,6,7 {b} {sgl} --disaggregation-mode decode\n"
)


def told(text: str, words: str) -> list[str]:
    return [f.where for judged in ask("#!/bin/bash\n" + text) for f in judged.findings if words in f.message]


@pytest.mark.parametrize(
    ("text", "words", "where"),
    [
        (f"{SGL} --dyn-tool-call-parser kimi-k2", "in no release", ["--dyn-tool-call-parser"]),
        (f"{SGL} --dyn-tool-call-parser kimi_k2", "in no release", []),
        (f"{SGL} --dyn-tool-call-parser quite_another", "in no release", []),
        (f"{SGL} --dyn-reasoning-parser kimi-k25", "in no release", ["--dyn-reasoning-parser"]),
        (f"{SGL} --dyn-reasoning-parser $PARSER", "in no release", []),
        (f"{SGL} --disaggregation-mode aggregated", "in no release", []),
        (f"{TRT} --disaggregation-mode aggregated", "in no release", ["--disaggregation-mode"]),
        (f"{TRT} --disaggregation-mode decode", "in no release", []),
        (f"{TRT} --gpu-memory-utilization 0.9", "another engine's worker", ["--gpu-memory-utilization"]),
        (f"{SGL} --context-length 4096", "another engine's worker", []),
        (f"{TRT} --free-gpu-memory-fraction 85", "more than the whole", ["--free-gpu-memory-fraction"]),
        (f"{TRT} --free-gpu-memory-fraction 0.85", "more than the whole", []),
        (f"{TRT} --override-engine-args \"{{'a': 1}}\"", "not JSON, which", ["--override-engine-args"]),
        (f"{TRT} --override-engine-args '{{\"a\": 1}}'", "not JSON, which", []),
        (f"{TRT} --override-engine-args a=1", "and this is none", ["--override-engine-args"]),
        (f"{TRT} --override-engine-args '[\"a\"]'", "and this is none", ["--override-engine-args"]),
        (f"{TRT} --http-port 8001", "is of the frontend", ["--http-port"]),
        (f"{TRT} --max-batch-size 8", "is of the frontend", []),
        (f"NATS_SERVER=nats://a:2379 {SGL}", "the port of etcd", ["NATS_SERVER"]),
        (f"ETCD_ENDPOINTS=http://a:4222 {SGL}", "the port of NATS", ["ETCD_ENDPOINTS"]),
        (f"ETCD_ENDPOINTS=http://a:2379 {SGL}", "the port of NATS", []),
        (f"ETCD_ENDPOINT=http://a:2379 {SGL}", "Dynamo reads ETCD_ENDPOINTS", ["ETCD_ENDPOINT"]),
        (f"ETCD_ENDPOINTS=http://a:2379 {SGL}", "Dynamo reads", []),
        (f"python3 -m dynamo.frontend --router-mode kv-aware &\n{SGL}", "in no release", ["--router-mode"]),
        (f"python3 -m dynamo.frontend --router-mode kv &\n{SGL}", "in no release", []),
        (f"python3 -m dynamo.frontend --router kv &\n{SGL}", "Unknown arguments", ["--router"]),
        (f"python3 -m dynamo.frontend --router-mod kv &\n{SGL}", "Unknown arguments", []),
        (f"NATS_SERVER=http://a:4222 {SGL}", "not asked by HTTP", ["NATS_SERVER"]),
        (f"NATS_SERVER=nats://a:4222 {SGL}", "not asked by HTTP", []),
        (
            f"python3 -m dynamo.frontend --http-port 8000 &\n{SGL} &\ncurl localhost:8080/v1/models",
            "the frontend listens",
            ["--http-port"],
        ),
        (
            f"python3 -m dynamo.frontend --http-port 8000 &\n{SGL} &\ncurl localhost:8000/v1/models",
            "frontend listens",
            [],
        ),
        (f"python3 -m dynamo.trt_llm --model a/b &\n{SGL}", "has no module", ["dynamo.trt_llm"]),
        (f"python3 -m dynamo.mocker --model a/b &\n{SGL}", "has no module", []),
    ],
)
def test_words(text: str, words: str, where: list[str]) -> None:
    assert told(text, words) == where


def test_ports() -> None:
    same = POOLS.format(a="DYN_SYSTEM_PORT=8081", b="DYN_SYSTEM_PORT=8081", sgl=SGL)
    assert told(same, "cannot bind it") == ["DYN_SYSTEM_PORT"]
    assert told(same.replace("8081 C", "8082 C", 1).replace("PORT=8081", "PORT=8082", 1), "cannot bind it") == []
    events = """--kv-events-config '{"publisher":"zmq","endpoint":"tcp://*:5557"}'"""
    assert told(POOLS.format(a="", b="", sgl=f"{SGL} {events}"), "cannot bind it") == ["--kv-events-config"]


def test_names_of_pools() -> None:
    text = POOLS.format(a="", b="", sgl=f"{SGL} --served-model-name k25")
    assert told(text, "frontend joins pools") == []
    assert told(text.replace("k25", "k2.5", 1), "frontend joins pools") == ["--served-model-name"]
