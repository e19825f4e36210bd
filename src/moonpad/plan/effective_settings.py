"""The settings in force: what was asked for, and the engine's own defaults for its version and the device."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from moonpad.catalog.ggml_types import bits_of
from moonpad.catalog.overhead import Budget, Pipeline, batches_of, block_of, defaults_of, reserve_of, scales_of
from moonpad.values.configuration import Configuration, EngineFacts
from moonpad.values.plan import Layout, Settings
from moonpad.values.platform import Platform
from moonpad.values.records import replace

ENTIRE_PROMPT_TOKENS: Final = 16384
"""What SGLang prefills at once where chunking is switched off (-1): its `max_prefill_tokens`."""
MOST: Final = 1 << 40
"""No figure of a person is larger than this: beyond it, floating point could overflow, and nothing fits anyway."""


class Limits(Struct, frozen=True):
    """`memory_fraction`: of what `budget` says. `chosen`: the engine calculated it, so that it carries a spread."""

    budget: Budget
    memory_fraction: float
    chosen: bool
    scale: float
    """What the engine multiplies the fraction by before it takes it."""
    max_num_seqs: int | None
    max_num_batched_tokens: int
    graphs: bool
    graphs_counted: bool
    kv_fp8: bool
    kv_bits: float
    """Of a value in the KV cache."""
    block_size: int
    tokens_by_request: bool
    pipeline: Pipeline


def limits_of(configuration: Configuration) -> Limits:
    """Raises nothing of its own: an unknown version is the newest, an unknown backend has the device's default."""
    engine, version, device = configuration.engine.name, configuration.version, configuration.device
    settings, layout = configuration.settings, configuration.layout
    defaults = defaults_of(engine, version)
    batches = batches_of(engine, version, device)
    times = layout.tp * layout.pp if batches.per_rank else 1
    tokens = bounded(settings.max_num_batched_tokens or batches.max_num_batched_tokens * times)
    sequences = bounded(settings.max_num_seqs or (batches.max_num_seqs or 0) * times)
    kv_dtype = _kv_dtype(configuration, defaults.kv_from_checkpoint)
    kv_fp8 = holds_fp8(kv_dtype)
    given = settings.kv_free_fraction if defaults.budget == "free" else settings.gpu_memory_utilization
    fraction = given or defaults.memory_fraction
    tokens = tokens if tokens > 0 else ENTIRE_PROMPT_TOKENS
    return Limits(
        budget=defaults.budget,
        memory_fraction=fraction or _static_fraction(configuration, tokens),
        chosen=fraction is None,
        scale=_scale(configuration, asked=given is not None),
        max_num_seqs=min(sequences, tokens) if sequences > 0 else None,
        max_num_batched_tokens=tokens,
        graphs=not settings.enforce_eager,
        graphs_counted=defaults.graphs_counted,
        kv_fp8=kv_fp8,
        kv_bits=8 if kv_fp8 else bits_of(kv_dtype) or 16,
        block_size=_block_size(configuration, kv_fp8),
        tokens_by_request=defaults.tokens_by_request,
        pipeline=defaults.pipeline,
    )


def default_settings(configuration: Configuration) -> Settings:
    """What the engine takes for the settings that a search turns down, where it is told none, spelled out."""
    limits = limits_of(replace(configuration, settings=Settings()))
    settings = Settings(max_num_seqs=limits.max_num_seqs, max_num_batched_tokens=limits.max_num_batched_tokens)
    name = configuration.engine.memory_fraction_name
    return settings.with_values({name: limits.memory_fraction or None}) if name else settings


def unasked_settings(engine: EngineFacts, pp: int) -> dict[str, int | bool]:
    """What a plan names although the user set nothing."""
    settings = dict(engine.unasked)
    if pp > 1:  # on a processor an eager pipeline answers 500 (engines/vllm_cpu_rules.py)
        settings.pop("enforce_eager", None)
    return settings


def reserved_sequences(configuration: Configuration) -> int:
    """For how many whole contexts the KV cache has to have room because the engine allocates them at its start."""
    return (limits_of(configuration).max_num_seqs or 1) if configuration.engine.reserves_kv else 1


def bounded(figure: int) -> int:
    return max(-MOST, min(figure, MOST))


def holds_fp8(dtype: str) -> bool:
    """Whether a `--kv-cache-dtype` takes one byte a value. `auto` and the 16-bit ones take two."""
    return dtype.casefold().startswith(("fp8", "mxfp8", "int8"))


def _kv_dtype(configuration: Configuration, from_checkpoint: bool) -> str:
    dtype, quantization = configuration.settings.kv_cache_dtype or "auto", configuration.quantization
    if dtype == "auto" and from_checkpoint and quantization.method.startswith("modelopt"):
        return quantization.kv_cache or "auto"
    return dtype


def _scale(configuration: Configuration, *, asked: bool) -> float:
    """Of a backend that is named: which one an older release takes by itself was not read."""
    settings = configuration.settings
    for row in scales_of(configuration.engine.name, configuration.version):
        if asked and settings.fraction_kept and configuration.since(row.kept_since):
            continue
        context = settings.max_model_len or configuration.architecture.max_context
        if context > row.above_tokens and settings.attention_backend == row.backend:
            return row.factor
    return 1.0


def _block_size(configuration: Configuration, kv_fp8: bool) -> int:
    settings = configuration.settings
    engine, capability = configuration.engine.name, configuration.capability
    row = block_of(engine, configuration.version, capability, settings.attention_backend, kv_fp8)
    asked = bounded(settings.block_size or row.size)
    fits = asked == row.size if row.exact else asked > 0 and asked % row.size == 0
    return asked if fits else row.size


def _static_fraction(configuration: Configuration, tokens: int) -> float:
    """What SGLang sets `--mem-fraction-static` to, from the driver's figure; overhead.toml has the formula."""
    engine, version, device = configuration.engine.name, configuration.version, configuration.device
    layout, settings = configuration.layout, configuration.settings
    if not device.driver_bytes:
        return 1.0
    row, sequences = reserve_of(engine, version, device), batches_of(engine, version, device).graph_sequences
    if settings.max_num_seqs is not None and settings.max_num_seqs > 0:
        sequences = min(sequences, settings.max_num_seqs)
    reserved = row.constant_bytes + row.per_rank_bytes * layout.tp * layout.dp * layout.pp
    reserved += row.per_token_bytes * max(tokens, 2048)
    sees = configuration.architecture.vision_parameters > 0 and not settings.text_only
    if not settings.enforce_eager:
        plain = layout == Layout(tp=layout.tp, ep=layout.ep) and configuration.platform is Platform.CUDA
        prefill_graphs = plain and not sees and not settings.draft_tokens
        reserved += row.per_sequence_bytes * sequences + (row.prefill_graphs_bytes if prefill_graphs else 0)
    if layout.dp > 1:
        reserved += row.attention_dp_bytes + row.per_dp_sequence_bytes * sequences * layout.dp
    reserved = max(reserved, row.floor_bytes) + (row.draft_bytes if settings.draft_tokens else 0)
    fraction = round(max(device.driver_bytes - reserved, 0) / device.driver_bytes, 3)
    return fraction * (row.vision_factor if sees else 1.0)
