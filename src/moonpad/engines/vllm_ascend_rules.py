"""What vLLM-Ascend alone refuses or warns of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.catalog.drafts import find_draft
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Code, Finding, Severity, unsupported

CHECKS_DRAFTS: Final = "0.21.0rc1"
"""The first release that compares a draft's KV heads with the ranks."""
FIRST_WITH_INT4: Final = "0.12.0rc1"
INT4: Final = frozenset({"int4", "w4a16"})


def kv_ascend(configuration: Configuration) -> Iterator[Finding]:
    if configuration.stored_kv != "bf16":
        yield unsupported(
            "kv_cache_dtype",
            f"a KV cache in {configuration.stored_kv}: {configuration.device.product} computes no FP8, and vLLM-Ascend "
            "quantises the cache only by a checkpoint made for it (C8)",
            'set kv_cache_dtype = "auto"',
        )


def ascend_formats(configuration: Configuration) -> Iterator[Finding]:
    if configuration.scheme in ("fp8", "nvfp4", "mxfp4"):
        other = ", or Kimi-K2-Thinking in INT4" if configuration.architecture.model_type.startswith("kimi") else ""
        yield unsupported(
            "quantization",
            f"{configuration.scheme.upper()} weights: {configuration.device.product} has no such arithmetic, and "
            "vLLM-Ascend no kernels for them with this architecture",
            f"take a W8A8 or W4A8 checkpoint made for Ascend{other}",
        )


def ascend_int4_targets(configuration: Configuration) -> Iterator[Finding]:
    if configuration.scheme in INT4:
        yield Finding(
            Severity.NOTE,
            Code.UNSUPPORTED_FORMAT,
            "quantization",
            'INT4 experts: vLLM-Ascend finds them only where config.json says targets ["MoE"] instead of ["Linear"]',
            "moonpad checkpoint adapt FOLDER --for vllm-ascend --out NEW",
        )


def int4_engine(configuration: Configuration) -> Iterator[Finding]:
    if configuration.scheme in INT4 and not configuration.since(FIRST_WITH_INT4):
        yield unsupported(
            "quantization",
            f"INT4 experts: {configuration.program} has no W4A16 method, it came with {FIRST_WITH_INT4}",
            f"take {configuration.engine.name} {FIRST_WITH_INT4} or newer",
        )


def ascend_draft_dcp(configuration: Configuration) -> Iterator[Finding]:
    """A draft's KV cache is shared out like the target's, whose latents all ranks hold alike."""
    dcp, tp, settings = configuration.layout.dcp, configuration.layout.tp, configuration.settings
    if dcp == 1 or not settings.draft_tokens:
        return
    draft = find_draft(settings.draft) if settings.draft else None
    kv_heads = draft.sizes.kv_heads if draft else 0
    what = f"a draft with decode context parallel {dcp}"
    if draft is None or draft.sizes.latent_attention:
        remedy = "set dcp = 1, or start it once with this draft before you rely on it"
        said = "a draft that config.json calls kimi_k2 is taken for plain attention"
        message = f"{said}; decode context parallel {dcp} needs latent attention, and the start ends"
        yield Finding(Severity.WARNING, Code.CONFLICT, "dcp", message, remedy)
    elif tp <= kv_heads:
        message = f"{what}: {draft.id} has {kv_heads} KV heads, and needs tensor parallel above that, not {tp}"
        remedy = "set dcp = 1, or take a draft with latent attention"
        checked = configuration.since(CHECKS_DRAFTS)
        severity = Severity.ERROR if checked else Severity.WARNING
        message = message if checked else f"{message}; {configuration.program} fails on it later"
        yield Finding(severity, Code.CONFLICT, "dcp", message, remedy)


RULES: Final = (kv_ascend, ascend_formats, ascend_int4_targets, int4_engine, ascend_draft_dcp)
