"""The attention backend, the format of the KV cache and the block must go together on this device."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.catalog.attention import backends
from moonpad.engines.attention_backends import attention_backends, find, fits_block
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Code, Finding, Severity, conflict, invalid, unsupported


def kv_dtype_name(case: Configuration) -> Iterator[Finding]:
    asked, names = case.settings.kv_cache_dtype, case.engine.kv_cache_names
    short = asked == "fp8" and "fp8_e4m3" in names  # our name; the engine's is written for it
    if asked is None or not names or asked in names or short:
        return
    spelled = case.engine.fp8_kv_name if asked.startswith("fp8") else None
    yield invalid(
        "kv_cache_dtype",
        f'kv_cache_dtype "{asked}": {case.engine.name} has no such name'
        + (f"; its FP8 KV cache is called {spelled}" if spelled else ""),
        f'set kv_cache_dtype = "{spelled or "auto"}"',
    )


def kv_dtype_backend(case: Configuration) -> Iterator[Finding]:
    """An FP8 cache that only the engine's second choice holds is no error: the engine takes that one by itself."""
    kv, engine = case.stored_kv, case.engine.name
    if kv == "bf16" or case.engine.fp8_kv_name is None:  # an engine without an FP8 cache says so by a rule of its own
        return
    names = attention_backends(case.device, engine, case.version, kv)
    asked = case.settings.attention_backend
    said = f'kv_cache_dtype "{case.settings.kv_cache_dtype or "auto"}"' + (
        "" if case.settings.kv_cache_dtype not in (None, "auto") else f", {kv} by the checkpoint,"
    )
    plain = "bfloat16" if case.quantization.kv_cache else "auto"
    if asked is not None and asked in backends() and asked not in names:
        yield unsupported(
            "kv_cache_dtype",
            f"{said} with attention_backend {asked}: {asked} holds no such KV cache on {case.device.product}",
            f"leave attention_backend out: {engine} takes {names[0]}" if names else f'set kv_cache_dtype = "{plain}"',
        )
    elif not names and attention_backends(case.device, engine, case.version):
        yield unsupported(
            "kv_cache_dtype",
            f"{said}: no attention backend of {case.program} holds such a KV cache on "
            f"{case.device.product} ({case.device.capability})",
            f'set kv_cache_dtype = "{plain}"',
        )


def backend_device(case: Configuration) -> Iterator[Finding]:
    asked = case.settings.attention_backend
    if asked is None or not attention_backends(case.device, case.engine.name, case.version):
        return
    names = attention_backends(case.device, case.engine.name, case.version)
    backend = backends().get(asked)
    if backend is None:
        yield Finding(
            Severity.NOTE,
            Code.INVALID_VALUE,
            "attention_backend",
            f'attention_backend "{asked}": moonpad knows no such backend for MLA and says nothing about it',
            f"those that it knows here: {', '.join(names)}",
        )
    elif asked not in names:
        yield invalid(
            "attention_backend",
            f"attention_backend {asked} does not decode MLA with {case.program} on {case.device.product} "
            f"({case.device.capability})",
            f"leave it out, or take one of {', '.join(names)}",
        )


def block_size(case: Configuration) -> Iterator[Finding]:
    size, asked = case.settings.block_size, case.settings.attention_backend
    if size is None:
        return
    if size < 1:
        yield invalid("block_size", f"block_size is {size}", "set 1 or more, or leave it out")
        return
    names = attention_backends(case.device, case.engine.name, case.version, case.stored_kv)
    if asked is not None:
        names = (asked,) if asked in names else ()
    if not names or any(fits_block(find(name), size) for name in names):
        return
    needs = " or ".join(f"a multiple of {find(name).block} ({name})" for name in names)
    if case.engine.strict_block_size:
        yield invalid("block_size", f"block_size {size}: attention here needs {needs}", "leave block_size out")
    else:
        yield conflict(
            "block_size", f"block_size {size}: {case.engine.name} changes it, it needs {needs}", "leave it out"
        )
