"""For every rule what trips it and what passes it. Numbers in `says` are worked out by hand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from moonpad.values.checkpoint import Architecture
from moonpad.values.cluster import Cluster, Host
from moonpad.values.finding import Code, Severity
from moonpad.values.plan import Layout, Settings
from tests.unit.plan.rules.builders import (
    A3,
    A100,
    B200,
    CPU,
    GB10,
    GH200,
    H200,
    K2,
    K2_256K,
    K3,
    K25,
    KIMI_LINEAR,
    L40S,
    MI300X,
    MI355X,
    TINY,
    V100,
    cluster,
)

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE
ILLEGAL, FORMAT, VALUE = Code.ILLEGAL_LAYOUT, Code.UNSUPPORTED_FORMAT, Code.INVALID_VALUE
SUBOPTIMAL, CONFLICT, PLATFORM = Code.SUBOPTIMAL, Code.CONFLICT, Code.PLATFORM_UNSUPPORTED

assert K3.linear is not None
K3_LINEAR = K3.linear
ONE = cluster(H200)
TWO = cluster(H200, 2)
FOUR = cluster(H200, 4)
TWELVE = cluster(H200, 12)


@dataclass(frozen=True)
class Trial:
    """`says` empty: the rule is silent."""

    layout: Layout = field(default_factory=lambda: Layout(tp=8))
    scheme: str = "int4"
    on: Cluster = ONE
    engine: str = "vllm"
    version: str = "0.32.0"
    settings: Settings = field(default_factory=Settings)
    architecture: Architecture = K2_256K
    says: tuple[str, ...] = ()
    where: str = ""
    severity: Severity = ERROR
    code: Code = ILLEGAL


TRIALS: dict[str, tuple[Trial, ...]] = {
    "degrees-positive": (
        Trial(Layout(tp=0), says=("tp is 0",), where="tp"),
        Trial(Layout(tp=8, dcp=-1), says=("dcp is -1",), where="dcp"),
        Trial(),
    ),
    "engine-platform": (
        Trial(on=cluster(MI300X), engine="tensorrt-llm", says=("NVIDIA", "MI300X"), where="engine", code=PLATFORM),
        Trial(on=cluster(CPU), engine="sglang", says=("CPU",), where="engine", code=PLATFORM),
        Trial(on=cluster(H200), engine="vllm-ascend", says=("Ascend", "H200"), where="engine", code=PLATFORM),
        Trial(on=cluster(MI300X)),
        Trial(on=cluster(A3), engine="vllm-ascend"),
    ),
    "bf16-device": (
        Trial(on=cluster(V100), says=("V100", "7.0", "BF16"), where="engine", code=PLATFORM),
        Trial(on=cluster(A100)),
    ),
    "model-version": (
        Trial(version="0.14.1", architecture=K25, says=("0.14.1", "kimi_k25", "0.15.0"), where="engine", code=FORMAT),
        Trial(version="0.9.2", says=("0.9.2", "0.10.0rc1"), where="engine", code=FORMAT),
        Trial(engine="sglang", version="0.5.8", architecture=K25, says=("0.5.9",), where="engine", code=FORMAT),
        Trial(version="0.10.0rc1"),
        Trial(version="0.15.0", architecture=K25),
        Trial(version="", architecture=K25),
        Trial(
            scheme="bf16",
            version="0.11.0",
            architecture=KIMI_LINEAR,
            says=("kimi_linear", "0.11.2"),
            where="engine",
            code=FORMAT,
        ),
        Trial(
            scheme="mxfp4-packed",
            on=cluster(MI355X),
            version="0.26.0",
            architecture=K3,
            says=("kimi_k3", "0.27.0"),
            where="engine",
            code=FORMAT,
        ),
        Trial(
            scheme="bf16",
            engine="tensorrt-llm",
            version="1.2.0",
            architecture=KIMI_LINEAR,
            says=("tensorrt-llm", "linear attention"),
            where="engine",
            code=FORMAT,
        ),
        Trial(scheme="bf16", version="0.11.2", architecture=KIMI_LINEAR),
        Trial(scheme="bf16", engine="sglang", version="0.5.23", architecture=KIMI_LINEAR),
        Trial(scheme="mxfp4-packed", on=cluster(MI355X), architecture=K3),
    ),
    "broken-release": (
        Trial(
            scheme="bf16",
            version="0.12.0",
            architecture=KIMI_LINEAR,
            says=("0.12.0", "indexer_rotary_emb"),
            where="engine",
            code=FORMAT,
        ),
        Trial(scheme="bf16", version="0.11.2", architecture=KIMI_LINEAR),
        Trial(version="0.12.0"),
    ),
    "k3-fp8-kv": (
        Trial(
            scheme="mxfp4",
            on=FOUR,
            architecture=K3,
            settings=Settings(kv_cache_dtype="fp8"),
            says=("Kimi-K3", "Blackwell"),
            where="kv_cache_dtype",
            severity=WARNING,
            code=CONFLICT,
        ),
        Trial(scheme="mxfp4", on=cluster(B200, 4), architecture=K3, settings=Settings(kv_cache_dtype="fp8")),
        Trial(scheme="mxfp4", on=FOUR, architecture=K3),
        Trial(settings=Settings(kv_cache_dtype="fp8")),
    ),
    "unified-memory": (
        Trial(
            Layout(),
            on=cluster(GB10),
            says=("0.92", "GB10"),
            where="gpu_memory_utilization",
            code=VALUE,
        ),
        Trial(Layout(), on=cluster(GB10), settings=Settings(gpu_memory_utilization=0.8)),
        Trial(settings=Settings(gpu_memory_utilization=0.95)),
    ),
    "gguf-engine": (
        Trial(scheme="gguf", says=("GGUF", "vllm"), where="quantization", code=FORMAT),
        Trial(scheme="gguf", engine="ktransformers"),
        Trial(Layout(), "gguf", engine="llama-cpp", version="b11434"),
    ),
    "gguf-alone": (
        Trial(Layout(), engine="llama-cpp", version="b11434", says=("GGUF",), where="quantization", code=FORMAT),
        Trial(Layout(), "gguf", engine="llama-cpp", version="b11434"),
    ),
    "whole-layers": (
        Trial(Layout(tp=8), "gguf", engine="llama-cpp", version="b11434", says=("tp 8",), where="tp"),
        Trial(Layout(pp=8, ep=2), "gguf", engine="llama-cpp", version="b11434", says=("ep 2",), where="ep"),
        Trial(Layout(pp=8), "gguf", engine="llama-cpp", version="b11434"),
    ),
    "layers-on-devices": (
        Trial(
            Layout(),
            "gguf",
            engine="llama-cpp",
            version="b11434",
            settings=Settings(device_layers=63),
            says=("63", "62"),
            where="device_layers",
            code=Code.INVALID_VALUE,
        ),
        Trial(Layout(), "gguf", engine="llama-cpp", version="b11434", settings=Settings(device_layers=62)),
    ),
    "ascend-formats": (
        Trial(scheme="w8a8", says=("W8A8", "Ascend"), where="quantization", code=FORMAT),
        Trial(
            Layout(tp=16),
            "fp8",
            cluster(A3),
            "vllm-ascend",
            "0.23.0",
            says=("FP8", "Ascend 910C"),
            where="quantization",
            code=FORMAT,
        ),
        Trial(Layout(tp=8, dp=2, ep=16), "w8a8", cluster(A3), "vllm-ascend", "0.23.0"),
        Trial(Layout(tp=16), "bf16", cluster(A3), "vllm-ascend", "0.23.0"),
    ),
    "ascend-int4-targets": (
        Trial(
            Layout(tp=16, ep=16),
            on=cluster(A3),
            engine="vllm-ascend",
            version="0.23.0",
            says=('["MoE"]', '["Linear"]'),
            where="quantization",
            severity=NOTE,
            code=FORMAT,
        ),
        Trial(),
    ),
    "int4-engine": (
        Trial(engine="tensorrt-llm", version="1.2", says=("INT4", "tensorrt-llm"), where="quantization", code=FORMAT),
        Trial(
            on=cluster(A3),
            engine="vllm-ascend",
            version="0.11.0",
            says=("0.11.0", "0.12.0rc1"),
            where="quantization",
            code=FORMAT,
        ),
        Trial(on=cluster(A3), engine="vllm-ascend", version="0.20.2rc1"),
        Trial(scheme="fp8", engine="tensorrt-llm"),
    ),
    "ascend-draft-dcp": (
        *(
            Trial(
                Layout(tp=16, dcp=4),
                on=cluster(A3),
                engine="vllm-ascend",
                version=version,
                settings=Settings(draft_tokens=3, draft=draft),
                says=says,
                where="dcp",
                severity=severity,
                code=Code.CONFLICT,
            )
            for version, draft, says, severity in (
                ("0.23.0", "AQ-MedAI/Kimi-K25-eagle3", ("4", "64 KV heads", "not 16"), ERROR),
                ("0.20.2rc1", "AQ-MedAI/Kimi-K25-eagle3", ("64 KV heads", "fails"), WARNING),
                ("0.23.0", "nvidia/Kimi-K2.6-Eagle3", ("latent attention", "kimi_k2"), WARNING),
                ("0.23.0", None, ("latent attention",), WARNING),
            )
        ),
        Trial(Layout(tp=16), on=cluster(A3), engine="vllm-ascend", settings=Settings(draft_tokens=3)),
        Trial(Layout(tp=16, dcp=4), on=cluster(A3), engine="vllm-ascend"),
        Trial(Layout(tp=8, dcp=4), settings=Settings(draft_tokens=3, draft="AQ-MedAI/Kimi-K25-eagle3")),
    ),
    "fp8-device": (
        Trial(
            scheme="fp8",
            on=cluster(A100),
            says=("8.0", "Marlin"),
            where="quantization",
            severity=WARNING,
            code=SUBOPTIMAL,
        ),
        Trial(scheme="fp8", on=cluster(A100), engine="sglang", says=("8.0",), where="quantization", code=FORMAT),
        Trial(scheme="fp8", on=cluster(L40S)),
        Trial(scheme="fp8", on=cluster(MI300X)),
        Trial(on=cluster(A100)),
    ),
    "nvfp4-device": (
        Trial(
            scheme="nvfp4",
            says=("9.0", "Marlin", "Blackwell"),
            where="quantization",
            severity=WARNING,
            code=SUBOPTIMAL,
        ),
        Trial(scheme="nvfp4", engine="sglang", version="0.5.12", says=("0.5.12",), where="quantization", code=FORMAT),
        Trial(scheme="nvfp4", engine="tensorrt-llm", says=("9.0",), where="quantization", code=FORMAT),
        Trial(
            scheme="nvfp4",
            on=cluster(B200),
            engine="ktransformers",
            says=("NVFP4", "processor"),
            where="quantization",
            code=FORMAT,
        ),
        Trial(scheme="nvfp4", on=cluster(MI355X), says=("MI355X",), where="quantization", code=FORMAT),
        Trial(scheme="nvfp4", on=cluster(B200)),
        Trial(scheme="nvfp4", on=cluster(B200), engine="tensorrt-llm"),
    ),
    "arm-host": (
        Trial(on=cluster(GH200), engine="ktransformers", says=("GH200", "Arm"), where="engine", code=PLATFORM),
        Trial(on=cluster(GH200)),
        Trial(engine="ktransformers"),
    ),
    "mxfp4-device": (
        Trial(
            scheme="mxfp4",
            on=cluster(MI300X),
            says=("gfx942", "emulates"),
            where="quantization",
            severity=WARNING,
            code=SUBOPTIMAL,
        ),
        Trial(scheme="mxfp4", says=("gfx950", "H200"), where="quantization", code=FORMAT),
        Trial(scheme="mxfp4", on=cluster(MI355X)),
        Trial(
            Layout(tp=32),
            "mxfp4-packed",
            FOUR,
            architecture=K3,
            says=("9.0", "Marlin"),
            where="quantization",
            severity=WARNING,
            code=SUBOPTIMAL,
        ),
        Trial(
            Layout(tp=8),
            "mxfp4-packed",
            cluster(V100),
            architecture=K3,
            says=("V100",),
            where="quantization",
            code=FORMAT,
        ),
        Trial(Layout(tp=8), "mxfp4-packed", cluster(B200), architecture=K3),
    ),
    "cpu-formats": (
        Trial(Layout(), "int4", cluster(CPU), "vllm-cpu", says=("INT4", "routing"), where="quantization", code=FORMAT),
        Trial(Layout(), "fp8", cluster(CPU), "vllm-cpu", says=("FP8", "AMX"), where="quantization", code=FORMAT),
        Trial(Layout(), "fp8", cluster(CPU, host=Host(amx=True)), "vllm-cpu"),
        Trial(Layout(), "bf16", cluster(CPU), "vllm-cpu", architecture=TINY),
    ),
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
    "cpu-kv-fp8": (
        Trial(
            Layout(),
            "bf16",
            cluster(CPU),
            "vllm-cpu",
            settings=Settings(kv_cache_dtype="fp8"),
            architecture=TINY,
            says=("500",),
            where="kv_cache_dtype",
            code=FORMAT,
        ),
        Trial(Layout(), "bf16", cluster(CPU), "vllm-cpu", settings=Settings(kv_cache_dtype="auto"), architecture=TINY),
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
    "cpu-long-prompts": (
        Trial(
            Layout(),
            "bf16",
            cluster(CPU, host=Host(memory_bytes=24 << 30)),
            "vllm-cpu",
            settings=Settings(max_model_len=32_768),
            architecture=TINY,
            says=("36 GiB", "24.0 GiB"),
            where="max_model_len",
            severity=Severity.WARNING,
            code=Code.DOES_NOT_FIT,
        ),
        Trial(
            Layout(),
            "bf16",
            cluster(CPU, host=Host(memory_bytes=24 << 30)),
            "vllm-cpu",
            settings=Settings(max_model_len=25_600),
            architecture=TINY,
        ),
    ),
    "cpu-sglang": (
        Trial(
            Layout(pp=2),
            "bf16",
            cluster(CPU),
            "sglang-cpu",
            architecture=TINY,
            says=("with tp alone",),
            where="pp",
        ),
        Trial(Layout(tp=2), "bf16", cluster(CPU), "sglang-cpu", architecture=TINY),
    ),
    "kv-dtype-name": (
        Trial(
            engine="sglang",
            settings=Settings(kv_cache_dtype="fp8_inc"),
            says=('"fp8_inc"', "fp8_e4m3"),
            where="kv_cache_dtype",
            code=VALUE,
        ),
        Trial(settings=Settings(kv_cache_dtype="int3"), says=('"int3"',), where="kv_cache_dtype", code=VALUE),
        Trial(engine="sglang", settings=Settings(kv_cache_dtype="fp8_e4m3")),
        Trial(engine="sglang", settings=Settings(kv_cache_dtype="fp8")),
        Trial(settings=Settings(kv_cache_dtype="fp8")),
        Trial(scheme="fp8", engine="tensorrt-llm", settings=Settings(kv_cache_dtype="fp8")),
    ),
    "kv-dtype-backend": (
        Trial(
            settings=Settings(kv_cache_dtype="fp8", attention_backend="FLASH_ATTN_MLA"),
            says=("FLASH_ATTN_MLA", "fp8"),
            where="kv_cache_dtype",
            code=FORMAT,
        ),
        Trial(
            on=cluster(A100),
            settings=Settings(kv_cache_dtype="fp8"),
            says=("8.0",),
            where="kv_cache_dtype",
            code=FORMAT,
        ),
        Trial(
            on=cluster(MI300X),
            version="0.17.0",
            settings=Settings(kv_cache_dtype="fp8"),
            says=("0.17.0", "gfx942"),
            where="kv_cache_dtype",
            code=FORMAT,
        ),
        Trial(settings=Settings(kv_cache_dtype="fp8_e5m2"), says=("fp8_e5m2",), where="kv_cache_dtype", code=FORMAT),
        Trial(settings=Settings(kv_cache_dtype="fp8")),  # FLASHMLA holds it
        Trial(on=cluster(L40S), settings=Settings(kv_cache_dtype="fp8")),
        Trial(settings=Settings(attention_backend="FLASH_ATTN_MLA")),
    ),
    "kv-ascend": (
        Trial(
            Layout(tp=16),
            on=cluster(A3),
            engine="vllm-ascend",
            settings=Settings(kv_cache_dtype="fp8"),
            says=("fp8", "Ascend 910C"),
            where="kv_cache_dtype",
            code=FORMAT,
        ),
        Trial(Layout(tp=16), on=cluster(A3), engine="vllm-ascend", settings=Settings(kv_cache_dtype="auto")),
    ),
    "backend-device": (
        Trial(
            on=cluster(B200),
            settings=Settings(attention_backend="FLASHMLA"),
            says=("FLASHMLA", "B200", "10.0"),
            where="attention_backend",
            code=VALUE,
        ),
        Trial(
            on=cluster(B200),
            version="0.20.0",
            settings=Settings(attention_backend="TOKENSPEED_MLA"),
            says=("TOKENSPEED_MLA", "0.20.0"),
            where="attention_backend",
            code=VALUE,
        ),
        Trial(
            settings=Settings(attention_backend="WISHFUL_MLA"),
            says=("WISHFUL_MLA",),
            where="attention_backend",
            severity=NOTE,
            code=VALUE,
        ),
        Trial(settings=Settings(attention_backend="FLASHMLA")),
        Trial(engine="sglang", settings=Settings(attention_backend="flashmla")),
    ),
    "block-size": (
        Trial(
            settings=Settings(attention_backend="FLASHMLA", block_size=32),
            says=("32", "multiple of 64"),
            where="block_size",
            code=VALUE,
        ),
        Trial(
            on=cluster(B200),
            settings=Settings(attention_backend="CUTLASS_MLA", block_size=64),
            says=("64", "multiple of 128"),
            where="block_size",
            code=VALUE,
        ),
        Trial(settings=Settings(block_size=8), says=("8", "16"), where="block_size", code=VALUE),
        Trial(settings=Settings(block_size=0), says=("0",), where="block_size", code=VALUE),
        Trial(
            engine="sglang",
            settings=Settings(attention_backend="flashmla", block_size=1),
            says=("1", "64"),
            where="block_size",
            severity=WARNING,
            code=CONFLICT,
        ),
        Trial(settings=Settings(block_size=16)),
        Trial(settings=Settings(attention_backend="FLASHMLA", block_size=128)),
        Trial(on=cluster(B200), settings=Settings(attention_backend="CUTLASS_MLA", block_size=128)),
    ),
    "aiter-heads": (
        # vllm#35641: tp = 8 leaves 64 / 8 = 8 heads.
        Trial(
            on=cluster(MI355X),
            version="0.16.0",
            settings=Settings(attention_backend="ROCM_AITER_MLA"),
            says=("8 heads", "16 or 128"),
            where="attention_backend",
        ),
        Trial(
            Layout(tp=32),
            on=cluster(MI300X, 4),
            version="0.18.0",
            settings=Settings(attention_backend="ROCM_AITER_MLA"),
            says=("2 heads", "4, 8"),
            where="attention_backend",
        ),
        Trial(
            engine="sglang",
            on=cluster(MI300X),
            version="0.5.9",
            settings=Settings(attention_backend="aiter"),
            says=("8 heads", "16"),
            where="attention_backend",
        ),
        Trial(on=cluster(MI355X), version="0.18.0", settings=Settings(attention_backend="ROCM_AITER_MLA")),
        Trial(
            Layout(tp=4, dp=2),
            on=cluster(MI300X),
            version="0.16.0",
            settings=Settings(attention_backend="ROCM_AITER_MLA"),
        ),
        Trial(on=cluster(MI300X), version="0.16.0"),
    ),
    "context-limit": (
        Trial(
            architecture=K2,
            settings=Settings(max_model_len=262144),
            says=("262,144", "131,072"),
            where="max_model_len",
            code=VALUE,
        ),
        Trial(settings=Settings(max_model_len=0), says=("0",), where="max_model_len", code=VALUE),
        Trial(settings=Settings(max_model_len=262144)),
        Trial(architecture=K2, settings=Settings(max_model_len=131072)),
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
    "draft-known": (
        Trial(settings=Settings(draft_tokens=3), says=("0.76 GiB",), where="draft", severity=NOTE, code=Code.TIGHT),
        Trial(settings=Settings(draft_tokens=3, draft="lightseekorg/kimi-k2.6-eagle3-mla")),
        Trial(),
    ),
    "whole-sizes": (
        Trial(
            engine="sglang",
            version="0.5.23",
            settings=Settings(cpu_offload_gib=0.5),
            says=("cpu_offload_gib 0.5",),
            where="cpu_offload_gib",
            code=VALUE,
        ),
        Trial(
            engine="sglang",
            version="0.5.23",
            settings=Settings(kv_offload_size=10.25),
            says=("kv_offload_size 10.25",),
            where="kv_offload_size",
            code=VALUE,
        ),
        Trial(engine="sglang", version="0.5.23", settings=Settings(cpu_offload_gib=2.0, kv_offload_ratio=1.5)),
        Trial(settings=Settings(cpu_offload_gib=0.5)),
    ),
    "lora-model": (
        Trial(settings=Settings(max_loras=1), architecture=K25, says=("LoRA", "max_loras 1"), where="max_loras"),
        Trial(settings=Settings(max_loras=1)),
        Trial(architecture=K25),
    ),
    "step-of-sequences": (
        Trial(
            settings=Settings(max_num_seqs=1024, max_num_batched_tokens=512),
            says=("512 tokens", "1,024 sequences"),
            where="max_num_batched_tokens",
            code=VALUE,
        ),
        Trial(
            engine="vllm-ascend",
            version="0.18.0",
            settings=Settings(max_num_seqs=2, max_num_batched_tokens=1),
            says=("1 tokens",),
            where="max_num_batched_tokens",
            code=VALUE,
        ),
        Trial(settings=Settings(max_num_seqs=512, max_num_batched_tokens=512)),
        Trial(settings=Settings(max_num_batched_tokens=1)),
        Trial(engine="sglang", version="0.5.23", settings=Settings(max_num_seqs=1024, max_num_batched_tokens=512)),
    ),
}
