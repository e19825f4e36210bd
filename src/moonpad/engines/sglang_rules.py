"""What SGLang alone refuses or warns of, on devices and on a processor."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from moonpad.engines.gpu_rules import aiter_finding, marlin_finding
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Finding, illegal, invalid, unsupported
from moonpad.values.platform import Platform

_OF_PARTS: Final = "cutedsl_mla"


def order_backends(configuration: Configuration, names: tuple[str, ...]) -> tuple[str, ...]:
    """AITER comes first on AMD devices only for the numbers of heads that its first kernels had. Kimi-K3 decodes parts
    of the context by a backend of its own: _kimi_k3_overrides, 0.5.17 to 0.5.23."""
    if configuration.architecture.attention_residuals and configuration.layout.dcp > 1:
        names = tuple(sorted(names, key=lambda name: name != _OF_PARTS))
    heads = configuration.architecture.heads // max(1, configuration.layout.tp)
    if configuration.platform is not Platform.ROCM or heads in (16, 128):
        return names
    return tuple(sorted(names, key=lambda name: name == "aiter"))


def marlin_tiles(configuration: Configuration) -> Iterator[Finding]:
    yield from marlin_finding(configuration, "there is no report of SGLang with other sizes")


def aiter_heads(configuration: Configuration) -> Iterator[Finding]:
    heads = configuration.architecture.heads // configuration.layout.tp
    sixteens = heads % 16 == 0 and heads <= 128
    if configuration.since("0.5.19"):
        allowed, needs = heads < 16 or sixteens, "fewer than 16, or a multiple of 16 up to 128"
    elif configuration.since("0.5.12"):
        allowed, needs = heads in (4, 8) or sixteens, "4, 8, or a multiple of 16 up to 128"
    else:
        allowed, needs = sixteens, "a multiple of 16"
    yield from aiter_finding(configuration, "aiter", heads, allowed, needs)


def cpu_sglang(configuration: Configuration) -> Iterator[Finding]:
    """Its layouts beside TP, and a KV cache in another format than BF16, were never tried on a processor."""
    for name in ("pp", "dp", "ep", "dcp"):
        if (size := getattr(configuration.layout, name)) > 1:
            message = f"{name} = {size}: {configuration.engine.name} was run with tp alone"
            yield illegal(name, message, f"set {name} = 1")
    kv = configuration.settings.kv_cache_dtype
    if kv not in (None, "auto", "bfloat16", "bf16"):
        message = f'kv_cache_dtype "{kv}": {configuration.engine.name} was run with BF16 alone'
        yield unsupported("kv_cache_dtype", message, "leave it out")


def cpu_formats(configuration: Configuration) -> Iterator[Finding]:
    if configuration.scheme != "bf16":
        yield unsupported(
            "quantization",
            f"{configuration.scheme.upper()} weights: {configuration.engine.name} was run with BF16 alone",
            "take a BF16 checkpoint",
        )


def whole_sizes(configuration: Configuration) -> Iterator[Finding]:
    for name in ("cpu_offload_gib", "kv_offload_size"):
        size = getattr(configuration.settings, name)
        if size is not None and not size.is_integer():
            yield invalid(name, f"{name} {size:g}: SGLang takes whole numbers alone", f"set {name} = {math.ceil(size)}")


RULES: Final = (marlin_tiles, aiter_heads, whole_sizes)
CPU_RULES: Final = (cpu_sglang, cpu_formats)
