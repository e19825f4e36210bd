"""Plans that an engine can be told, for Hypothesis. What differs between engines is data here, beside the tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hypothesis import strategies as st

from moonpad.engines.base import Engine
from moonpad.values.plan import Layout, Plan, Serving, Settings

COUNT = st.integers(1, 2**31 - 1)
WORD = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1).filter(
    lambda text: not text.startswith("-")
)
AMOUNT = st.sampled_from([0.5, 1.0, 10.0, 100.25])
FRACTION = st.floats(0, 1, exclude_min=True, exclude_max=True)

VLLM_SETTINGS: Mapping[str, st.SearchStrategy[object]] = {
    "max_model_len": COUNT,
    "max_num_seqs": COUNT,
    "max_num_batched_tokens": COUNT,
    "gpu_memory_utilization": FRACTION,
    "kv_cache_dtype": st.sampled_from(["auto", "fp8", "bfloat16"]),
    "prefix_caching": st.booleans(),
    "attention_backend": st.sampled_from(["FLASHMLA", "TRITON_MLA"]),
    "block_size": st.sampled_from([16, 64, 128]),
    "mm_encoder_tp_mode": st.sampled_from(["data", "weights"]),
    "all2all_backend": st.sampled_from(["deepep_low_latency", "naive"]),
    "max_lora_rank": st.sampled_from([16, 64]),
}
OFFLOAD: Mapping[str, st.SearchStrategy[object]] = {"cpu_offload_gib": AMOUNT, "kv_offload_size": AMOUNT}
ELSEWHERE = ("attention_backend", "kv_cache_tokens")
"""Of SGLang, and not on a processor."""
BYTES: Mapping[str, st.SearchStrategy[object]] = {"kv_cache_bytes": st.integers(1, 2**53)}
SGLANG_SETTINGS: Mapping[str, st.SearchStrategy[object]] = {
    "max_model_len": COUNT,
    "max_num_seqs": COUNT,
    "max_num_batched_tokens": COUNT,
    "gpu_memory_utilization": FRACTION,
    "kv_cache_dtype": st.sampled_from(["auto", "fp8_e4m3", "bfloat16"]),
    "kv_cache_tokens": COUNT,
    "prefix_caching": st.just(False),  # on by default, and there is no flag that says so
    "attention_backend": st.sampled_from(["flashmla", "triton"]),
    "block_size": st.sampled_from([1, 64]),
    "mm_encoder_tp_mode": st.just("data"),  # sliced otherwise, and there is no flag that says so
}


@dataclass(frozen=True)
class Told:
    """`ep`: which numbers of ranks may share the experts, of a group of `tp` × `dp`."""

    settings: Mapping[str, st.SearchStrategy[object]]
    dcp: bool = True
    whole_ep: bool = False
    one_attention: bool = False
    several_nodes: bool = True
    keyed: bool = True
    text_only: bool = False
    draft: bool = False
    loras: bool = False
    tensor: bool = True
    """It has layouts other than pipeline stages."""
    eager: bool = True
    redundant: bool = True
    file: str = ""
    """What it is told of the checkpoint's folder, where it takes no folder."""
    executor: bool = False
    """It can be told who starts the ranks; `plans` leaves that to it."""


LLAMA_CPP = Told(
    {
        # All slots together have what 31 bits hold.
        "max_model_len": st.integers(1, 2**20),
        "max_num_seqs": st.integers(1, 2**10),
        "max_num_batched_tokens": COUNT,
        "kv_cache_dtype": st.sampled_from(["f16", "q8_0"]),
        "device_layers": st.integers(0, 61),
        "host_expert_layers": COUNT,
    },
    dcp=False,
    several_nodes=False,
    tensor=False,
    eager=False,
    redundant=False,
    file="Kimi-K2-00001-of-00005.gguf",
)

TOLD: Mapping[str, Told] = {
    "vllm-cpu": Told(
        {**VLLM_SETTINGS, "kv_cache_gib": COUNT, "cpu_binding": st.sampled_from(["nobind", "0-3", "0-3|4-7"])},
        loras=True,
        whole_ep=True,
        text_only=True,
        draft=True,
        executor=True,
    ),
    "vllm": Told(
        {**VLLM_SETTINGS, **OFFLOAD, **BYTES}, loras=True, whole_ep=True, text_only=True, draft=True, executor=True
    ),
    "vllm-ascend": Told(
        {**VLLM_SETTINGS, **OFFLOAD, **BYTES}, loras=True, whole_ep=True, text_only=True, draft=True, executor=True
    ),
    "sglang": Told(
        {**SGLANG_SETTINGS, **dict.fromkeys(OFFLOAD, COUNT.map(float)), "kv_offload_ratio": AMOUNT},
        text_only=True,
        draft=True,
    ),
    "sglang-cpu": Told(
        {
            **{
                name: value
                for name, value in SGLANG_SETTINGS.items()
                if name not in ("attention_backend", "kv_cache_tokens")
            },
            "kv_cache_gib": COUNT,
        },
        text_only=True,
    ),
    "ktransformers": Told(
        {**SGLANG_SETTINGS, "gpu_experts": st.integers(0, 384)},
        dcp=False,
        several_nodes=False,
    ),
    "tensorrt-llm": Told(
        {
            "max_model_len": COUNT,
            "max_num_seqs": COUNT,
            "max_num_batched_tokens": COUNT,
            "kv_free_fraction": FRACTION,
            "kv_cache_dtype": st.sampled_from(["auto", "fp8"]),
            "kv_cache_tokens": COUNT,
            "prefix_caching": st.booleans(),
            "block_size": st.sampled_from([32, 64]),
        },
        dcp=False,
        one_attention=True,
        redundant=False,
        keyed=False,
    ),
    **dict.fromkeys(("llama-cpp", "llama-cpp-cpu"), LLAMA_CPP),
}


@st.composite
def plans(draw: st.DrawFn, engine: Engine, version: str = "") -> Plan:
    capabilities = TOLD[engine.name]
    nodes = draw(st.sampled_from([1, 1, 2, 4])) if capabilities.several_nodes else 1
    tp, pp, dp = (draw(st.integers(1, 16)) for _ in range(3))
    if capabilities.one_attention:
        tp, dp = draw(st.sampled_from([(tp, 1), (1, dp)]))
    if tp * pp * dp % nodes:
        dp, tp = (
            (dp * nodes, tp)
            if draw(st.booleans()) and not (capabilities.one_attention and tp > 1)
            else (dp, tp * nodes)
        )
        if capabilities.one_attention and dp > 1:
            tp, dp = 1, dp * nodes
    if not capabilities.tensor:
        tp = dp = 1
    group = tp * dp
    shares = [1, group] if capabilities.whole_ep else [size for size in range(1, group + 1) if group % size == 0]
    settings = {name: draw(st.none() | values) for name, values in capabilities.settings.items()}
    return Plan(
        name="a",
        engine=engine.name,
        platform=draw(st.sampled_from(engine.platforms)),
        layout=Layout(
            tp=tp,
            pp=pp,
            dp=dp,
            ep=draw(st.sampled_from(shares)),
            dcp=draw(st.integers(1, 16)) if capabilities.dcp else 1,
        ),
        settings=Settings(  # type: ignore[arg-type]
            **settings,
            enforce_eager=draw(st.booleans()) and capabilities.eager,
            redundant_experts=draw(st.sampled_from([0, 0, 32])) if capabilities.redundant else 0,
            text_only=draw(st.booleans()) and capabilities.text_only,
            max_loras=draw(st.sampled_from([0, 0, 4])) if capabilities.loras else 0,
            draft_tokens=draw(st.sampled_from([0, 0, 3])) if capabilities.draft else 0,
        ),
        serving=Serving(
            served_name=draw(WORD),
            port=draw(st.integers(1, 65535)),
            reach=draw(st.sampled_from(["loopback", "public"])),
            keyed=draw(st.booleans()) and capabilities.keyed,
            tool_parser=draw(st.sampled_from([None, "kimi_k2"])),
            reasoning_parser=draw(st.sampled_from([None, "kimi_k2"])),
            trust_remote_code=draw(st.booleans()),
        ),
        weights_bytes=draw(st.integers(0, 2**40)),
        nodes=nodes,
        devices_per_node=tp * pp * dp // nodes,
        engine_version=version,
        checkpoint_file=capabilities.file,
        scheme=draw(st.sampled_from(["int4", "fp8", "bf16"])),
        host_cores=draw(st.sampled_from([0, 96])),
        host_numa_nodes=draw(st.sampled_from([0, 2])),
    )
