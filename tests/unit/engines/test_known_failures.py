# ruff: noqa: E501 - lines of logs are as long as they are
"""The failures of the catalogue: each is known by the line that the threads show, and by no talk about it."""

from __future__ import annotations

from typing import Final

import pytest

from moonpad.catalog.known_failures import FILES, known_failures
from moonpad.catalog.toml_rows import rows
from moonpad.engines import ENGINES
from moonpad.engines.log_grammar import first_failure
from moonpad.observe.log_cause import read_log

WORKER = "(Worker_TP1 pid=944525) ERROR 03-01 06:39:51 [multiproc_executor.py:783] "
SAMPLES = {
    "second-core-connector": WORKER + "assert issubclass(connector_cls, KVConnectorBase)",
    "lmcache-request-lists": WORKER + "TypeError: 'CachedRequestData' object is not iterable",
    "lmcache-packed-cache": WORKER
    + "RuntimeError: attempt_permute_to_contiguous_view: tensor is non-contiguous and not a supported layout",
    "no-common-block": WORKER + "ValueError: No common block size for 4.",
    "clamped-activation": "RuntimeError: Worker failed with error 'SWIGLUOAI_UNINTERLEAVE requires clamp_limit'",
    "connector-of-no-release": WORKER + "ValueError: Unsupported connector type: MooncakeStoreConnector",
    "package-of-tokenizer": "vllm  | ModuleNotFoundError: No module named 'blobfile'",
    "bytes-to-unicode": "ImportError: cannot import name 'bytes_to_unicode' from 'transformers.models.gpt2.tokenization_gpt2'",
    "amd-quark": WORKER
    + "ImportError: The package `amd-quark` is required to use MX-FP4 models. Please install it with `pip install amd-quark`.",
    "fastsafetensors": WORKER + "ImportError: Please install fastsafetensors via `pip install fastsafetensors`",
    "symmetric-memory-of-others": WORKER + "RuntimeError: CUDA driver error: invalid device ordinal",
    "runai-streamer": "ModuleNotFoundError: No module named 'runai_model_streamer'",
    "remote-code": "(APIServer pid=4) The repository moonshotai/Kimi-K2-Thinking contains custom code which must be executed to correctly load the model.",
    "model-type": "Value error, The checkpoint you are trying to load has model type `kimi_k25` but Transformers does not recognize this architecture.",
    "architecture": "ValueError: Model architectures ['KimiK25ForConditionalGeneration'] are not supported for now. Supported architectures: ['AquilaForCausalLM']",
    "k3-prefill-query": "AssertionError: Kimi-K3 fp8 KV cache requires an fp8 prefill query; enable --attention-config.",
    "tool-parser": "KeyError: 'invalid tool call parser: kimi_k2 (chose from { deepseek_v3,hermes,mistral })'",
    "reasoning-parser": "KeyError: 'invalid reasoning parser: kimi_k2 (chose from { deepseek_r1,granite,qwen3 })'",
    "eagle3-target": "Value error, Eagle3 is only supported for ['llama', 'qwen', 'minicpm', 'gpt_oss'] models. Got self.target_model_config.hf_text_config.model_type='kimi_k2'",
    "fp8-block-experts": "ValueError: The output_size of gate's and up's weight = 192 is not divisible by weight quantization block_n = 128.",
    "fp8-block-experts-by-option": "ValueError: The output_size of gate's and up's weight = 192 is not divisible by weight quantization block_n = 128.",
    "fp8-block-moe": "ValueError: MoE gate+up weight output_size (80) not divisible by FP8 block_n=128",
    "fp8-block-dense": "ValueError: Weight output_partition_size = 576 is not divisible by weight quantization block_n = 128.",
    "deep-gemm-scales": "Assertion failed: deep_gemm/impls/smxx_layout.cuh:131, condition: (values[j] & 0x807fffffu) == 0",
    "wna16-blocks": "ERROR 06-26 00:04:52 [core.py:517] RuntimeError: size_k must divisible by BLOCK_SIZE_K",
    "fp8-block-scales-unread": "(NPURayWorkerWrapper pid=42471, ip=10.2.99.73) ERROR 04-08 17:56:32 worker_base.py:581] KeyError: 'model.layers.39.mlp.experts.w2_weight_scale_inv'",
    "shared-expert-scale": "KeyError: 'model.layers.5.mlp.shared_experts.up_proj.weight_scale'",
    "quantized-shape": "[rank0]: ValueError: The input size is not aligned with the quantized weight shape. This can be caused by too large tensor parallel size.",
    "pipeline-kv": "KeyError: 'language_model.model.layers.30.self_attn.attn' [repeated 49x across cluster]",
    "tp-beyond-node": "Value error, World size (16) is larger than the number of available GPUs (8) in this node. If this is intentional and you are using:",
    "ray-no-gpu": "ValueError: Current node has no GPU available. current_node_resource={'CPU': 64.0}",
    "ray-node-asked": "Error: No available node types can fulfill resource request {'GPU': 1.0, 'node:10.0.0.1': 0.001}. Add suitable node types to this cluster",
    "ray-resources": "Error: No available node types can fulfill resource requests {'GPU': 1.0}*7. Add suitable node types to this cluster",
    "no-cache-blocks": "vllm-1  | ERROR 11-18 18:07:28 engine.py:366] ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
    "cache-too-small": "ValueError: The model's max seq len (131072) is larger than the maximum number of tokens that can be stored in KV cache (93760). Try increasing `gpu_memory_utilization`",
    "memory-taken": "ValueError: Free memory on device cuda:1 (19.77/79.15 GiB) on startup is less than desired GPU memory utilization (0.9, 71.24 GiB). Decrease GPU memory utilization",
    "context-beyond-model": "ValueError: User-specified max_model_len (300000) is greater than the derived max_model_len (max_position_embeddings=262144 or model_max_length=None in model's config.json).",
    "npu-memory": "RuntimeError: NPU out of memory. Tried to allocate 226.00 MiB (NPU 2; 60.96 GiB total capacity; 58.13 GiB already allocated)",
    "static-fraction": "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
    "weights-fill-fraction": "ValueError: Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static=0.88.",
    "profiled-below-zero": "[2025-07-02 07:41:59 DP7 TP7] max_total_tokens=131072 is larger than the profiled value -561981. Use the profiled value instead.",
    "shared-memory-of-sm120": "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 106496, Hardware limit: 101376. Reducing block sizes or `num_stages` may help.",
    "no-kernel-image": "[rank0]: RuntimeError: CUDA error: no kernel image is available for execution on the device",
    "fp8-blocks-sm": """RuntimeError: Unsupported SM version for FP8 block scaling GEMM""",
    "fp8-of-gfx942": """ValueError("type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e4b8', 'fp8e5b16')")""",
    "fp8-below-sm89": """ERROR 03-22 06:48:14 [worker_base.py:620] ValueError("type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e4b15', 'fp8e5')")""",
    "no-attention-backend-draft": WORKER
    + "ValueError: No valid attention backend found for cuda with AttentionSelectorConfig(head_size=64, dtype=torch.bfloat16, kv_cache_dtype=fp8_ds_mla, use_mla=False, use_non_causal=True)",
    "no-attention-backend": WORKER
    + "ValueError: No valid attention backend found for cuda with AttentionSelectorConfig(head_size=576, dtype=torch.bfloat16, kv_cache_dtype=auto, use_mla=True)",
    "backend-refused": "ValueError: Selected backend AttentionBackendEnum.FLASHMLA is not valid for this configuration. Reason: ['compute capability not supported']",
    "triton-mla-fp8": "NotImplementedError: TritonMLA V1 with FP8 KV cache not yet supported",
    "aiter-reduce-heads": "[AITER] csrc/kernels/mla/reduce.cu:1264 kn_mla_reduce_v1 doesn't support the specified settings: #heads: 12, head dimension: 128.",
    "aiter-nhead": "[rank0]: AssertionError: nhead=32 not supported",
    "aiter-heads": "AssertionError: Aiter MLA only supports 16 or 128 number of heads.",
    "aiter-kernel": "[AITER] /app/aiter/aiter_meta/csrc/py_itfs_cu/asm_mla.cu:193 get_heuristic_kernel_mla: cannot get heuristic kernel! q_type:bf16 kv_type:fp8 gqa:16 ps:0 prefill:0 causal:0 qseqlen:1",
    "atom-triton": "AssertionError: assert ATOM_USE_TRITON_GEMM or ATOM_USE_TRITON_MOE",
    "deep-gemm": "RuntimeError: Assertion error (csrc/apis/../jit_kernels/impls/../../jit/kernel_runtime.hpp:45): exit_code == 0",
    "llama-illegal-access": "CUDA error: an illegal memory access was encountered",
    "gguf-latent-halves": "ValueError: can't find blk.0.attn_kv_b.weight in GGUF file",
    "gguf-first-part": "KeyError: can't find token_embd.weight in GGUF file",
    "gguf-type-of-ollama": "gguf_init_from_file_impl: tensor 'blk.3.ffn_up_exps.weight' of type 4 (DEPRECATED) has 2880 elements per row, not a multiple of block size (0)",
    "gguf-type-unknown": "gguf_init_from_file_impl: tensor 'blk.1.ffn_gate_exps.weight' has invalid ggml type 39 (NONE)",
    "gguf-pointer": "Version 1936876918 has never been tested, might not work",
    "gguf-beside-safetensors": "KeyError: 'Key blk.3.ffn_gate_exps.weight not found in Safetensor files'",
    "deepep-dispatch": "Failed: Assertion error deep_ep.cpp:1148 'x.size(0) <= num_max_dispatch_tokens_per_rank'",
    "quantised-kv-b": "AttributeError: Layer 'ColumnParallelLinear()' has neither weight nor qweight",
    "flydsl-name": "ValueError: Invalid FlyDSL kernel name: flydsl_moe1_afp4_wfp4_bf16_t32x128x256",
    "illegal-access": "[rank6]:[E1113 23:24:11.476061221 ProcessGroupNCCL.cpp:2068] Process group watchdog thread terminated with exception: CUDA error: an illegal memory access was encountered",
    "mla-cache-kind": "(EngineCore pid=88) ERROR 10-02 08:11:40 [core.py:1300] RuntimeError: Worker failed with error 'MLA kv_data_type torch.uint8 is not supported. Supported dtypes: [torch.bfloat16].'",
    "block-size-16": "ValueError: Block size must be a multiple of 16.",
    "dcp-not-contiguous": "    assert out.is_contiguous()",
    "lmcache-dcp": "    assert len(slot_mapping) == len(token_ids)",
    "k3-checkpoint-block": "AssertionError: assert 0 <= checkpoint_idx < len(blocks)",
    "dcp-of-kimi-k25": "AttributeError: 'NoneType' object has no attribute 'dcp_local_prefix_kv_indices'",
    "latent-scaling": "AttributeError: 'ModelConfig' object has no attribute 'scaling'",
    "nccl": "(VllmWorker rank=3 pid=4665) ERROR 08-05 14:13:44 [multiproc_executor.py:487] RuntimeError: NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details)",
    "nccl-connect": "hd03-gpu2-0031:14133:14133 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 169.254.20.10<43369> failed : Software caused connection abort",
    "nccl-shared-memory": "Error while creating shared memory segment /dev/shm/nccl-1V2kAv (size 9637888)",
    "gloo": "(RayWorkerWrapper pid=1061) ERROR 02-12 02:14:01 worker_base.py:574] RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error",
    "nvshmem": "NVSHMEM API called before NVSHMEM initialization has completed",
    "hccl": "RuntimeError: create:build/CMakeFiles/torch_npu.dir/compiler_depend.ts:89 HCCL function error: HcclCommInitRootInfo(numRanks, &rootInfo, rank, &(comm->hcclComm_))",
    "ascend-fia-heads": "RuntimeError: aclnnFusedInferAttentionScoreV3 failed, error code is 561002",
    "ascend-graph-heads": "AssertionError: The allowed number of queries per kv when enabling both MLA and Graph mode only support {32, 64, 128}, Thus this is not supported",
    "ascend-kv-thread": "Error in KVCacheTransferThread. error=unhashable type: 'list'",
    "illegal-instruction": "Fatal Python error: Illegal instruction",
    "amx-permission": " Fail to do XFEATURE_XTILEDATA",
    "gguf-pre-tokenizer": "llama_model_load: error loading model: error loading model vocabulary: unknown pre-tokenizer type: 'kimi-k2'",
    "gguf-merges": "llama_model_load: error loading model: error loading model vocabulary: cannot find tokenizer merges in model file",
    "gguf-tensor": "llama_model_load: error loading model: missing tensor 'blk.1.ffn_gate_exps.weight'",
    "gguf-type": "NotImplementedError: ggml_type 30 not implemented",
    "gguf-folder": "KeyError: 'blk.0.attn_q_a.weight'",
    "llama-fa-576": "Unsupported KV type combination for head_size 576.",
    "llama-split-rows": "ggml/src/ggml-cuda/ggml-cuda.cu:1452: GGML_ASSERT(!(split && ne02 > 1)) failed",
    "llama-ubatch": 'llama-context.cpp:1220: GGML_ASSERT((cparams.causal_attn || cparams.n_ubatch >= n_tokens_all) && "non-causal attention requires n_ubatch >= n_tokens") failed',
    "llama-buffer-base": 'ggml-backend.c:97: GGML_ASSERT(base != NULL && "backend buffer base cannot be NULL") failed',
    "llama-split-inputs": "ggml-backend.cpp:1344: GGML_ASSERT(n_graph_inputs < GGML_SCHED_MAX_SPLIT_INPUTS) failed",
    "llama-shift": "llama.cpp:18430: Deepseek2 does not support K-shift",
    "ray-shared-memory": "[2026-03-25 05:44:29,435 W 39 39] (raylet) store_runner.cc:83: System memory request exceeds memory available in /dev/shm. The request is for 10200547328 bytes, and the amount available is 9663676416 bytes. You may be able to free up space by deleting files in /dev/shm.",
    "one-huge-tensor": "RuntimeError: Worker failed with error 'CUDA out of memory. Tried to allocate 1029.51 GiB. GPU 0 has a total capacity of 79.35 GiB",
    "fp4-on-gfx942": "RuntimeError: MXFP4 quantization is not supported on gfx942",
    "gluon-of-one": "AssertionError: mla_gluon[decode] requires batch_size=1, got 4",
    "shared-memory-cut-off": "triton.runtime.errors.OutOfResources: out of resource: shared memory,",
    "rank-share": WORKER + "AssertionError: 25 is not divisible by 4",
    "mamba-blocks": WORKER + "ValueError: max_num_seqs (256) exceeds available Mamba cache blocks (161).",
    "ck-gemm": WORKER
    + "RuntimeError: wrong! device_gemm with the specified compilation parameters does not support this GEMM problem",
    "oom-of-warmup": WORKER
    + "RuntimeError: CUDA out of memory occurred when warming up sampler with 512 dummy requests. Please try lowering `max_num_seqs`",
    "deepep-without-ibgda": "nvlink error   : Undefined reference to 'nvshmemi_ibgda_device_state_d' in 'build/internode.o'",
    "cache-of-nope": WORKER
    + "RuntimeError: Worker failed with error 'concat_and_cache_mla, csrc/cache_kernels.cu:870, pe_dim must be 64 for fp8_ds_mla'",
    "no-experts-backend": WORKER + "NotImplementedError: No NvFp4 MoE backend supports the deployment configuration.",
    "experts-tile": WORKER + "RuntimeError: Unsupported tile shape config 128128256 for MoE gemm",
    "flashinfer-toolkit": "WARNING 08-20 09:00:00 [compilation_context.py:83] Failed to get device capability: SM 12.x requires CUDA >= 12.9.",
    "flashinfer-of-sm12": WORKER + "RuntimeError: No supported CUDA architectures found for major versions [12].",
    "flashinfer-architecture": WORKER
    + "RuntimeError: No supported CUDA architectures found for major versions [10, 11].",
    "draft-layer-61": "[rank3]: KeyError: 'layers.61.mlp.experts.w13_weight'",
    "lmcache-layers-remote": "[2025-11-02 08:10:00,101] LMCache ERROR: Failed to write file /nfs/kv/vllm@m@1@0@-1.data: Shape dimension should be 4 (fs_connector.py:231:x)",
    "indexer-deepgemm": WORKER + "RuntimeError: Sparse Attention Indexer CUDA op requires DeepGEMM to be installed.",
    "power-of-two": WORKER + "ValueError: arange's range must be a power of 2",
    "ascend-queue-pairs": WORKER
    + "RuntimeError: EI0007: [PID: 9] Failed to allocate resource[qp] with info [rank:7]. Reason: Memory resources are exhausted.",
    "ascend-mc2-resource": WORKER
    + "RuntimeError: Nnopbase fails to invoke the HcclAllocComResourceByTiling function of the hccl module. ret = 4",
    "ascend-mamba-mtp": WORKER
    + "TypeError: postprocess_mamba_fused_kernel() got multiple values for argument 'block_size'",
    "nixl-conv-layout": WORKER
    + "AssertionError: 3-read Mamba conv transfer requires DS conv state layout. Set VLLM_SSM_CONV_STATE_LAYOUT=DS",
    "flash-attention-version": WORKER + "AssertionError: FlashAttention version not detected.",
    "team-manager-devices": WORKER
    + "RuntimeError: Detected use of TeamManager on multiple devices. This is not supported.",
    "hybrid-index-dtype": WORKER + "IndexError: index_fill_(): Expected dtype int64 for index.",
    "state-components": "RuntimeError: PD state transfer failed: state component count mismatch (local=3, remote=4)",
    "topk-clusters": "sgl_kernel/deepseek_v4/topk_impl.cuh:27:10: fatal error: 'cooperative_groups.h' file not found",
    "pre-permute": "AssertionError: Pre-permute function for flashinfer to triton is not registered",
    "v4-host-cache-size": "ValueError: DeepSeek V4 HiCache currently does not support --hicache-size; use --hicache-ratio instead.",
    "mlx5-dmabuf": "NCCL WARN Call to mlx5dv_reg_dmabuf_mr failed with error Unknown error 524 errno 524",
    "ascend-dspark-causality": WORKER
    + "AttributeError: 'DSparkDeepseekV4ForCausalLM' object has no attribute 'get_draft_attn_causal'",
    "marlin-of-integers": WORKER + "RuntimeError: unsupported `a` scalar_type",
    "gdn-mixed-steps": "(EngineCore pid=31) AssertionError: num_decodes: 1, num_spec_decodes: 7",
    "no-plain-weight": WORKER + "AttributeError: 'ColumnParallelLinear' object has no attribute 'weight'",
    "scale-of-the-drafts-head": WORKER + "KeyError: 'model.layers.92.shared_head.head.weight_scale'",
    "deepstack-buffer": "ValueError: Requested more deepstack tokens than available in buffer: num_tokens=512 > self.deepstack_input_embeds_num_tokens=498",
    "start-layer-of-wrapper": "AttributeError: 'Qwen3MoeLLMForCausalLM' object has no attribute 'start_layer'",
    "adapters-in-data-parallel": "NotImplementedError: LoRA in DP mode is not supported yet.",
    "cutlass-mla-workspace": WORKER + "AttributeError: 'CutlassMLAImpl' object has no attribute '_workspace_buffer'",
    "batched-copy": WORKER + "RuntimeError: cuMemcpyBatchAsync failed at index 63 with error 1",
    "ray-workers-alike": "ray.exceptions.ActorAlreadyExistsError: Actor with name 'vllm_Worker_a1b2_TP0' already exists in the namespace",
    "method-not-of-rocm": "ValueError: bitsandbytes quantization is currently not supported in rocm.",
    "backend-not-of-rocm": WORKER
    + "RuntimeError: Attention backend FLASH_ATTN is not supported on ROCm. Note that V0 attention backends have been removed.",
    "mamba-page-of-dcp": "AssertionError: MambaComponent requires page_size=1 when mamba_extra_buffer is disabled, got 2",
    "gemma4-assistant": "KeyError: 'gemma4_assistant'",
    "sparse-topk-of-rocm": WORKER
    + "AttributeError: 'ROCMAiterMLASparseMetadata' object has no attribute 'num_decode_tokens'",
    "aiter-experts-shape": "RuntimeError: Unsupported kernel config for moe heuristic dispatch",
    "eagle3-draft-is-target": "AttributeError: 'LlamaForCausalLM' object has no attribute 'hot_token_id'",
    "npu-stages-mtp": "ValueError: PP+MTP is only supported on PD-disaggregated P nodes (kv_role='kv_producer').",
    "npu-experts-of-w4a8": "ValueError: The current weight does not support moe part tp>16.",
    "npu-experts-with-copies": "AssertionError: Number of global experts mismatch (excluding redundancy)",
    "npu-cache-thread": "RuntimeError: KV Cache sending/receiving thread failed to start.",
    "npu-penalties-grid": "RuntimeError: grid should be less than 65536",
    "kt-transformers-five": "TypeError: non-default argument 'quantization_config' follows default argument",
    "kt-instructions": "RuntimeError: MXFP4 backend not available. Required ISA:",
    "trt-attention-sinks": "[TensorRT-LLM][ERROR] Assertion failed: The attention sinks is only supported on SM90",
    "llama-no-draft-layers": 'GGML_ASSERT(hparams.nextn_predict_layers > 0 && "QWEN35MOE_MTP requires nextn_predict_layers > 0") failed',
    "dynamo-moved-parser": "ModuleNotFoundError: No module named 'sglang.srt.server_args_config_parser'",
    "dynamo-moved-trace": "ModuleNotFoundError: No module named 'sglang.srt.tracing'",
    "dspark-of-another-class": WORKER + "AttributeError: 'Qwen3Config' object has no attribute 'hc_mult'",
    "fa4-fp8-scales": WORKER + "RuntimeError: Expected strides[leading_dim] == 1, but got 0.",
    "sparse-draft-sm120": "RuntimeError: Check failed: num_tokens > 64 (5 vs. 64)",
    "dspark-plain-fp8": WORKER + "KeyError: 'model.layers.0.ffn.experts.routed_experts.w13_weight_scale'",
    "states-layout-drafts": WORKER
    + "NotImplementedError: DS conv state layout does not yet support speculative decoding with mamba_cache_mode='align'",
    "k3-situ-kernels": "RuntimeError: Kimi-K3 on Blackwell with moe_runner_backend='auto' or 'flashinfer_mxfp4' requires a valid SGLANG_TRTLLM_GEN_MOE_CUBIN_POOL. Install it with:",
    "gluon-of-another-generation": WORKER + "AssertionError: mla_gluon requires gfx950 (CDNA4), got gfx942",
    "lmcache-mp-pipeline": "ValueError: LMCacheMPConnector multi-server mode only supports tensor parallelism (TP), not pipeline parallelism (PP). Got pp_size=4.",
    "lmcache-buffer-full": "(EngineCore_DP0 pid=18188) [2025-11-12 21:12:41,177] LMCache WARNING: Failed to allocate memory object, retrying... (pd_backend.py:489:lmcache.v1.storage_backend.pd_backend)",
    "lmcache-vllm-package": "ModuleNotFoundError: No module named 'lmcache_vllm'",
    "fewer-tool-calls": "  what():  Invalid diff: now finding less tool calls!",
    "balancer-without-class": "ValueError: Cannot calculate num_local_slots. num_slots must be set and setup() must be called.",
    "thinking-budget-second-runner": "ValueError: thinking_token_budget is not yet supported by the V2 model runner. Run vLLM with VLLM_USE_V2_MODEL_RUNNER=0 to use thinking_token_budget.",
    "split-k-workspace": WORKER
    + "RuntimeError: [AITER] opus_gemm.cu:540 splitk workspace not initialized for the current CUDA stream.",
    "linear-layer-without-metadata": WORKER + "KeyError: 'language_model.model.layers.0.self_attn'",
    "decode-context-of-a-draft": "AssertionError: tensor parallel size 8 must be greater than total num kv heads 64 when enable decode context parallel for GQA/MQA",
    "mxfp4-emulation": WORKER + "    w1 = dequant_mxfp4(w1, w1_scale, hidden_states.dtype)",
    "kimi-vision-angles-gaudi": WORKER + "    assert x.ndim == freqs_cis.ndim + 1",
    "complex-numbers-gaudi": WORKER + "RuntimeError: Complex datatype is not supported on HPU device",
    "experts-shared-unevenly": WORKER + "    assert num_physical_experts % num_gpus == 0",
    "balanced-machines": WORKER + "    assert num_gpus % num_nodes == 0",
    "nixl-blocks": WORKER + "    assert self.dst_num_blocks[engine_id] == nixl_agent_meta.num_blocks",
    "mooncake-role": WORKER + "    assert not self.is_kv_producer",
    "first-core-connector": WORKER + "    assert issubclass(connector_cls, KVConnectorBase_V1)",
    "deepep-most-tokens": "    assert self.num_max_dispatch_tokens_per_rank <= 1024",
    "chosen-experts-form": "    assert TopKOutputChecker.format_is_bypassed(topk_output)",
    "deepep-timeout": "RuntimeError: DeepEP error: timeout (dispatch CPU)",
    "triton-before-ampere": "LLVM ERROR: Failed to compute parent layout for slice layout.",
    "scales-over-pieces": WORKER
    + "ValueError: Group size (128) must evenly divide both hidden size (7168) and intermediate size per partition (64).",
    "layer-kept-unquantised": WORKER
    + "RuntimeError: NVFP4 weight_scale for layer model.layers.0.self_attn.o_proj was never loaded (still NaN).",
    "code-beside-blob": "FileNotFoundError: [Errno 2] No such file or directory: '/c/hub/models--nvidia--Kimi-K2.6-NVFP4/blobs/a_module.py'",
    "gguf-offset": "gguf_init_from_file_impl: tensor 'blk.1.ffn_up_exps.weight' has offset 4242, expected 4096",
    "gguf-vocabulary": "llama_model_load: error loading model: check_tensor_dims: tensor 'token_embd.weight' has wrong shape; expected  7168, 163842, got  7168, 163840,     1,     1",
    "gguf-shape": "llama_model_load: error loading model: check_tensor_dims: tensor 'blk.1.ffn_gate_exps.weight' has wrong shape; expected  7168,  2048,   384, got  7168,  2048,   256,     1",
    "deepseek-fused-attention": "RuntimeError: [TensorRT-LLM][ERROR] Assertion failed: Deepseek should be supported by fmha in generation part.",
    "lmcache-layer-gone": WORKER
    + "KeyError: LayerCacheEngineKey(model_name='m', world_size=8, worker_id=6, layer_id=0)",
    "lmcache-piece-gone": WORKER + "KeyError: CacheEngineKey(model_name='m', world_size=8, worker_id=3, chunk_hash=12)",
    "offloaded-block-gone": WORKER + "AssertionError: Block b'\\x03\\xc1XG0' not found in cache",
    "ascend-sides-unsaid": WORKER + '    assert "tp_size" in prefill_parallel_config',
    "ascend-heads-of-sides": WORKER + "    assert d_node_heads_per_rank % p_node_heads_per_rank == 0",
    "ascend-context-of-sides": WORKER
    + "    assert (meta.remote_pcp_size * meta.remote_dcp_size) % (self.pcp_size * self.dcp_size) == 0",
    "ray-graph-tensors": WORKER + "    assert deserialized_tensor_placeholders == set(range(len(tensors)))",
    "tpu-compile-memory": "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: CompileTimeHbmOom - Used 94.9G of 94.75G hbm.",
    "sinks-of-old-engine": "ERROR 08-07 08:09:51 [engine.py:467] TypeError: FlashAttentionImpl.__init__() got an unexpected keyword argument 'sinks'",
    "fused-decode-of-latent": WORKER + "TypeError: cannot unpack non-iterable ForwardMetadata object",
    "sinks-of-flash-attention-2": WORKER + "AssertionError: Sinks are only supported in FlashAttention 3",
    "operators-of-plugin": "RuntimeError: aclnnAddRmsNormBias or aclnnAddRmsNormBiasGetWorkspaceSize not in libopapi.so, or libopapi.sonot found.",
    "deepgemm-warmup-memory": "[Bug]: Qwen3-Coder-480B-FP8 running on 8*H20,deepgemm warmup OOM",
    "deepgemm-warmup-frame": "ray.exceptions.RayTaskError(OutOfMemoryError): ray::RayWorkerWrapper.execute_method() in deep_gemm_warmup",
    "b12x-toolkit": WORKER + "RuntimeError: b12x fused MoE requires CUDA 13",
    "static-fraction-of-held-devices": "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. 357 Z 0 python3 <defunct>",
    "backend-refused-for-draft": WORKER
    + "ValueError: Selected backend AttentionBackendEnum.ROCM_AITER_MLA is not valid for this configuration. Reason: ['non-causal attention not supported'] (speculative_config)",
    "connector-without-hybrid-cache": WORKER
    + "ValueError: Connector OffloadingConnector does not support HMA but HMA is enabled. Please set --disable-hybrid-kv-cache-manager",
    "lmcache-batched-tokens": "ValueError: Mamba-hybrid models with LMCache require block_size <= max_num_batched_tokens < 2 * block_size",
    "npu-list-of-all-experts": "AclNN_Parameter_Error(EZ1001): When groupList is not null, size of groupList(tensor) 256 should be equal to weight dim 0 32 with groupType 0.",
    "nixl-side-channel-address": "zmq.error.ZMQError: Cannot assign requested address (addr='tcp://10.0.0.7:5558'), VLLM_NIXL_SIDE_CHANNEL_HOST=10.0.0.7",
    "ascend-draft-metadata": "(EngineCore_DP0 pid=1482) AttributeError: 'ForwardContext' object has no attribute 'draft_attn_metadatas'",
    "ascend-direct-connect": "E1210 03:24:54.778028 2548307 ascend_direct_transport.cpp:820] Failed to connect to target: 172.16.100.99:25389, status: 103900",
    "trtllm-heads-of-a-group": "RuntimeError: fmhaKernels.cuh:444: numHeadsQ/numHeadsKv is not supported",
    "drafts-head-not-in-checkpoint": WORKER
    + "ValueError: Following weights were not initialized from checkpoint: {'model.embed_tokens.weight', 'model.layers.92.shared_head.head.weight'}",
    "trt-spawn-of-open-mpi-5": "mpi4py.MPI.Exception: MPI_ERR_UNKNOWN: unknown error",
    "trt-spawn-in-slurm": "srun: task 0: mpi4py.MPI.Exception: MPI_ERR_SPAWN: could not spawn processes",
    "trt-nvlink-links-counted": "[TRT-LLM] [I] NVLinkOneSided not available: Invalid Argument; then mem_heap.cpp:1519: non-zero status: 1 cuMemMap failed",
    "trt-prompts-nobody-fetched": "[TRT-LLM] [W] Timed out waiting for context KV cache transfer after 1000 milliseconds; has 2048 active_requests, scheduled 0 context requests",
    "trt-cache-not-fetched-in-time": "[05/06/2026-10:00:00] [TRT-LLM] [RANK 0] [W] Terminating context request 1055 due to KV cache transfer timeout",
    "trt-nixl-older": "ImportError: libtensorrt_llm_nixl_wrapper.so: undefined symbol: _ZN12nixlDescListI12nixlBlobDescEC1ERK10nixl_mem_tRKbRKi",
    "trt-nixl-twice": "RuntimeError: [TensorRT-LLM][ERROR] Assertion failed: status == NIXL_SUCCESS (/src/cpp/executor/nixl_utils/transferAgent.cpp:654)",
    "sgl-pd-width-of-draft": "self.output_hidden_states[i].copy_( RuntimeError: The size of tensor a (8192) must match the size of tensor b (6144) at non-singleton dimension 0",
    "llama-cublas-with-drafts": "common_speculative: CUDA error: an unsupported value or parameter was passed to the function",
    "llama-rpc-ended": "/src/ggml/src/ggml-rpc/ggml-rpc.cpp:615: Remote RPC server crashed or returned malformed response",
    "deepep-across-machines": "[GB200] RuntimeError: Failed: CUDA error /build/DeepEP/csrc/deep_ep.cpp:226 'invalid resource handle'",
    "trt-guided-class": "AttributeError: 'KimiK25ForConditionalGeneration' object has no attribute 'vocab_size_padded'",
    "int4-experts-exchange": "NotImplementedError: Runner backend MoeRunnerBackend.MARLIN requires a fused func for a2a backend deepep, but none is registered.",
    "experts-exchange": "NotImplementedError: Runner backend MoeRunnerBackend.FLASHINFER_TRTLLM_ROUTED requires a fused func for a2a backend megamoe, but none is registered.",
    "llama-attention-kernel": "/src/ggml/src/ggml-cuda/template-instances/../fattn-tile.cuh:1247: fatal error",
    "fp8-gemm-of-other-devices": WORKER
    + "flashinfer.utils.BackendSupportedError: gemm_fp8_nt_groupwise does not support backend 'trtllm' with capability 120",
    "indexer-without-kernels": WORKER
    + "RuntimeError: Assertion error (/deepgemm/csrc/apis/attention.hpp:219): Unsupported architecture",
    "pools-split-unlike": "RuntimeError: PD Disaggregation does NOT support PD different TP sizes for this model",
    "deepgemm-experts-of-other-devices": "RuntimeError: Assertion error (deepgemm-src/deep_gemm/include/../utils/layout.hpp:68):"
    " sfa_dtype == torch::kFloat and sfb_dtype == torch::kFloat",
    "llama-cache-copy": "/src/ggml/src/ggml-cuda/cpy.cu:608: ggml_cuda_cpy: unsupported type combination (q4_0 to f16)",
    "llama-operation-of-backend": "ggml_backend_cuda_graph_compute: op not supported ffn_moe_probs-9 (MAP_BINARY)",
    "ik-llama-nan-of-router": "Oops(ggml_compute_forward_sum_rows_f32, ffn_moe_weights_sum-1): found -nan for i1 = 0",
}
TALK = """
If the tokenizer needs blobfile, install it with pip.
The image may lack fastsafetensors: pip install fastsafetensors
Add --trust-remote-code, since the repository contains code of its own.
An out-of-memory error means that --gpu-memory-utilization is too high.
The tensor parallel size has to divide the number of heads, and the block of 128.
NCCL errors are mostly those of the network: set NCCL_SOCKET_IFNAME.
AITER has kernels for 16 and 128 heads a rank.
There is no kernel image for old devices in the newest builds.
""".strip().splitlines()


def test_every_failure_has_its_line() -> None:
    """Those of known_failures.toml; the logs of tests/unit/doctor have the lines of the general ones."""
    assert SAMPLES.keys() == {key for key, _ in rows(FILES[0], "failures")}


@pytest.mark.parametrize("key", SAMPLES)
def test_the_line_of_a_failure_is_known(key: str) -> None:
    row = next(each for each in known_failures() if each.key == key)
    assert set(row.engines) <= set(ENGINES)
    # Where two rows have one line, that of the engine is told.
    nearer = {name for each in known_failures() if each.pattern == row.pattern for name in each.engines}
    for name in row.engines or {"vllm", "sglang", "tensorrt-llm", "llama-cpp"} - nearer:
        failure = first_failure(ENGINES[name].log, ["starting", SAMPLES[key], "Engine core initialization failed"])
        assert failure is not None
        assert failure.line == SAMPLES[key]
        assert failure.message.startswith(row.message.split("{", maxsplit=1)[0])
        assert "{" not in failure.message + failure.remedy


@pytest.mark.parametrize("text", TALK)
def test_talk_about_a_failure_is_none(text: str) -> None:
    assert all(first_failure(engine.log, [text]) is None for engine in ENGINES.values())


def test_sources_are_named() -> None:
    of_engines = {key for key, _ in rows(FILES[0], "failures")}
    assert all(row.provenance.source.startswith("https://") for row in known_failures() if row.key in of_engines)


ULIMIT: Final = (
    "(APIServer pid=1090) WARNING 11-26 05:50:15 [system_utils.py:299] Found ulimit of 20000 and failed to automatically "
    "increase with error current limit exceeds maximum limit. This can cause fd limit errors like "
    "`OSError: [Errno 24] Too many open files`. Consider increasing with ulimit -n"
)
"""vLLM 0.26.0 as it starts, on a machine where nothing comes of it."""


def test_a_warning_of_open_files_names_no_cause() -> None:
    grammar = ENGINES["vllm"].log
    assert first_failure(grammar, [ULIMIT]) is None
    assert read_log(ULIMIT).key == ""
    other = "(EngineCore pid=1171) AttributeError: module 'bar' has no attribute 'baz'"
    found = first_failure(grammar, [ULIMIT, other])
    assert found is not None
    assert "baz" in found.line
    reached = first_failure(grammar, [ULIMIT, "OSError: [Errno 24] Too many open files: '/dev/shm/x'"])
    assert reached is not None
    assert reached.message == "the limit of open files is reached"


def test_a_fallback_is_the_cause_where_the_memory_is_full_after_it() -> None:
    falls = "[2026-02-26 06:25:15 TP4] GlmMoeDsaForCausalLM has no SGLang implementation, falling back to Transformers implementation."
    full = "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 12.00 GiB. GPU 3 has a total capacity of 287.98 GiB"
    assert read_log(f"{falls}\n{full}").key == "transformers-for-it"
    assert read_log(full).key == "oom"
    other = "RuntimeError: the server socket has failed to listen on any local network address. EADDRINUSE"
    assert read_log(f"{falls}\n{other}").key == read_log(other).key != ""


def test_a_warning_comes_after_an_error() -> None:
    """A start on an H200 without FlashInfer."""
    error = (
        "(EngineCore pid=1171) ERROR 11-26 05:50:31 [core.py:1330] ModuleNotFoundError: No module named 'flashinfer'"
    )
    found = first_failure(ENGINES["vllm"].log, [ULIMIT, error])
    assert found is not None
    assert "flashinfer" in found.message
    assert "flashinfer" in read_log(f"{ULIMIT}\n{error}").message
