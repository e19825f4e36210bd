"""Variables with a value that their reader does not take."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code\n"
WRONG = (
    ("VLLM_USE_DEEP_GEMM=true", "invalid literal"),
    ("VLLM_ROCM_USE_AITER=yes", "counts as off"),
    ("VLLM_ROCM_USE_AITER_MHA=on", "counts as off"),
    ("VLLM_HTTP_TIMEOUT_KEEP_ALIVE=5s", "invalid literal"),
    ("VLLM_WORKER_MULTIPROC_METHOD=forkserver", "none of its values"),
    ("VLLM_KV_CACHE_LAYOUT=hnd", "none of its values"),
    ("VLLM_LOGGING_LEVEL=verbose", "no level"),
    ("PYTHONHASHSEED=none", "Python takes random"),
    ("NCCL_SOCKET_IFNAME=10.0.0.11", "network interface"),
    ("GLOO_SOCKET_IFNAME=192.168.1.4", "network interface"),
    ("VLLM_HOST_IP=eth0", "address alone"),
    ("VLLM_NIXL_SIDE_CHANNEL_HOST=10.0.0.1:5600", "address alone"),
    ("NCCL_IB_DISABLE=true", "NCCL reads a number"),
    ("HCCL_BUFFSIZE=512MB", "without a unit"),
    ("HCCL_OP_EXPANSION_MODE=AICPU", "no such mode"),
    ("PYTORCH_CUDA_ALLOC_CONF=expandable_segments=True", "joined by a colon"),
    ("UCX_NET_DEVICES=mlx5_0,mlx5_1", "port in UCX's names"),
    ("NCCL_IB_HCA=ib0,ib1", "is a network interface"),
)
RIGHT = (
    *("VLLM_ROCM_USE_AITER=1", "VLLM_ROCM_USE_AITER=True", "VLLM_ROCM_USE_AITER=off"),
    *("VLLM_USE_DEEP_GEMM=1", "VLLM_USE_DEEP_GEMM=$DEEP", "VLLM_WORKER_MULTIPROC_METHOD=spawn", "PYTHONHASHSEED=0"),
    *("VLLM_LOGGING_LEVEL=debug", "NCCL_SOCKET_IFNAME=eth0", "NCCL_SOCKET_IFNAME=^lo,docker", "NCCL_IB_DISABLE=1"),
    *("VLLM_HOST_IP=10.0.0.1", "HCCL_BUFFSIZE=512", "HCCL_OP_EXPANSION_MODE=AIV", "UCX_NET_DEVICES=mlx5_0:1"),
    *("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "UCX_NET_DEVICES=all", "VLLM_HOST_IP=$(hostname -i)"),
    *("UCX_NET_DEVICES=eth0", "VLLM_HOST_IP=node-1.cluster.local", "NCCL_IB_HCA=ibp0", "NCCL_IB_HCA=mlx5_0"),
)


def found(text: str) -> list[Finding]:
    return [
        each for one in ask(text) for each in one.findings if str(each.code) == "invalid-value" and each.where.isupper()
    ]


@pytest.mark.parametrize(("setting", "words"), WRONG)
def test_no_value_of_the_variable(setting: str, words: str) -> None:
    (one,) = found(f"# vLLM 0.19.0\nexport {setting}\n{SERVE}")
    assert words in one.message
    assert (one.severity, one.where) == (Severity.WARNING, setting.partition("=")[0])


@pytest.mark.parametrize("setting", RIGHT)
def test_the_variable_takes_it(setting: str) -> None:
    assert found(f"# vLLM 0.19.0\nexport {setting}\n{SERVE}") == []


def test_of_the_engine_that_reads_it() -> None:
    other = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8 --trust-remote-code\n"
    assert found(f"export VLLM_USE_DEEP_GEMM=true\n{other}") == []
    assert len(found(f"export NCCL_SOCKET_IFNAME=10.0.0.1\n{other}")) == 1


def test_of_a_release_that_looks_at_it() -> None:
    setting = "export VLLM_FLASHINFER_MOE_BACKEND=fast"
    assert found(f"# vLLM 0.10.0\n{setting}\n{SERVE}") == []
    assert len(found(f"# vLLM 0.15.0\n{setting}\n{SERVE}")) == 1


TF32 = f"VLLM_FLOAT32_MATMUL_PRECISION=tf32 {SERVE.replace('Kimi-K2.5', 'Kimi-K2-Instruct')}"


def test_the_release_that_takes_it_is_named_where_none_is_meant() -> None:
    """https://github.com/vllm-project/vllm/pull/30428 of December 2025, which is in 0.13.0."""
    (one,) = found(TF32)
    assert "0.13.0 takes it: --engine-version says which is meant" in one.message
    assert "ends the engine" not in one.message


def test_of_a_release_that_is_named_nothing_is_left_open() -> None:
    (one,) = found(f"# vLLM 0.19.0\n{TF32}")
    assert "ends the engine" in one.message
    assert "0.13.0" not in one.message
    assert found(f"# vLLM 0.13.0\n{TF32}") == []


def test_a_value_is_judged_by_the_releases_that_were_read() -> None:
    (one,) = found(f"VLLM_KV_CACHE_LAYOUT=hnd {SERVE}")
    assert "seen from 0.14.0 on" in one.message
