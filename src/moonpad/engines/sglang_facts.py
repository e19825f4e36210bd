"""What planning has to know of SGLang, its build for processors, and its fork KTransformers."""

from __future__ import annotations

from typing import Final

from moonpad.engines import ktransformers_rules, sglang_rules, vllm_facts
from moonpad.values.configuration import EngineFacts
from moonpad.values.platform import Platform
from moonpad.values.pools import EqualShares, PoolFacts, SlowShares
from moonpad.values.records import replace

# srt/arg_groups/fields/disagg.py and srt/disaggregation/common/conn.py of the wheel 0.5.23.
POOLS: Final = PoolFacts(
    {"mooncake": "mooncake", "nixl": "nixl"},
    option="--disaggregation-transfer-backend",
    default="mooncake",
    equal_blocks=True,
    stages_match=True,
    # https://github.com/SemiAnalysisAI/InferenceX/pull/2293: requests that prefill refused hung at decode.
    asked_at_once=True,
    # PyPI sglang 0.5.1.post3 to 0.5.23, server_args.py, later arg_groups/overrides.py: _mla_backend_page_constraints
    # and _page_size_default; disaggregation/common/conn.py: Page size mismatch.
    pages={
        "flashmla": (64,),
        "cutlass_mla": (128,),
        "trtllm_mla": (64, 32),
        "cutedsl_mla": (64, 32),
        "trtllm_mha": (64, 32, 16),
        **dict.fromkeys(("fa3", "flashinfer", "triton", "torch_native"), ()),
    },
    pages_compared_since="0.5.8",
    # PyPI sglang 0.5.4 to 0.5.23, disaggregation/nixl/conn.py and mooncake/conn.py: maybe_send_extra raises "PD
    # Disaggregation does NOT support PD different TP sizes"; configs/model_config.py: is_hybrid_swa_model.
    equal_shares=(
        EqualShares(
            r"gpt-oss-\d+b|llama-4-|mimo-v2|step-3\.5",
            "sliding windows",
            since="0.5.9",
            until={"nixl": "0.5.22", "mooncake": "0.5.22"},
            unless="--disable-hybrid-swa-memory",
        ),
        EqualShares(
            r"gemma-4-",
            "sliding windows",
            since="0.5.11",
            until={"nixl": "0.5.22", "mooncake": "0.5.22"},
            unless="--disable-hybrid-swa-memory",
        ),
        EqualShares(
            r"qwen3-next-|qwen3\.5-",
            "recurrent layers",
            since="0.5.5",
            until={"nixl": "0.5.11", "mooncake": "0.5.9"},
        ),
    ),
    # https://github.com/sgl-project/sglang/issues/15674; PyPI sglang 0.5.6.post2 to 0.5.23,
    # disaggregation/mooncake/conn.py: send_kvcache_slice, which calls the transfer for each slot of a token.
    slow_shares=SlowShares(
        r"qwen-?[23]|llama|glm-4\.[5-7](?!-flash)|minimax|gpt-oss|mi[sx]tral(?!-large-3)|mimo|step-3\.5|gemma|nemotron",
        "mooncake",
        since="0.4.9",
        variable="SGLANG_DISAGG_STAGING_BUFFER",
        variable_since="0.5.10",
    ),
)

SGLANG: Final = EngineFacts(
    name="sglang",
    title="SGLang",
    platforms=(Platform.CUDA, Platform.ROCM),
    preference=20,
    example="examples/k25-8xh200-sglang-eagle3.toml",
    first_versions={"kimi_k25": "0.5.9", "kimi_linear": "0.5.4.post3", "kimi_k3": "0.5.17", "kimi_vl": ""},
    setting_names={
        "tp_size": "tp",
        "pp_size": "pp",
        "dp_size": "dp",
        "ep_size": "ep",
        "expert_parallel_size": "ep",
        "dcp_size": "dcp",
        "context_length": "max_model_len",
        "max_running_requests": "max_num_seqs",
        "chunked_prefill_size": "max_num_batched_tokens",
        "mem_fraction_static": "gpu_memory_utilization",
        "disable_cuda_graph": "enforce_eager",
        "disable_radix_cache": "!prefix_caching",
        "page_size": "block_size",
        "ep_num_redundant_experts": "redundant_experts",
        "hicache_size": "kv_offload_size",
        "hicache_ratio": "kv_offload_ratio",
        "max_total_tokens": "kv_cache_tokens",
    },
    attention_dp=True,
    # PyPI sglang 0.5.9 to 0.5.23, models/kimi_k25.py and layers/attention/vision.py: VisionAttention divides its heads
    # by the ranks of attention, and --mm-enable-dp-encoder alone makes that 1. The tower of Kimi-K3 is always whole.
    vision_heads_until={"kimi_k25": ""},
    whole_vision_since="0.5.16",  # sgl-project/sglang#31212: before it the server hangs with few pictures
    stages_since="0.4.6.post5",
    dcp_since="0.5.15",
    linear_dcp_since="0.5.17",
    limits_over_dp=True,
    kv_cache_names=frozenset(
        {"auto", "bf16", "bfloat16", "fp8_e4m3", "fp8_e5m2", "mxfp8", "nvfp4", "fp4_mx_block16", "fp4_e2m1"}
    ),
    fp8_kv_name="fp8_e4m3",
    order_backends=sglang_rules.order_backends,
    weight_only_nvfp4_since="0.5.13",
    pools=POOLS,
    rules=sglang_rules.RULES,
)

SGLANG_CPU: Final = replace(
    SGLANG,
    name="sglang-cpu",
    platforms=(Platform.CPU,),
    preference=21,
    example="examples/tiny-sglang.toml",
    first_versions={"kimi_linear": ""},  # PyPI sglang 0.5.23: linear/kda_backend.py has a way for processors
    unasked=vllm_facts.VLLM_CPU.unasked,
    balances_experts=False,
    dcp_since=None,
    limits_over_dp=False,
    fp8_kv_name=None,
    weight_only_nvfp4_since=None,
    vision_heads_until={},
    pads_slices=True,  # python/sglang/srt/configs/update_config.py, adjust_config_with_unaligned_cpu_tp
    pools=None,
    rules=sglang_rules.CPU_RULES,
)

KTRANSFORMERS: Final = replace(
    SGLANG,
    name="ktransformers",
    title="KTransformers",
    platforms=(Platform.CUDA,),
    preference=40,  # experts in host RAM come behind experts on devices
    example="SPEC.toml",
    first_versions={"kimi_linear": "", "kimi_vl": ""},  # PyPI sglang-kt 0.7.2: models/, which has no kimi_k3.py
    setting_names={**SGLANG.setting_names, "kt_num_gpu_experts": "gpu_experts"},
    # kvcache-ai/ktransformers#2002: with expert parallelism the masks of 384 and 192 experts do not match.
    expert_degrees="none",
    balances_experts=False,
    pipelines=False,
    one_machine=True,
    dcp_since=None,
    host_experts="of each layer",
    cores_option="--kt-cpuinfer",
    reads_gguf=True,
    weight_only_nvfp4_since=None,
    pools=None,
    rules=ktransformers_rules.RULES,
)
