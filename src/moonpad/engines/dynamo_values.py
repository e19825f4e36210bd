"""What options of Dynamo's workers and of its frontend take, and names taken for theirs: components/src/dynamo and
docs of https://github.com/ai-dynamo/dynamo in August 2025 and August 2026."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

TRT_MODULE: Final = "trtllm"
_PLANES: Final = ("kubernetes", "etcd", "file", "mem")
OF_WORKERS: Final[Mapping[str, tuple[str, ...]]] = {
    "--discovery-backend": _PLANES,
}
"""Options of all workers → the names that were read."""
OF_TRT: Final[Mapping[str, tuple[str, ...]]] = {
    "--disaggregation-mode": ("prefill_and_decode", "prefill", "decode", "encode", "agg", "pd"),
}
OF_FRONTEND: Final[Mapping[str, tuple[str, ...]]] = {
    "--router-mode": (
        *("round-robin", "random", "kv", "direct", "power-of-two", "least-loaded", "device-aware-weighted"),
    ),
    "--dyn-chat-processor": ("dynamo", "vllm", "sglang"),
    "--discovery-backend": _PLANES,
}
INSTEAD: Final[Mapping[tuple[str, str], str]] = {
    ("--dyn-reasoning-parser", "kimi_k2"): "kimi_k25, or kimi for models before it",
    ("--dyn-reasoning-parser", "deepseek_v3"): "deepseek_r1",
    ("--dyn-reasoning-parser", "deepseek-v3"): "deepseek_r1",
    ("--dyn-reasoning-parser", "glm47"): "glm45",
    ("--dyn-tool-call-parser", "kimi"): "kimi_k2",
    ("--dyn-tool-call-parser", "kimi_k25"): "kimi_k2",
    ("--dyn-tool-call-parser", "glm45"): "glm47",
    ("--router-mode", "kv-aware"): "kv",
    ("--router-mode", "kv_aware"): "kv",
    ("--disaggregation-mode", "aggregated"): "prefill_and_decode, or leave it out",
}
"""What is meant by names that others have."""
OF_OTHERS: Final[Mapping[str, str]] = {
    "--gpu-memory-utilization": "write --free-gpu-memory-fraction, a share of what is free behind the weights",
    "--mem-fraction-static": "write --free-gpu-memory-fraction, a share of what is free behind the weights",
    "--max-model-len": "write --max-seq-len",
    "--context-length": "write --max-seq-len",
    "--tp": "write --tensor-parallel-size",
    "--ep": "write --expert-parallel-size",
    "--max-num-seqs": "write --max-batch-size",
    "--max-running-requests": "write --max-batch-size",
    "--max-num-batched-tokens": "write --max-num-tokens",
    "--kv-cache-dtype": "write dtype under kv_cache_config in the file of --extra-engine-args",
    "--tool-call-parser": "write --dyn-tool-call-parser",
    "--reasoning-parser": "write --dyn-reasoning-parser",
    "--trust-remote-code": "write trust_remote_code: true in the file of --extra-engine-args",
}
"""Options of other engines' workers that the one of TensorRT-LLM has not, and what stands for each."""
SHARE: Final = "--free-gpu-memory-fraction"
OVERRIDE: Final = "--override-engine-args"
MODULES: Final[Mapping[str, str]] = {
    "tensorrt_llm": "trtllm",
    "tensorrtllm": "trtllm",
    "trt_llm": "trtllm",
    "tensorrt": "trtllm",
    "trt": "trtllm",
    "sgl": "sglang",
    "sg_lang": "sglang",
    "vllm_worker": "vllm",
    "sglang_worker": "sglang",
    "front_end": "frontend",
    "frontends": "frontend",
}
"""Modules that Dynamo does not have, and what is meant."""
VARIABLES: Final[Mapping[str, str]] = {
    "ETCD_ENDPOINT": "ETCD_ENDPOINTS",
    "ETCD_SERVER": "ETCD_ENDPOINTS",
    "ETCD_URL": "ETCD_ENDPOINTS",
    "NATS_URL": "NATS_SERVER",
    "NATS_ENDPOINT": "NATS_SERVER",
    "NATS_SERVERS": "NATS_SERVER",
    "DYN_HTTP_SERVER_PORT": "DYN_HTTP_PORT",
}
"""Names that Dynamo does not read, and the one that it does."""
BROKER: Final = "NATS_SERVER"
HTTP_PORT: Final = "--http-port"
SYSTEM_PORT: Final = "DYN_SYSTEM_PORT"
EVENTS: Final = "--kv-events-config"
DEVICES: Final = "CUDA_VISIBLE_DEVICES"
OF_FRONTENDS: Final = frozenset({"--http-port", "--http-host", "--router-mode"})
"""Options that the frontend has, and workers do not."""
PORTS: Final[Mapping[str, tuple[str, str]]] = {
    "NATS_SERVER": (":2379", "2379 is the port of etcd: the broker listens on 4222 by default"),
    "ETCD_ENDPOINTS": (":4222", "4222 is the port of NATS: etcd listens on 2379 by default"),
}
"""Variables of one service with the usual port of the other."""

ENGINES_OWN_THOUGHTS: Final = ("dynamo.vllm", "--reasoning-parser")
"""The module of a worker that hands the frontend nothing of this option of the engine's."""
MAKES_TEXT: Final = re.compile(r"--use-vllm-tokenizer|--disaggregation-mode=?(?:prefill|encode)|--is-prefill-worker")
"""Options of a worker that sends no client an answer, or that turns tokens into text without the frontend."""
OWN_PROCESSOR: Final = "--dyn-chat-processor vllm"
"""With it the frontend reads the engine's names."""
