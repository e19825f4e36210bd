"""What planning has to know of vLLM and its builds for processors and for Ascend."""

from __future__ import annotations

from typing import Final

from moonpad.engines import vllm_ascend_rules, vllm_cpu_rules, vllm_rules
from moonpad.values.configuration import EngineFacts
from moonpad.values.platform import Platform
from moonpad.values.pools import PoolFacts
from moonpad.values.records import replace

# The wheel 0.32.0, distributed/kv_transfer/kv_connector: factory.py, utils.py, v1/nixl/metadata.py.
POOLS: Final = PoolFacts(
    {"nixl": "NixlConnector", "mooncake": "MooncakeConnector"},
    option="--kv-transfer-config",
    key="kv_connector",
    compares_since="0.13.0",
    sizes_divide=True,
)

VLLM: Final = EngineFacts(
    name="vllm",
    title="vLLM",
    platforms=(Platform.CUDA, Platform.ROCM),
    preference=10,
    # https://huggingface.co/moonshotai/Kimi-K2-Instruct/blob/main/docs/deploy_guidance.md
    example="examples/thinking-8xh200-latency.toml",
    first_versions={
        "kimi_k2": "0.9.2",
        "kimi_k25": "0.15.0",
        "kimi_linear": "0.11.1rc6",
        "kimi_k3": "0.27.0",
        "kimi_vl": "",
    },
    asked_versions={"kimi_k2": "0.10.0"},
    setting_names={
        "tensor_parallel_size": "tp",
        "pipeline_parallel_size": "pp",
        "data_parallel_size": "dp",
        "decode_context_parallel_size": "dcp",
        "enable_prefix_caching": "prefix_caching",
        "language_model_only": "text_only",
        "num_speculative_tokens": "draft_tokens",
        "cpu_offload_gb": "cpu_offload_gib",
        "kv_offloading_size": "kv_offload_size",
        "kv_cache_memory_bytes": "kv_cache_bytes",
    },
    experts_over_dp=True,
    expert_degrees="all ranks",
    uneven_experts=True,
    dcp_since="0.10.2",
    linear_dcp_since="0.28.0",
    dcp_unasked=True,
    native_nodes_since="0.11.1",
    vision_sliced=True,  # 0.32: --mm-encoder-tp-mode weights
    vision_heads_until={"kimi_k25": "0.26.0"},  # vllm-project/vllm#49046: is_vit_use_data_parallel(num_heads)
    # `MLAAttention.process_weights_after_loading` of 0.11 to 0.32 transposes views of a BF16 kv_b.
    unpacks_kv_b="where quantised",
    # vllm-project/vllm#51733: `determine_chunked_prefill_workspace_size` has at least `max_num_seqs` blocks before
    workspace_of_sequences_until="0.28.0",
    draft_table_bytes=2,  # `cos_sin_cache`, in the model's type
    kv_offload_by_replica=True,
    needs_whole_context=True,
    step_holds_sequences=True,
    kv_cache_names=frozenset(
        {
            *("auto", "bfloat16", "float16"),
            *("fp8", "fp8_e4m3", "fp8_e5m2", "fp8_inc", "fp8_ds_mla", "fp8_per_token_head"),
            *("nvfp4", "nvfp4_4over6", "nvfp4_ds_mla", "int4_per_token_head", "int8_per_token_head", "ultraquant_4bit"),
            *("turboquant_k8v4", "turboquant_4bit_nc", "turboquant_k3v4_nc", "turboquant_3bit_nc"),
        }
    ),
    fp8_kv_name="fp8",
    kv_from_checkpoint_since="0.14",  # https://github.com/vllm-project/vllm/pull/30785
    kv_bytes_since="0.10.2",
    strict_block_size=True,
    # fused_moe/prepare_finalize of 0.27.0; those of FlashInfer fill a buffer for the tokens of all ranks
    dispatching=("deepep", "mori", "nixl_ep", "pplx"),
    order_backends=vllm_rules.order_backends,
    weight_only_fp8_since="0.9.0",
    weight_only_nvfp4_since="",
    emulates_mxfp4=True,
    pools=POOLS,
    rules=vllm_rules.RULES,
)

VLLM_CPU: Final = replace(
    VLLM,
    name="vllm-cpu",
    platforms=(Platform.CPU,),
    preference=12,
    example="examples/tiny.toml",
    first_versions={"kimi_k25": "0.15.0"},
    # A processor shares its memory with everything else.
    unasked={"max_model_len": 4096, "max_num_seqs": 64, "kv_cache_gib": 1, "enforce_eager": True},
    setting_names={
        **VLLM.setting_names,
        "vllm_cpu_kvcache_space": "kv_cache_gib",
        "vllm_cpu_omp_threads_bind": "cpu_binding",
    },
    balances_experts=False,
    dcp_since=None,
    dcp_unasked=False,
    no_dcp_because="the MLA of vllm-cpu gives no log-sum-exp to merge the ranks by",
    fp8_kv_name=None,
    kv_bytes_since="",
    weight_only_fp8_since=None,
    weight_only_nvfp4_since=None,
    emulates_mxfp4=False,
    pools=replace(POOLS, connectors={"nixl": "NixlConnector"}),
    rules=(*vllm_rules.EVERYWHERE, *vllm_cpu_rules.RULES),
)

VLLM_ASCEND: Final = replace(
    VLLM,
    name="vllm-ascend",
    gathers_tokens=False,  # MC2 and all-to-all send each token to the ranks of its experts
    title="vLLM-Ascend",
    platforms=(Platform.ASCEND,),
    preference=11,
    example="examples/thinking-atlas-a3.toml",
    # vLLM's own class of Kimi-Linear is there; whether it answers well is open (vllm-project/vllm-ascend#6695).
    first_versions={"kimi_k25": "0.14.0rc1", "kimi_linear": "", "kimi_k3": "0.23.0"},
    workspace_of_sequences_until=None,  # its profile run allocates no such workspace
    unpacks_kv_b="always",  # its MLA makes both contiguous
    dcp_since="0.12.0rc1",
    linear_dcp_since=None,  # vllm-project/vllm-ascend#14126 is open
    native_nodes_since="0.13.0",
    vision_sliced=False,
    fp8_kv_name=None,
    kv_bytes_since="0.19.1rc1",  # vllm-project/vllm-ascend#8289; before it the option was read and not used
    reads_modelslim=True,
    weight_only_fp8_since=None,
    weight_only_nvfp4_since=None,
    emulates_mxfp4=False,
    pools=None,
    rules=(*vllm_rules.EVERYWHERE, *vllm_ascend_rules.RULES),
)
