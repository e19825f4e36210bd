"""Servers that start by an engine's own command and take its place: what says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OTHER_SERVERS: Final[Mapping[str, frozenset[str]]] = {
    "vllm serve": frozenset({"--omni"}),
    "vllm bench serve": frozenset({"--omni"}),
    "vllm-ascend": frozenset({"--omni"}),
    "sglang": frozenset({
        *("--ulysses-degree", "--ring-degree", "--sp-degree", "--num-gpus", "--vae-path", "--enable-cfg-parallel"),
        *("--dit-cpu-offload", "--dit-layerwise-offload", "--vae-cpu-offload", "--text-encoder-cpu-offload"),
        *("--image-encoder-cpu-offload", "--pin-cpu-memory", "--num-inference-steps"),
        *("--disagg-role", "--disagg-server-addr", "--denoiser-urls", "--decoder-urls"),
    }),
}  # fmt: skip
"""Options by which another server takes over a program, with options of its own: vLLM-Omni, and the one of SGLang for
models that make pictures (https://docs.sglang.io/diffusion/), which `sglang serve` chooses by the model."""
SERVER_OF_TASK: Final[Mapping[str, str]] = {"omni": "--omni"}
"""The option by which another server takes over, by the task that a recipe names."""
