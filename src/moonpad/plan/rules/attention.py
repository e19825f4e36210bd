"""The attention backend, the format of the KV cache, the block and the context must go together on this device."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.catalog.attention import backends
from moonpad.engines.attention_backends import attention_backends, chosen, find, fits_block, has_dcp, possible
from moonpad.values.checkpoint import Architecture
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Code, Finding, Severity, conflict, illegal, invalid, unsupported


def kv_dtype_name(case: Configuration) -> Iterator[Finding]:
    asked, names = case.settings.kv_cache_dtype, case.engine.kv_cache_names
    short = asked == "fp8" and "fp8_e4m3" in names  # our name; the engine's is written for it
    if asked is None or not names or asked in names or short:
        return
    spelled = case.engine.fp8_kv_name if asked.startswith("fp8") else None
    message = f'kv_cache_dtype "{asked}": {case.engine.name} has no such name'
    hint = f"; its FP8 KV cache is called {spelled}" if spelled else ""
    plain = spelled or ("auto" if "auto" in names else "")
    remedy = f'set kv_cache_dtype = "{plain}"' if plain else f"write one of {', '.join(sorted(names))}"
    yield invalid("kv_cache_dtype", message + hint, remedy)


def kv_dtype_backend(case: Configuration) -> Iterator[Finding]:
    """An FP8 cache that only the engine's second choice holds is not an error: the engine takes that one by itself."""
    kv, engine = case.stored_kv, case.engine.name
    if kv == "bf16" or case.engine.fp8_kv_name is None:  # an engine without an FP8 cache says so by a rule of its own
        return
    names = attention_backends(case.device, engine, case.version, kv)
    backend, dtype = case.settings.attention_backend, case.settings.kv_cache_dtype
    cache = f'kv_cache_dtype "{dtype}"'
    if dtype in (None, "auto"):
        cache = f'kv_cache_dtype "auto" ({kv} by the checkpoint)'
    plain = f'set kv_cache_dtype = "{"bfloat16" if case.quantization.kv_cache else "auto"}"'
    if backend is not None and backend in backends() and backend not in names:
        yield unsupported(
            "kv_cache_dtype",
            f"{cache} with attention_backend {backend}: {backend} holds no such KV cache on {case.device.product}",
            f"leave attention_backend out: {engine} takes {names[0]}" if names else plain,
        )
    elif not names and attention_backends(case.device, engine, case.version):
        message = f"{cache}: no attention backend of {case.program} holds such a KV cache on {_device(case)}"
        yield unsupported("kv_cache_dtype", message, plain)


def backend_device(case: Configuration) -> Iterator[Finding]:
    key, asked = "attention_backend", case.settings.attention_backend
    names = attention_backends(case.device, case.engine.name, case.version)
    if asked is None or not names:
        return
    if asked not in backends():
        message = f'{key} "{asked}": moonpad knows no such backend for MLA, and cannot judge it'
        remedy = f"those that it knows here: {', '.join(names)}"
        yield Finding(Severity.NOTE, Code.INVALID_VALUE, key, message, remedy)
    elif asked not in names:
        message = f"{key} {asked} does not decode MLA with {case.program} on {_device(case)}"
        yield invalid(key, message, f"leave it out, or take one of {', '.join(names)}")


def _device(case: Configuration) -> str:
    return f"{case.device.product} ({case.device.capability})"


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
        message = f"block_size {size}: {case.engine.name} changes it, it needs {needs}"
        yield conflict("block_size", message, "leave it out")


def dcp_backend(case: Configuration) -> Iterator[Finding]:
    """The backend that decodes must return the log-sum-exp by which the ranks' parts are merged."""
    if case.layout.dcp == 1 or case.engine.dcp_since is None or not case.since(case.engine.dcp_since):
        return
    backend = chosen(case)
    if backend is None or has_dcp(backend, case.version):
        return
    others = [name for name in possible(case) if has_dcp(find(name), case.version)]
    since = f"; it came with {case.engine.name} {backend.dcp_since}" if backend.dcp_since else ""
    yield illegal(
        "attention_backend" if case.settings.attention_backend else "dcp",
        f"decode context parallel {case.layout.dcp}: {backend.name}, which decodes here, has none{since}",
        f'set attention_backend = "{others[0]}"' if others else "set dcp = 1",
    )


def context_limit(case: Configuration) -> Iterator[Finding]:
    asked, limit = case.settings.max_model_len, case.architecture.max_context
    if asked is not None and asked < 1:
        yield invalid("max_model_len", f"max_model_len is {asked}", "set 1 or more, or leave it out")
    elif asked is not None and asked > limit:
        reaches, further = "YaRN reaches", "whose rope_scaling reaches further"
        if case.architecture.linear is not None:  # no position is encoded at all
            reaches, further = "training reached", "that was trained on longer texts"
        yield invalid(
            "max_model_len",
            f"max_model_len {asked:,}: the checkpoint's {reaches} {limit:,} tokens, and beyond that answers fall apart",
            f"set max_model_len = {limit}, or take a checkpoint {further}",
        )


def speculative_findings(method: str, architecture: Architecture) -> tuple[Finding, ...]:
    """What is wrong with a method of speculative decoding (`mtp`, `deepseek_mtp`, `NEXTN`, `eagle3` …)."""
    name = method.strip().lower()
    if not ("mtp" in name or name == "nextn") or architecture.nextn_layers > 0:
        return ()
    return (
        invalid(
            "speculative",
            f'speculative method "{method}": the checkpoint has {architecture.nextn_layers} layers for multi-token '
            "prediction (num_nextn_predict_layers)",
            "leave it out, or give a draft model of its own (eagle3)",
        ),
    )
