"""Lines by which loaders of GGUF, Mooncake and DeepEP say why they ended."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

OLD = "python -m ktransformers.local_chat --model_path /m/DeepSeek-R1 --gguf_path /m/R1-GGUF --cpu_infer 32\n\n"
SGLANG = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp-size 8 --trust-remote-code\n\n"
LLAMA = "llama-server -m /m/Kimi-K2-Instruct-UD-Q2_K_XL-00001-of-00008.gguf -ngl 99\n\n"
VLLM = "vllm serve /m/DeepSeek-R1-w8a16 -tp 16 --trust-remote-code\n\n"
GLOG = "E20261120 08:11:02.817372 4711 store.cpp:232] "


def causes(text: str) -> list[tuple[str, str]]:
    found = [finding for judged in ask(text) for finding in judged.findings if finding.code is Code.LOGGED_FAILURE]
    return [(finding.message, finding.remedy) for finding in found]


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            f"{OLD}/opt/kt/custom_gguf.py:193: UserWarning: Version 1936876918 has never been tested",
            "Git LFS",
        ),
        (f"{LLAMA}gguf_init_from_file_impl: invalid magic characters: 'vers', expected 'GGUF'", "Git LFS"),
        (f"{OLD}Exception: can't find blk.0.attn_kv_b.weight in GGUF file!", "attn_k_b and attn_v_b"),
        (
            f"{OLD}Exception: can't find model.layers.0.self_attn.kv_b_proj.weight in GGUF file!",
            "attn_k_b and attn_v_b",
        ),
        (f"{OLD}Exception: can't find token_embd.weight in GGUF file!", "in the first part"),
        (f"{OLD}KeyError: 'Key output.weight not found in Safetensor files'", "in the place of the GGUF files"),
        (
            f"{SGLANG}{GLOG}Duplicate rpc_meta key not allowed: mooncake/rpc_meta/localhost:12345",
            "under one local_hostname",
        ),
        (
            f"{SGLANG}{GLOG}Unable to find metadata storage plugin etcd with conn string: etcd://10.0.0.3:2379",
            "no etcd",
        ),
        (f'{SGLANG}the log showed "http=404 body: metadata not found"', "keeps what it knows in memory"),
        (
            f"{SGLANG}RuntimeError: Failed: Assertion error deep_ep.cpp:1233 'x.size(0) == topk_idx.size(0) and "
            "x.size(0) <= num_max_dispatch_tokens_per_rank'",
            "DeepEP's buffer for low latency",
        ),
        (f"{SGLANG}ValueError: Invalid FlyDSL kernel name: flydsl_moe1_afp4_wfp4_bf16_t16", "table of tuned kernels"),
        (
            f"{VLLM}AttributeError: Layer 'ColumnParallelLinear(in_features=512, tp_size=16)' has neither weight nor "
            "qweight",
            "kv_b_proj",
        ),
        (
            f"{VLLM}ERROR 06-12 13:12:27 [mooncake_store.py:97] Invoked with: <mooncake.store.MooncakeDistributedStore "
            "object at 0x7af2>, None, '10.0.0.1:2379', 3355443200, 1073741824, 'rdma', 'erdma_0', None",
            "lacks a key",
        ),
        (
            f"{SGLANG}2026-05-30T00:35:01.153Z ERROR chat_completions: Internal server error: Failed to generate "
            'completions: no instances found for endpoint "instances/dynamo/backend/generate"',
            "knows no worker at instances/dynamo/backend/generate",
        ),
        (f"{LLAMA}CUDA error: an illegal memory access was encountered", "a fault of the build"),
    ],
)
def test_a_cause_is_named(text: str, cause: str) -> None:
    ((message, _),) = causes(text)
    assert cause in message


@pytest.mark.parametrize(
    ("symbol", "cause"),
    [
        ("_ZNK3c1011StorageImpl27throw_data_ptr_access_errorEv", "another torch"),
        ("_ZN21PageAlignedMemoryPool5debugEv", "another state of its source"),
    ],
)
def test_a_symbol_tells_whose_it_is(symbol: str, cause: str) -> None:
    ((message, _),) = causes(
        f"{OLD}ImportError: /opt/kt/sched_ext.cpython-311-x86_64-linux-gnu.so: undefined symbol: {symbol}"
    )
    assert cause in message


def test_a_release_with_its_build_is_no_command() -> None:
    assert len(ask(f"ktransformers 0.2.1+cu121torch23avx2\n{OLD}")) == 1


def test_the_old_server_is_not_told_of_options_of_another() -> None:
    ((_, remedy),) = causes(f"{OLD}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.73 GiB.")
    assert "--mem-fraction-static" not in remedy
    assert "--optimize_config_path" in remedy


@pytest.mark.parametrize(("value", "wanted"), [("enabled", "true"), ("disabled", "false")])
def test_thinking_is_switched_as_it_was_meant(value: str, wanted: str) -> None:
    body = f'{{"model": "moonshotai/Kimi-K2-Thinking", "messages": [], "thinking": {{"type": "{value}"}}}}'
    text = f"{SGLANG}curl http://localhost:30000/v1/chat/completions -H 'Content-Type: application/json' -d '{body}'"
    remedies = [finding.remedy for judged in ask(text) for finding in judged.findings if finding.where == "thinking"]
    assert remedies == [f'write chat_template_kwargs: {{"thinking": {wanted}}}, or what the template reads']
