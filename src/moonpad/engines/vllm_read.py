"""What a command line of vLLM says: the inverse of `vllm.py`, for the spellings of everybody else too."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, get_args

from moonpad.catalog.attention import backends
from moonpad.catalog.drafts import find_draft, known_draft
from moonpad.catalog.options import Option
from moonpad.engines.argument_values import MOST, Words, start_of
from moonpad.engines.base import Invocation, NodeFlags, Reading
from moonpad.engines.option_grammar import Grammar
from moonpad.engines.recorded_options import recorded
from moonpad.engines.value_checks import fits, vllm_tokens, whole
from moonpad.values.draft import DraftMethod
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace
from moonpad.values.versions import since

PROGRAM: Final = "vllm serve"
OPENAI_MODULE: Final = "vllm.entrypoints.openai.api_server"
"""Its parser has a place for a model's name, which only `vllm serve` reads:
https://github.com/vllm-project/vllm/blob/005223338608bc94fd165a4f976c102a57bd1fc4/vllm/entrypoints/openai/cli_args.py
"""
ENTRIES: Final = {"serve": 0, OPENAI_MODULE: 0}

# (flag, field of Layout or Settings). The order is the order on the command line.
LAYOUT_FLAGS: Final = (
    ("--tensor-parallel-size", "tp"),
    ("--pipeline-parallel-size", "pp"),
    ("--data-parallel-size", "dp"),
    ("--decode-context-parallel-size", "dcp"),
)
TEXT_ONLY: Final = "--language-model-only"
DRAFT: Final = "--speculative-config"
DRAFT_METHODS: Final = frozenset(get_args(DraftMethod))
LORA: Final = "--enable-lora"
MOST_BYTES: Final = 2**53
SETTING_FLAGS: Final = (
    ("--max-model-len", "max_model_len"),
    ("--max-num-seqs", "max_num_seqs"),
    ("--max-num-batched-tokens", "max_num_batched_tokens"),
    ("--gpu-memory-utilization", "gpu_memory_utilization"),
    ("--kv-cache-dtype", "kv_cache_dtype"),
    ("--kv-cache-memory-bytes", "kv_cache_bytes"),
    ("--block-size", "block_size"),
    ("--distributed-executor-backend", "executor"),
    ("--mm-encoder-tp-mode", "mm_encoder_tp_mode"),
    ("--cpu-offload-gb", "cpu_offload_gib"),
    ("--kv-offloading-size", "kv_offload_size"),
)

# What the reader asks for and not every recorded release has, and of older versions
# https://docs.vllm.ai/en/v0.10.0/cli/serve.html for the last ones.
SOME_RELEASES: Final = (
    Option(("--decode-context-parallel-size", "-dcp"), "int", "1"),
    Option(("--enable-expert-parallel", "-ep"), "flag", "0", ("--no-enable-expert-parallel",)),
    Option(("--eplb-config",), "json", "1"),
    Option((TEXT_ONLY,), "flag", "0", (f"--no-{TEXT_ONLY[2:]}",)),
    Option(("--attention-backend",), "text", "1"),
    Option(("--mm-encoder-tp-mode",), "text", "1"),
    Option(("--all2all-backend",), "text", "1"),
    Option(("--kv-offloading-size",), "float", "1"),
    Option(("--kv-cache-memory-bytes",), "text", "1"),
    Option(("--attention-config", "-ac"), "json", "1"),
    Option(("--compilation-config", "-cc"), "json", "1"),
    Option(("--nnodes", "-n"), "int", "1"),
    Option(("--node-rank", "-r"), "int", "1"),
    Option(("--master-addr",), "text", "1"),
    Option(("--master-port",), "int", "1"),
    Option(("--num-redundant-experts",), "int", "1"),
    Option(("--disable-log-requests",), "flag", "0"),
    Option(("--enable-reasoning",), "flag", "0"),
)


def _is_length(text: str) -> bool:
    return vllm_tokens(text) is not None


def _is_count(text: str) -> bool:
    size = vllm_tokens(text)
    return size is not None and size >= 0


def _is_object_or_level(text: str) -> bool:
    return text.isdigit() or fits("json", (), text)


def _is_text(text: str) -> bool:
    return bool(text)


CHECKS: Final = {
    "--pt-load-map-location": _is_text,  # `str | dict`: a device, or a map of devices
    "--max-model-len": _is_length,
    "--max-num-batched-tokens": _is_count,
    "--kv-cache-memory-bytes": _is_count,
    "--max-num-queued-tokens": _is_count,
    "--max-num-scheduled-tokens": _is_count,
    "--safetensors-prefetch-block-size": _is_count,
}


@lru_cache(maxsize=32)
def grammar(program: str, version: str | None) -> Grammar:
    """The options of that version, and those that the reader asks for besides."""
    # Before 0.10.1 a number may stand for the level (vllm/engine/arg_utils.py of 0.9.0).
    numbers = {"--compilation-config": _is_object_or_level} if version and not since(version, "0.10.1") else {}
    # `auto` came with 0.14.0 (its human_readable_int_or_auto; 0.13.0 takes numbers alone).
    counts = {"--max-model-len": _is_count} if version and not since(version, "0.14.0") else {}
    return Grammar(recorded(program, version, PROGRAM), SOME_RELEASES, {**CHECKS, **numbers, **counts})


def read(invocation: Invocation) -> Reading:
    """`vllm serve MODEL …`, `serve MODEL …`, `python -m vllm.entrypoints.openai.api_server --model MODEL …`."""
    argv, env = invocation.argv, invocation.env
    words = Words(argv, grammar(invocation.program, invocation.version), start_of(argv, ENTRIES))
    model = words.model("--model")
    layout, settings, serving = _layout(words), _settings(words, env), words.serving()
    node = NodeFlags(
        nodes=words.whole("--nnodes"),
        node_rank=words.whole("--node-rank", least=0),
        headless=bool(words.switch("--headless")),
        data_parallel_local=words.whole("--data-parallel-size-local", least=0),
        start_rank=words.whole("--data-parallel-start-rank", least=0),
        master=words.text("--master-addr") or words.text("--data-parallel-address") or "",
    )
    served_name = words.text("--served-model-name") or model
    auto_tool_choice = bool(words.switch("--enable-auto-tool-choice"))
    extra = words.rest()
    if partition := env.get("VLLM_PP_LAYER_PARTITION"):
        extra["pp_layer_partition"] = partition
    return Reading(
        model=model,
        served_name=served_name,
        layout=layout,
        settings=settings,
        unknown=words.unknown(0 if words.given("--model") else 1),
        parsed=words.parsed(),
        serving=replace(
            serving, keyed=serving.keyed or bool(env.get("VLLM_API_KEY")), auto_tool_choice=auto_tool_choice
        ),
        node=node,
        left_to_engine=words.offloaded_layers,
        extra=extra,
    )


def _layout(words: Words) -> Layout:
    sizes = {field: words.size(flag) for flag, field in LAYOUT_FLAGS}
    shared = bool(words.switch("--enable-expert-parallel"))
    return Layout(**sizes, ep=sizes["tp"] * sizes["dp"] if shared else 1)


def _settings(words: Words, env: Mapping[str, str]) -> Settings:
    length = words.whole("--max-model-len", least=-1, read=vllm_tokens)
    return Settings(
        max_model_len=length if length and length > 0 else None,  # -1 and auto: what fits
        max_num_seqs=words.whole("--max-num-seqs"),
        max_num_batched_tokens=words.whole("--max-num-batched-tokens", read=vllm_tokens),
        gpu_memory_utilization=words.fraction("--gpu-memory-utilization"),
        kv_cache_dtype=words.text("--kv-cache-dtype"),
        kv_cache_bytes=words.whole("--kv-cache-memory-bytes", most=MOST_BYTES, read=vllm_tokens),
        kv_cache_gib=_count(whole(env.get("VLLM_CPU_KVCACHE_SPACE", ""))) or None,
        enforce_eager=bool(words.switch("--enforce-eager")),
        prefix_caching=words.switch("--enable-prefix-caching"),
        attention_backend=_attention_backend(words, env),
        block_size=words.whole("--block-size"),
        redundant_experts=_redundant(words),
        executor=words.text("--distributed-executor-backend"),
        text_only=bool(words.switch(TEXT_ONLY)),
        mm_encoder_tp_mode=words.text("--mm-encoder-tp-mode"),
        all2all_backend=words.text("--all2all-backend") or env.get("VLLM_ALL2ALL_BACKEND") or None,
        draft_tokens=_draft_tokens(words),
        draft=known_draft(words.mapping(DRAFT).get("model")) if _draft_tokens(words) else None,
        max_loras=_loras(words),
        max_lora_rank=words.whole("--max-lora-rank"),
        cpu_offload_gib=words.amount("--cpu-offload-gb"),
        kv_offload_size=words.amount("--kv-offloading-size"),
        cpu_binding=_cpu_binding(env),
    )


def _cpu_binding(env: Mapping[str, str]) -> str | None:
    """What moonpad sets itself for several ranks says nothing."""
    ours = ("nobind", "1")
    binding = env.get("VLLM_CPU_OMP_THREADS_BIND")
    return None if (binding, env.get("OMP_NUM_THREADS")) == ours else binding or None


def _attention_backend(words: Words, env: Mapping[str, str]) -> str | None:
    """The option takes a name in small letters too, and `auto` for none (vllm/config/attention.py)."""
    inner = words.mapping("--attention-config").get("backend")
    flag = words.text("--attention-backend") or (inner if isinstance(inner, str) else None)
    if flag and flag.casefold() == "auto":
        return None
    if flag and flag.upper() in backends():
        return flag.upper()
    return flag or env.get("VLLM_ATTENTION_BACKEND") or None


def _draft_tokens(words: Words) -> int:
    """Without a method it is that of the draft, as its name says (vllm/config/speculative.py). 0 with a draft of
    several layers whose sizes are not known: it is not counted."""
    config = words.mapping(DRAFT)
    known = find_draft(model) if isinstance(model := config.get("model"), str) else None
    method = config.get("method") or (known.sizes.method if known is not None else None)
    counted = method in DRAFT_METHODS and (known is not None or method == "eagle3")
    return _count(config.get("num_speculative_tokens")) if counted else 0


def _loras(words: Words) -> int:
    slots = words.whole("--max-loras") or 1
    return slots if words.switch(LORA) else 0


def _redundant(words: Words) -> int:
    words.switch("--enable-eplb")
    count = _count(words.mapping("--eplb-config").get("num_redundant_experts"))
    return count or words.whole("--num-redundant-experts", least=0) or 0


def _count(value: object) -> int:
    """A number above 0 of a JSON value, 0 where it is something else. `"32"` in quotes is read as 32: pydantic's
    dataclasses of these options (vllm/config/parallel.py, speculative.py) take both."""
    value = whole(value.strip()) if isinstance(value, str) else value
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST else 0
