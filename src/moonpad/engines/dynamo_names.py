"""Options that Dynamo's workers had beside their engine's and have no more, from a reading of every add_argument of
twelve releases, 0.5.0 to 1.6.1 (PyPI ai-dynamo: dynamo/common, dynamo/vllm, dynamo/sglang, dynamo/trtllm)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

NEWEST: Final = "1.6.1"
UNDECLARED_SINCE: Final = "1.3.0"
"""Releases before it join a worker for prefill to one that says nothing of its role: lib/llm/src/discovery of 1.2.0
registers the model for whole requests and hands the prefill to the other."""
RELEASE: Final = re.compile(
    r"(?:(?<![\w-])(?:(?:vllm|sglang|tensorrtllm)-runtime|dynamo-frontend):|\bai-dynamo(?:\[\w+\])?=="
    r"|\bai-dynamo(?:-runtime)?[ \t|:]{1,40}v?"
    r"|\b[Dd]ynamo(?:[ ](?:vLLM|SGLang|TRT-?LLM|TensorRT-LLM))?(?:[ ](?:[Rr]untime|[Vv]ersion|[Rr]elease|[Ii]mage))?"
    r"\*{0,2}:?\*{0,2}[ ][`\"']?v?)"
    r"(?P<version>\d\.\d{1,2}\.\d{1,2})(?!\d)"
)
"""Where a text says which release is meant."""

STARTERS_OWN: Final[Mapping[str, frozenset[str]]] = {
    "dynamo-run": frozenset({"--num-nodes", "--node-rank", "--leader-addr", "--extra-engine-args"})
}
"""Options that a program which starts an engine takes for itself, some of which the engine has too: launch/dynamo-run
of https://github.com/ai-dynamo/dynamo, release 0.2."""
_PICTURES: Final = ("1.4.0", "--enable-multimodal, with --disaggregation-mode for its half")
_MOVED: Final[Mapping[str, tuple[str, str]]] = {
    "--store-kv": ("1.0.0", "--discovery-backend"),
    "--migration-limit": ("1.0.0", "it at the frontend"),
    "--enable-local-indexer": ("1.0.0", ""),
    "--durable-kv-events": ("1.4.0", ""),
}
GONE_OPTIONS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    "vllm": {
        **_MOVED,
        "--connector": ("1.0.0", "--kv-transfer-config, with the connector in its JSON"),
        "--is-prefill-worker": ("1.4.0", "--disaggregation-mode prefill"),
        "--is-decode-worker": ("1.4.0", "--disaggregation-mode decode"),
        "--multimodal-worker": _PICTURES,
        "--multimodal-encode-worker": _PICTURES,
        "--multimodal-decode-worker": _PICTURES,
        "--multimodal-processor": ("1.0.0", ""),
        "--multimodal-encode-prefill-worker": ("1.0.0", ""),
        "--ec-processor": ("1.0.0", ""),
        "--vllm-native-encoder-worker": ("1.0.0", ""),
    },
    "sglang": {
        **_MOVED,
        "--config-key": ("1.0.0", "--disagg-config-key"),
        "--multimodal-worker": _PICTURES,
        "--multimodal-encode-worker": _PICTURES,
        "--multimodal-processor": ("1.1.0", ""),
    },
    "trtllm": {
        **_MOVED,
        "--disaggregation-strategy": ("0.7.1", ""),
        "--next-endpoint": ("0.7.1", ""),
        "--use-nixl-connect": ("1.0.0", ""),
        "--disable-request-abort": ("1.1.0", ""),
        "--dit-dp-size": ("1.3.1", ""),
        "--dit-tp-size": ("1.3.1", ""),
        "--dit-fsdp-size": ("1.3.1", ""),
        "--fuse-qkv": ("1.3.1", ""),
        "--enable-async-cpu-offload": ("1.3.1", ""),
        "--skip-components": ("1.3.1", ""),
    },
}
"""Modules → options → the first release that was read and has it no more, and what stands for it ("": nothing)."""


def named_release(lines: Iterable[str]) -> str | None:
    """The release that a text names, the newest that was read where it names none; None where it names several."""
    named = {found["version"] for line in lines for found in RELEASE.finditer(line[:400])}
    return next(iter(named), NEWEST) if len(named) < 2 else None
