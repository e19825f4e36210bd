"""Routed experts, or whole layers, in host RAM: the processors compute them, or a device fetches them for long prompts.

KTransformers and llama.cpp: https://github.com/kvcache-ai/ktransformers/blob/main/doc/en/Kimi-K2-Thinking-Native.md
"""

from __future__ import annotations

from typing import Final

from moonpad.catalog.hardware import hardware
from moonpad.catalog.step_constants import StepConstants
from moonpad.predict.device_rates import ASSUMED_PCIE_BYTES_PER_S, DeviceRates
from moonpad.predict.stage_shape import HostExperts
from moonpad.values.configuration import Configuration

WITHOUT_AMX: Final = 0.25
"""Of the rate of a socket with matrix units."""


class HostCost:
    def __init__(
        self, part: HostExperts, configuration: Configuration, constants: StepConstants, rates: DeviceRates
    ) -> None:
        host, architecture = configuration.cluster.host, configuration.architecture
        sockets = host.sockets or 2
        flops = sockets * constants.host_flops * (WITHOUT_AMX if host.amx is False else 1.0)
        read = sockets * constants.host_bytes_per_s
        self._active = min(1.0, architecture.experts_per_token / max(1, architecture.routed_experts))
        self._routed_read = part.routed_bytes / read
        self._whole_read = part.whole_bytes / read
        self._token = 2 * (self._active * part.routed_weights + part.whole_bytes / 2) / flops
        self._latency = part.layers * constants.host_layer_s
        row = hardware().get(configuration.device.id)
        pcie = row.pcie_bytes_per_s[0] if row and row.pcie_bytes_per_s else ASSUMED_PCIE_BYTES_PER_S
        # A prompt long enough is computed on the devices, to which each layer's experts are copied once a chunk.
        self._fetch = float("inf")
        if configuration.engine.host_experts == "of each layer":
            ranks = max(1, configuration.layout.tp)
            slowed = 1 / (constants.link * pcie * ranks)
            weights = 2 * self._active * part.routed_weights / ranks
            self._fetch = part.routed_bytes * slowed
            self._fetched_token = weights / (constants.expert_int4 * rates.flops["bf16"])

    def seconds(self, tokens: float, prefill: float) -> float:
        """Of one step with so many tokens, of which `prefill` are of prompts."""
        touched: float = 1 - (1 - self._active) ** tokens
        computed = max(self._routed_read * touched + self._whole_read, self._token * tokens) + self._latency
        if prefill and self._fetch < computed:
            return min(computed, self._fetch + self._fetched_token * tokens + self._latency)
        return computed
