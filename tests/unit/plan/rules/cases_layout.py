"""Layouts: what trips each rule, and what passes it. `says` is worked out by hand."""

from __future__ import annotations

from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace
from tests.unit.plan.rules.builders import (
    A3,
    A100,
    B200,
    CPU,
    GB10,
    H200,
    K3,
    K25,
    KIMI_LINEAR,
    MI300X,
    MI355X,
    TINY,
    cluster,
)
from tests.unit.plan.rules.trial import (
    CONFLICT,
    FORMAT,
    FOUR,
    K3_LINEAR,
    NOTE,
    SUBOPTIMAL,
    TWELVE,
    TWO,
    VALUE,
    WARNING,
    Trial,
)

WHOLE = Settings(mm_encoder_tp_mode="data")
LAYOUT: dict[str, tuple[Trial, ...]] = {
    "heads-divide-tp": (
        Trial(Layout(tp=6), says=("6", "64 attention heads"), where="tp"),
        Trial(Layout(tp=3), "bf16", cluster(CPU), "vllm-cpu", architecture=TINY, says=("3", "4 attention"), where="tp"),
        Trial(Layout(tp=64)),
        Trial(Layout(tp=64), "mxfp4-packed", architecture=K3, says=("64", "96 attention heads"), where="tp"),
        Trial(
            Layout(tp=16),
            "mxfp4-packed",
            architecture=replace(K3, linear=replace(K3_LINEAR, heads=24)),
            says=("16", "24 heads of linear attention"),
            where="tp",
        ),
        Trial(Layout(tp=32), "mxfp4-packed", architecture=K3),
    ),
    "vision-heads": (
        Trial(Layout(tp=32), on=FOUR, engine="sglang", architecture=K25, says=("32", "16 heads"), where="tp"),
        Trial(
            Layout(tp=32), on=FOUR, engine="sglang", version="0.5.9", architecture=K25, says=("16 heads",), where="tp"
        ),
        Trial(Layout(tp=32), on=FOUR, version="0.25.1", architecture=K25, says=("32", "16 heads"), where="tp"),
        Trial(Layout(tp=32), on=FOUR, version="0.26.0", architecture=K25),
        Trial(Layout(tp=32), on=FOUR, version="0.25.1", settings=WHOLE, architecture=K25),
        Trial(Layout(tp=32), on=FOUR, engine="sglang", settings=WHOLE, architecture=K25),
        Trial(Layout(tp=16, dp=2), on=FOUR, engine="sglang", architecture=K25),
        Trial(Layout(tp=32), on=FOUR, engine="sglang"),
        Trial(Layout(tp=8), "mxfp4-packed", FOUR, "sglang", architecture=K3),
    ),
    "layers-fill-pp": (
        Trial(Layout(pp=64), says=("64", "61 layers"), where="pp"),
        Trial(Layout(pp=61)),
    ),
    "pp-engine": (
        Trial(Layout(tp=4, pp=2), engine="ktransformers", says=("pipeline parallel 2",), where="pp"),
        Trial(Layout(tp=4, pp=2), engine="sglang"),
    ),
    "ep-group": (
        Trial(Layout(tp=8, ep=4), says=("4", "8 × 1 = 8"), where="ep"),
        Trial(Layout(tp=1, dp=16, ep=8), on=TWO, says=("1 × 16 = 16",), where="ep"),
        Trial(Layout(tp=8, ep=3), engine="sglang", says=("3", "8 ranks"), where="ep"),
        Trial(Layout(tp=4, ep=2), engine="ktransformers", says=("2", "384"), where="ep"),
        Trial(Layout(tp=1, dp=16, ep=16), on=TWO),
        Trial(Layout(tp=1, dp=16, ep=8), on=TWO, engine="tensorrt-llm"),
        Trial(Layout(tp=8, ep=4), engine="sglang"),
    ),
    "ep-experts": (
        # 384 + 10 over 16 leaves 10; 6 more make 400 = 16 × 25.
        Trial(
            Layout(tp=1, dp=16, ep=16),
            on=TWO,
            settings=Settings(redundant_experts=10),
            says=("384 experts and 10", "leave 10 over"),
            where="redundant_experts",
        ),
        # 384 = 3 × 128, so 40 = 8 × 5 leaves 24, and 16 ranks hold 9 instead of 10.
        Trial(
            Layout(tp=8, dp=5, ep=40),
            on=cluster(H200, 5),
            says=("384 experts leave 24 over", "24 ranks"),
            where="ep",
            severity=WARNING,
            code=SUBOPTIMAL,
        ),
        Trial(Layout(tp=8, dp=5, ep=40), engine="sglang", on=cluster(H200, 5), says=("leave 24 over",), where="ep"),
        Trial(Layout(tp=1, dp=512, ep=512), on=cluster(H200, 64), says=("512", "384"), where="ep"),
        Trial(Layout(tp=1, dp=96, ep=96), engine="sglang", on=TWELVE, settings=Settings(redundant_experts=96)),
        Trial(Layout(tp=8, ep=8)),
    ),
    "redundant-experts": (
        Trial(settings=Settings(redundant_experts=32), says=("32",), where="redundant_experts", code=VALUE),
        Trial(settings=Settings(redundant_experts=-1), says=("-1",), where="redundant_experts", code=VALUE),
        Trial(
            engine="ktransformers",
            settings=Settings(redundant_experts=8),
            says=("8", "ktransformers"),
            where="redundant_experts",
            code=VALUE,
        ),
        Trial(Layout(tp=8, ep=8), settings=Settings(redundant_experts=32)),
    ),
    "expert-slices": (
        # The tiny model's 192 columns over 128 ranks.
        Trial(Layout(tp=4, dp=32), "bf16", cluster(H200, 16), architecture=TINY, says=("128", "192"), where="tp"),
        Trial(Layout(tp=4, dp=16), "bf16", cluster(H200, 8), architecture=TINY),
    ),
    "mlp-slices": (
        Trial(Layout(tp=7), says=("7", "18432", "dense MLP"), where="tp"),
        Trial(Layout(tp=16), on=TWO),
    ),
    "gpu-experts": (
        Trial(settings=Settings(gpu_experts=8), says=("8", "vllm"), where="gpu_experts", code=VALUE),
        Trial(
            engine="ktransformers",
            settings=Settings(gpu_experts=385),
            says=("385", "384"),
            where="gpu_experts",
            code=VALUE,
        ),
        Trial(engine="ktransformers", settings=Settings(gpu_experts=0)),
        Trial(engine="ktransformers", settings=Settings(gpu_experts=384)),
    ),
    "rawint4-tp": (
        Trial(Layout(tp=4), engine="ktransformers", says=("4",), where="tp", severity=WARNING, code=SUBOPTIMAL),
        Trial(Layout(tp=4), "int4", cluster(B200), "ktransformers"),
        Trial(Layout(tp=8), engine="ktransformers"),
        Trial(Layout(tp=4)),
    ),
    "fp8-blocks": (
        # 18432 / 32 = 576 = 4.5 × 128, and 2048 / 32 = 64.
        Trial(Layout(tp=32), "fp8", FOUR, says=("576", "18432", "128"), where="tp"),
        Trial(Layout(tp=32), "fp8", FOUR, says=("64", "2048", "128"), where="tp"),
        # The query projection has 64 × 192 = 12288 columns: 192 at tp = 64.
        Trial(Layout(tp=64), "fp8", cluster(H200, 8), says=("192", "12288"), where="tp"),
        # vLLM ties the 32 data-parallel ranks together, so without EP experts are cut 32 ways.
        Trial(Layout(tp=1, dp=32), "fp8", FOUR, says=("32 slices", "64"), where="tp"),
        Trial(Layout(tp=32, ep=32), "fp8", FOUR, "sglang", "0.5.23", says=("576",), where="tp"),
        # The tiny model's experts have 192 columns, one and a half blocks, on whatever device.
        Trial(Layout(), "fp8", architecture=TINY, says=("192", "each expert"), where="quantization", code=FORMAT),
        # Attention DP with whole experts: nothing is cut, and the dense MLP is kept whole.
        Trial(Layout(tp=1, dp=32, ep=32), "fp8", FOUR, "sglang", "0.5.23"),
        Trial(Layout(tp=1, dp=96, ep=96), "fp8", TWELVE, "sglang", "0.5.23"),
        # Attention DP with experts on half of the group: 2048 / 2 = 1024.
        Trial(Layout(tp=1, dp=16, ep=8), "fp8", TWO, "tensorrt-llm", "1.0.0rc2"),
        Trial(Layout(tp=16), "fp8", TWO),
        Trial(Layout(tp=32), "bf16", FOUR),
    ),
    "quant-groups": (
        # Groups of 128: 2048 / 32 = 64.
        Trial(Layout(tp=32), "w4a16", FOUR, says=("64", "2048", "INT4 group of 128"), where="tp"),
        # A fine-tune with 192 columns: 192 / 8 = 24 < 32.
        Trial(Layout(tp=2, dp=4), architecture=TINY, says=("24", "192", "INT4 group of 32"), where="tp"),
        Trial(Layout(tp=32), "int4", FOUR),
        Trial(Layout(tp=32, ep=32), "w4a16", FOUR),
        Trial(Layout(tp=16), "w8a8", cluster(A3), "vllm-ascend"),
    ),
    "marlin-tiles": (
        # 2048 / 64 = 32, half a tile.
        Trial(
            Layout(tp=64),
            on=cluster(H200, 8),
            version="0.23.0",
            says=("64 slices of 32", "64,"),
            where="tp",
            severity=WARNING,
            code=SUBOPTIMAL,
        ),
        Trial(Layout(tp=64), on=cluster(H200, 8), version="0.24.0"),
        Trial(Layout(tp=32), on=FOUR, version="0.23.0"),
        Trial(Layout(tp=64), on=cluster(MI300X, 8), version="0.23.0"),
        Trial(Layout(tp=64, ep=64), on=cluster(H200, 8), version="0.23.0"),
    ),
    "flydsl-ep": (
        Trial(
            Layout(tp=8, ep=8), on=cluster(MI355X), says=("8", "flydsl"), where="ep", severity=WARNING, code=SUBOPTIMAL
        ),
        Trial(on=cluster(MI355X)),
        Trial(Layout(tp=8, ep=8), on=cluster(MI300X)),
    ),
    "dcp-divides-tp": (
        Trial(Layout(tp=8, dcp=3), says=("3", "8"), where="dcp"),
        Trial(Layout(tp=4, dp=2, dcp=8), says=("8", "4"), where="dcp"),
        Trial(Layout(tp=8, dcp=8)),
        Trial(Layout(tp=8, dcp=2)),
    ),
    "dcp-linear": (
        Trial(
            Layout(tp=8, dcp=8),
            "mxfp4-packed",
            cluster(B200),
            version="0.27.1",
            architecture=K3,
            says=("0.27.1", "0.28.0"),
            where="dcp",
        ),
        Trial(
            Layout(tp=2, dcp=2),
            "bf16",
            engine="sglang",
            version="0.5.16",
            architecture=KIMI_LINEAR,
            says=("0.5.17",),
            where="dcp",
        ),
        Trial(
            Layout(tp=16, ep=16, dcp=2),
            "mxfp4-packed",
            cluster(A3),
            "vllm-ascend",
            architecture=K3,
            says=("linear", "vllm-ascend"),
            where="dcp",
        ),
        Trial(Layout(tp=8, dcp=8), "mxfp4-packed", cluster(B200), version="0.28.0", architecture=K3),
        Trial(Layout(tp=2, dcp=2), "bf16", engine="sglang", version="0.5.17", architecture=KIMI_LINEAR),
        Trial(Layout(tp=8, dcp=8), version="0.27.1"),
    ),
    "dcp-engine": (
        Trial(Layout(tp=8, dcp=8), version="0.10.1", says=("0.10.1", "0.10.2"), where="dcp"),
        Trial(Layout(tp=8, dcp=8), engine="sglang", version="0.5.14", says=("0.5.14", "0.5.15"), where="dcp"),
        Trial(Layout(tp=8, dcp=2), "fp8", engine="tensorrt-llm", says=("2", "Helix"), where="dcp"),
        Trial(Layout(tp=8, dcp=2), engine="ktransformers", says=("2", "ktransformers"), where="dcp"),
        Trial(
            Layout(tp=2, dcp=2), "bf16", cluster(CPU), "vllm-cpu", architecture=TINY, says=("2", "log-sum"), where="dcp"
        ),
        Trial(Layout(tp=2), "bf16", cluster(CPU), "vllm-cpu", architecture=TINY),
        Trial(Layout(tp=8, dcp=8), version="0.10.2"),
        Trial(Layout(tp=16, ep=16, dcp=2), on=cluster(A3), engine="vllm-ascend", version="0.23.0"),
        Trial(engine="ktransformers"),
    ),
    "dcp-backend": (
        # On Blackwell 0.20 takes FLASHINFER_MLA, which learned it with 0.25.
        Trial(Layout(tp=8, dcp=8), on=cluster(B200), version="0.20.0", says=("FLASHINFER_MLA", "0.25.0"), where="dcp"),
        Trial(Layout(tp=8, dcp=8), engine="sglang", version="0.5.23", says=("fa3",), where="dcp"),
        Trial(
            Layout(tp=8, dcp=8),
            on=cluster(MI300X),
            version="0.28.0",
            settings=Settings(attention_backend="ROCM_AITER_MLA"),
            says=("ROCM_AITER_MLA", "0.29.0"),
            where="attention_backend",
        ),
        Trial(Layout(tp=8, dcp=8), on=cluster(A100), version="0.10.2", says=("TRITON_MLA", "0.11.0"), where="dcp"),
        Trial(
            Layout(tp=8, dcp=8), on=cluster(B200), version="0.20.0", settings=Settings(attention_backend="CUTLASS_MLA")
        ),
        Trial(Layout(tp=8, dcp=8), on=cluster(B200)),
        Trial(Layout(tp=8, dcp=8)),
        Trial(Layout(tp=8, dcp=8), on=cluster(MI300X)),
        Trial(
            Layout(tp=8, dcp=8), engine="sglang", settings=Settings(attention_backend="flashinfer"), version="0.5.23"
        ),
        # Kimi-K3 gets cutedsl_mla by itself where its context has parts.
        Trial(Layout(tp=8, dcp=8), "mxfp4-packed", cluster(B200), "sglang", version="0.5.18", architecture=K3),
        Trial(
            Layout(tp=8, dcp=8), on=cluster(B200), engine="sglang", version="0.5.18", says=("trtllm_mla",), where="dcp"
        ),
    ),
    "dcp-fp8-kv": (
        Trial(
            Layout(tp=8, dcp=8),
            version="0.24.0",
            settings=Settings(kv_cache_dtype="fp8"),
            says=("FP8", "8", "0.24.0", "0.25.0"),
            where="kv_cache_dtype",
        ),
        # The checkpoint brings scales for an FP8 cache, so "auto" means FP8.
        Trial(
            Layout(tp=8, dcp=8),
            "nvfp4",
            cluster(B200),
            version="0.20.0",
            settings=Settings(kv_cache_dtype="auto"),
            says=("0.20.0",),
            where="kv_cache_dtype",
        ),
        Trial(Layout(tp=8, dcp=8), version="0.25.0", settings=Settings(kv_cache_dtype="fp8")),
        Trial(Layout(tp=8, dcp=8), version="0.24.0"),
        Trial(version="0.11.0", settings=Settings(kv_cache_dtype="fp8")),
    ),
    "cpu-ep": (
        Trial(
            Layout(tp=2, ep=2), "bf16", cluster(CPU), "vllm-cpu", architecture=TINY, says=("2", "SIGSEGV"), where="ep"
        ),
        Trial(Layout(tp=2), "bf16", cluster(CPU), "vllm-cpu", architecture=TINY),
    ),
    "cpu-pp-eager": (
        Trial(
            Layout(pp=2),
            "bf16",
            cluster(CPU),
            "vllm-cpu",
            settings=Settings(enforce_eager=True),
            architecture=TINY,
            says=("2", "500"),
            where="pp",
        ),
        Trial(Layout(pp=2), "bf16", cluster(CPU), "vllm-cpu", architecture=TINY),
    ),
    "cpu-ray": (
        Trial(
            Layout(tp=2),
            "bf16",
            cluster(CPU),
            "vllm-cpu",
            settings=Settings(executor="ray"),
            architecture=TINY,
            says=("Ray",),
            where="executor",
            code=FORMAT,
        ),
        Trial(Layout(tp=2), "bf16", cluster(CPU), "vllm-cpu", architecture=TINY),
    ),
    "devices-enough": (
        Trial(Layout(tp=16), says=("16 × 1 × 1 = 16", "8 devices"), where="tp"),
        Trial(Layout(tp=4, dp=4), says=("16", "8"), where="tp"),
        Trial(Layout(tp=1, dp=16, ep=16), says=("16", "8"), where="dp"),
        Trial(Layout(tp=16), on=TWO),
        Trial(Layout(tp=2), "bf16", cluster(CPU), "vllm-cpu", architecture=TINY),
    ),
    "devices-idle": (
        Trial(on=TWO, says=("8 of 16", "8 stay idle"), where="tp", severity=WARNING, code=SUBOPTIMAL),
        Trial(),
        Trial(Layout(), "bf16", cluster(CPU), "vllm-cpu", architecture=TINY),
    ),
    "tp-across-nodes": (
        # 2 × 61 layers.
        Trial(
            Layout(tp=16),
            on=TWO,
            says=("16", "join 8", "122 all-reduces"),
            where="tp",
            severity=WARNING,
            code=SUBOPTIMAL,
        ),
        Trial(
            Layout(tp=8),
            on=cluster(GB10, 8),
            says=("8 reaches", "one device each", "122 all-reduces"),
            where="tp",
            severity=NOTE,
            code=SUBOPTIMAL,
        ),
        Trial(Layout(tp=8, pp=2), on=TWO),
        Trial(Layout(tp=16), on=cluster(A3), engine="vllm-ascend"),
    ),
    "multi-node-executor": (
        Trial(
            Layout(tp=16),
            "fp8",
            TWO,
            version="0.10.0",
            says=("16", "8", "Ray", "0.11.1"),
            where="tp",
            severity=WARNING,
            code=CONFLICT,
        ),
        Trial(
            Layout(tp=8, pp=2), "fp8", TWO, version="0.11.0", says=("Ray",), where="pp", severity=WARNING, code=CONFLICT
        ),
        Trial(
            Layout(tp=16, pp=2),
            on=cluster(A3, 2),
            engine="vllm-ascend",
            version="0.12.0rc1",
            says=("32", "Ray", "0.13.0"),
            where="pp",
            severity=WARNING,
            code=CONFLICT,
        ),
        Trial(Layout(tp=1, dp=16, ep=16), "fp8", TWO, version="0.10.0"),
        Trial(Layout(tp=16), "fp8", TWO, version="0.11.1"),
    ),
    "one-machine": (
        Trial(Layout(tp=16), on=TWO, engine="ktransformers", says=("16", "8"), where="tp"),
        Trial(Layout(tp=8), on=TWO, engine="ktransformers"),
    ),
}
