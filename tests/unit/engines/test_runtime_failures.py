# ruff: noqa: E501 - lines of logs are as long as they are
"""Lines of runtime_failures.toml: each names its cause, and nothing else of the catalogue comes before it."""

from __future__ import annotations

import pytest

from moonpad.catalog.toml_rows import rows
from moonpad.engines import ENGINES
from moonpad.engines.log_grammar import first_failure
from moonpad.observe.log_cause import read_log

LINES = {
    "sgl-pd-pages": "RuntimeError: Page size mismatch: prefill server has page_size=64, but decode server has page_size=1. Both servers must use the same --page-size value.",
    "sgl-pd-cache-type": "RuntimeError: KV cache dtype mismatch: prefill server has kv_cache_dtype=auto, but decode server has kv_cache_dtype=fp8_e4m3. Both servers must use the same --kv-cache-dtype value.",
    "sgl-pd-layout": "RuntimeError: KV layout mismatch: prefill server has kv_layout=v4, but decode server has kv_layout=fp8. Both servers must use the same --dsv4-attn-backend and SGLANG_DSV4_KV_LAYOUT.",
    "sgl-pd-latent-pools": "ValueError: PD peers disagree on the compressed-MLA KV layout: prefill registered 43 regions, decode 86 (43 is one pool per layer, 86 is the fp8 two-pool).",
    "sgl-pd-drafts-differ": "RuntimeError: DeepSeek-V4.1 DSpark PD layout mismatch (block_size): both servers must enable DSpark with the same block size and target/draft KV layout. Upgrade both servers together.",
    "sgl-pd-drafts-ranks": "RuntimeError: DeepSeek-V4.1 DSpark PD requires the same TP size on both servers (including prefill CP ranks for MLA)",
    "sgl-pd-sharded-ranks": "AssertionError: MLA KV cache sharding requires equal prefill/decode attn TP sizes, got prefill=8 decode=1",
    "sgl-pd-dcp-prefill-context": "RuntimeError: PD decode DCP currently requires prefill attention CP=1, got 8.",
    "sgl-pd-dcp-sharded": "RuntimeError: PD decode DCP does not support a prefill with --enable-kv-cache-sharding.",
    "sgl-pd-dcp-heads": "RuntimeError: PD decode DCP requires an MLA or hybrid-MLA KV pool.",
    "sgl-pd-dcp-entries": "RuntimeError: PD DCP source/destination KV geometry differs: src=[1152, 1152, 256, 256]",
    "sgl-pd-metadata": "[2026-10-02 10:11:12] ERROR Decode 10.0.0.2:8998 registered 7 metadata buffers but this prefill has 8; only the first 7 are transferred, and misaligned if the extra buffer is not the last.",
    "sgl-pd-prefill-absent": "[2026-02-02 10:00:00 TP0] ERROR Error fetching prefill server info from bootstrap: HTTPConnectionPool(host='10.0.0.1', port=8998): Max retries exceeded with url: /route",
    "sgl-pd-prefill-unregistered": "[2026-02-02 10:00:00 TP8] ERROR Prefill instance failed to register to bootstrap server after 5 retries",
    "sgl-pd-prefill-lost": "[2026-02-02 10:00:00 TP0] ERROR Lost connection with prefill instance (bootstrap_addr: 10.0.0.1:8998), 12 requests affected",
    "sgl-pd-staging-latent": "RuntimeError: SGLANG_DISAGG_STAGING_BUFFER is designed for non-MLA models (e.g. GQA, MHA). MLA models should not set this flag.",
    "sgl-pd-host-pool": "ValueError: Host pool must hold a retraction and a receive page; increase --hicache-size or --hicache-ratio",
    "sgl-offload-host-full": "[2026-03-03 11:00:00 TP0] ERROR Not enough host memory for request 3f2a9c",
    "sgl-hicache-no-room": "ValueError: No host memory is left for HiCache after the 10 GiB reserve; set --hicache-ratio or --hicache-size explicitly.",
    "sgl-hicache-no-auto-size": "ValueError: HiCache auto-sizing does not support DeepSeekV4TokenToKVPool; set --hicache-ratio or --hicache-size explicitly.",
    "sgl-mooncake-no-master": "ValueError: Either the environment variable 'MOONCAKE_MASTER' or 'MOONCAKE_CLIENT' is not set.",
    "sgl-mooncake-host-memory": "RuntimeError: MooncakeStore with standalone_storage=True requires MooncakeHostTensorAllocator. Please set standalone_storage=False or upgrade Mooncake by 'pip install mooncake-transfer-engine --upgrade'.",
    "sgl-dspark-attention-ranks": "ValueError: DSpark + dp attention with a DeepSeek-V4 (MoE) draft requires attn_tp == 1 (set --dp-size == --tp). attn_tp > 1 corrupts the MoE-under-DP all-reduce.",
    "sgl-dspark-graphs-dp": "ValueError: DSpark dense-draft compact verify under attention DP does not yet support cuda graph (idle DP groups cannot join the token-keyed compact graph).",
    "sgl-draft-other-words": "ValueError: STANDALONE speculative decoding requires the draft model to share the same vocabulary as the target model, but got target vocab_size=163840 and draft vocab_size=151936",
    "sgl-draft-latent-backend": "ValueError: trtllm_mla backend requires MLA model (use_mla_backend=True).",
    "sgl-mega-moe-tokens": "AssertionError: mega MoE: num_tokens=8192 exceeds cap SGLANG_OPT_DEEPGEMM_MEGA_MOE_NUM_MAX_TOKENS_PER_RANK=1024; raise the env var or lower --cuda-graph-max-bs-decode / --chunked-prefill-size accordingly",
    "sgl-deepep-without-deepgemm": "AssertionError: DeepEP DeepEPMode.AUTO mode requires deep_gemm",
    "sgl-deepep-v2-experts": "ValueError: --moe-a2a-backend deepep_v2 requires 128x128 blockwise FP8 or 1x32 MXFP8 experts with dynamic activation scaling or unquantized BF16 experts, but this layer selected FP4 experts. Use a compatible checkpoint or --moe-a2a-backend deepep.",
    "sgl-deepgemm-runner-sm120": "AssertionError: --moe-runner-backend deep_gemm on consumer Blackwell (SM120) requires the standard-layout MoE path, which is unavailable in this build.",
    "sgl-hash-shared": "NotImplementedError: HashTopK + apply_routed_scaling_factor_on_output is not supported with fused shared experts; pass --disable-shared-experts-fusion.",
    "sgl-lp-dispatch-model": "NotImplementedError: KimiK25ForConditionalGeneration does not support --ep-dispatch-algorithm lp. Validated targets: DeepseekV3ForCausalLM",
    "sgl-flashinfer-old": "ImportError: Can't import trtllm_fp8_block_scale_moe from flashinfer. Please check flashinfer version.",
    "sgl-type-of-format": "ValueError: torch.bfloat16 is not supported for quantization method awq. Supported dtypes: [torch.float16]",
    "sgl-fa3-devices": "AssertionError: FlashAttention v3 Backend requires SM>=80 and SM<=90. Please use `--attention-backend flashinfer`.",
    "sgl-flashmla-dcp-fp8": "AssertionError: FlashMLA does not support DCP for FP8 kv cache",
    "sgl-kda-flashinfer-devices": "ValueError: FlashInfer KDA prefill requires SM100 or SM103",
    "sgl-kda-flashinfer-graphs": "ValueError: FlashInfer KDA prefill requires eager linear attention; use disabled or breakable prefill CUDA graphs",
    "sgl-kda-overlap": "ValueError: FlashInfer KDA prefill does not support two-batch overlap",
    "sgl-kda-gate-decode": "NotImplementedError: KDA safe gate (lower_bound) is not implemented in the CuTe DSL decode kernel; use --linear-attn-decode-backend triton.",
    "sgl-kda-cutedsl-devices": "RuntimeError: CuTe DSL KDA prefill requires SM10x (tcgen05); got SM9.",
    "sgl-linear-attention-drafts": "NotImplementedError: CuteDSLKDAKernel does not support target_verify",
    "sgl-v4-drafts-tree": "AssertionError: MTP Topk > 1 not supported for DeepSeek V4",
    "sgl-v4-fp4-indexer": "RuntimeError: DeepSeek V4 FP4 indexer requires DeepGEMM indexer.",
    "sgl-v4-pool-bytes": "    assert self.store_dtype == torch.uint8",
    "sgl-packed-latent-projections": "AttributeError: 'ReplicatedLinear' object has no attribute 'weight'",
    "sgl-npu-torch": "NameError: name 'torch_npu' is not defined",
    "mooncake-tcp-device": "E0520 06:53:47.272128 18592 tcp_transport.cpp:136] Session::writeBody failed. Error: Bad address (value: 14), total_transferred_bytes_: 0, current transferred_bytes: 0",
    "llama-kernel-no-device-code": "ERROR: CUDA kernel flash_attn_ext_f16 has no device code compatible with CUDA arch 750. ggml-cuda.cu was compiled for: 750",
    "nvshmem-no-peer-memory": "/sgl-workspace/nvshmem/src/modules/transport/ibgda/ibgda.cpp:nvshmemt_init:3626: neither nv_peer_mem, or nvidia_peermem detected. Skipping transport.",
    "uccl-empty-ranks": "RuntimeError: Failed: Assertion error /data/uccl/ep/src/uccl_ep.cc:521 'topk_idx_ptr != 0'",
    "efa-library-older": "NCCL WARN NET/Plugin: libnccl-net-ofi.so: /lib/x86_64-linux-gnu/libefa.so.1: version `EFA_1.4' not found (required by /opt/amazon/efa/lib/libfabric.so.1)\ntorch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:3690, unhandled system error",
    "npu-queue-pairs": "[PID: 19891] 2026-06-25-06:56:28.880.615 Resource_Error(EI0007): Failed to allocate resource qp with info aicpu rank:1. Reason: Resources are exhausted.",
    "npu-expert-scales": "Invalid_Input(EZ0004): Parameter expertScales of MoeDistributeDispatchV2 Tiling Debug is required, but it is empty.",
    "npu-operator-absent": "RuntimeError: npu_hc_pre: NPU function error: call aclnnHcPreInvRms failed, error code is 561003",
    "npu-operators-path": "RuntimeError: call aclnnMatmul failed, error code is 561107",
    "llama-libraries-of-two-builds": "/home/a/llama.cpp/build/bin/llama-server: symbol lookup error: /home/a/llama.cpp/build/ggml/src/libggml.so: undefined symbol: _Z26ggml_cuda_op_mul_multi_addR25ggml_backend_cuda_contextP11ggml_tensor",
    "sgl-no-quantisation-name": "AttributeError: 'NoneType' object has no attribute 'get_name'",
    "capture-not-permitted": "RuntimeError: CUDA error: operation not permitted when stream is capturing",
    "npu-addresses": "RuntimeError: [ERROR] HCCL error in: torch_npu/csrc/distributed/ProcessGroupHCCL.cpp:64 EI0014: device_ip is invalid in ranktable file",
    "ascend-states-of-sides": "AssertionError: Mamba prefill TP size must be >= decode TP size.",
    "ascend-smaller-prefill": "ValueError: prefill_tp_size: 4 must be greater than or equal to the decode_tp_size: 8",
    "ascend-decode-stages": "AssertionError: decode pp size must be 1",
    "ascend-groups-of-sides": "AssertionError: Number of KV cache groups must match",
    "ascend-blocks-of-sides": "AssertionError: Block sizes of P (48) and D (128) must be divisible by each other.",
    "ascend-hybrid-context": "AssertionError: Mooncake Hybrid Connector only support cp_world_size == 1.",
    "ascend-layerwise-prefill-context": "AssertionError: Prefill context parallel is not support on decoder nodes",
    "ascend-store-states": "NotImplementedError: AscendStore hybrid linear-attention support currently requires mamba_cache_mode='align'.",
    "ascend-store-ranks": "ValueError: TP mismatch (local_tp=8, peer_tp=16) is not supported with sparse KV layouts (use_sparse=True)",
    "ascend-store-protocol": "NotImplementedError: MooncakeBackend does not support protocol 'rdma'.",
    "ascend-store-disk": "RuntimeError: mooncake.json has enable_ssd_offload=true, but the installed Mooncake does not support enable_ssd_offload",
}


def test_every_row_has_its_line() -> None:
    assert LINES.keys() == {key for key, _ in rows("runtime_failures.toml", "failures")}


@pytest.mark.parametrize("key", LINES)
def test_the_line_names_its_cause(key: str) -> None:
    row = dict(rows("runtime_failures.toml", "failures"))[key]
    lines = ["starting", *LINES[key].split("\n")]
    for name in row.get("engines", ("vllm", "sglang")):
        found = first_failure(ENGINES[str(name)].log, lines)
        assert found is not None
        assert found.message.startswith(str(row["message"]).split("{", maxsplit=1)[0])
        assert "{" not in found.message + found.remedy
    assert read_log("\n".join(lines)).key == key
