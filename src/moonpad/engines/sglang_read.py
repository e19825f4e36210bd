"""What a command line of SGLang says, in the spelling of today and of mid-2025."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from moonpad.catalog.drafts import known_draft
from moonpad.catalog.options import Option
from moonpad.engines.argument_values import Words, start_of
from moonpad.engines.base import Invocation, NodeFlags, Reading
from moonpad.engines.option_file import option_file
from moonpad.engines.option_grammar import Grammar
from moonpad.engines.recorded_options import recorded
from moonpad.engines.value_checks import sglang_tokens
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace
from moonpad.values.versions import since

PROGRAM: Final = "sglang"
SHARED_FIRST: Final = re.compile(r"deepseek[-_]?(?:coder[-_]?)?(?:v2|v3|r1)(?!.*(?:distill|qwen|llama))", re.IGNORECASE)
"""Models whose attention could be shared out before --dp-size counted: other classes sliced their heads as before."""
COUNTS_GROUPS: Final = "0.4.4"
"""The first release in which --dp-size counts the groups that share attention out (sgl-project/sglang#4390)."""
ENTRIES: Final = {"sglang.launch_server": 0, "moonpad_sglang_cpu": 0, "sglang/launch_server.py": 0, "serve": 0}

# (flag, field of Settings): what SGLang calls it. With attention DP, running requests and the prefill chunk count for
# all its ranks together: the decode nodes of Kimi-K2's guide have 46,080 requests on 96 ranks, and graphs for 480.
SETTING_FLAGS: Final = (
    ("--context-length", "max_model_len"),
    ("--max-running-requests", "max_num_seqs"),
    ("--chunked-prefill-size", "max_num_batched_tokens"),
    ("--mem-fraction-static", "gpu_memory_utilization"),
    ("--kv-cache-dtype", "kv_cache_dtype"),
    ("--max-total-tokens", "kv_cache_tokens"),
    ("--attention-backend", "attention_backend"),
    ("--page-size", "block_size"),
    ("--cpu-offload-gb", "cpu_offload_gib"),
    ("--hicache-size", "kv_offload_size"),
    ("--hicache-ratio", "kv_offload_ratio"),
)
TEXT_ONLY: Final = "--language-model-only"
WHOLE_VISION: Final = "--mm-enable-dp-encoder"
KV_OFFLOAD: Final = "--enable-hierarchical-cache"
KV_OFFLOAD_RATIO: Final = 2.0  # the default of --hicache-ratio
KEEPS_FRACTION: Final = "SGLANG_AITER_HONOR_EXPLICIT_MEM_FRACTION"
STATE_POOL_RATIO: Final = "--mamba-full-memory-ratio"
DRAFT: Final = "--speculative-draft-model-path"
BLOCK_DRAFTS: Final = ("DSPARK", "DFLASH")
BLOCK_TOKENS: Final = 7
"""What a draft that proposes blocks is made for, where no option says it: srt/speculative/dspark_components."""
GRAPHS_OFF: Final = ("--cuda-graph-backend-decode", "--cuda-graph-backend-prefill")

# What the reader asks for and not every recorded release of SGLang and of its fork has; for mid-2025 its server_args.py
# (https://github.com/sgl-project/sglang, v0.4.9).
SOME_RELEASES: Final = (
    Option(("--config",), "text", "1"),
    Option(("--attn-dp-size", "--attention-data-parallel-size"), "int", "1"),
    Option(("--ep-size", "--expert-parallel-size", "--ep"), "int", "1"),
    Option(("--dcp-size", "--decode-context-parallel-size"), "int", "1"),
    Option(("--moe-a2a-backend",), "text", "1"),
    Option(("--enable-deepep-moe",), "flag", "0"),
    Option(("--enable-ep-moe",), "flag", "0"),
    Option((TEXT_ONLY,), "flag", "0"),
    Option((WHOLE_VISION,), "flag", "0"),
    *(Option((flag,), "text", "1") for flag in GRAPHS_OFF),
    Option((STATE_POOL_RATIO,), "float", "1"),
    Option(("--cuda-graph-bs",), "int", "+"),
    Option(("--kt-num-gpu-experts",), "int", "1"),
)

# With these the experts are shared over the whole tensor-parallel group whatever --ep-size says: `_handle_a2a_moe` of
# SGLang's server_args.py.
WHOLE_GROUP_BACKENDS: Final = frozenset(
    {"deepep", "mooncake", "nixl", "mori", "ascend_fuseep", "flashinfer", "megamoe", "deepep_v2", "flashinfer_megamoe"}
)


def _is_count(text: str) -> bool:
    return sglang_tokens(text) is not None


CHECKS: Final = {
    "--context-length": _is_count,
    "--max-total-tokens": _is_count,
    "--max-prefill-tokens": _is_count,
    "--cuda-graph-prefill-max-context": _is_count,
}


@lru_cache(maxsize=32)
def grammar(program: str, version: str | None) -> Grammar:
    """The options of that version, and those that the reader asks for besides."""
    return Grammar(recorded(program, version, PROGRAM), SOME_RELEASES, CHECKS)


def read(invocation: Invocation) -> Reading:
    """`python -m sglang.launch_server --model-path MODEL …`, or the options alone."""
    start = start_of(invocation.argv, ENTRIES)
    words = Words(invocation.argv, grammar(invocation.program, invocation.version), start)
    version = invocation.version if invocation.program == PROGRAM else None
    shares_all = bool(version) and not since(version or "", COUNTS_GROUPS)
    return read_words(words, invocation.files, invocation.env, shares_all=shares_all)


def read_words(
    words: Words, files: Mapping[str, str], env: Mapping[str, str] = MappingProxyType({}), *, shares_all: bool = False
) -> Reading:
    model = words.model("--model-path")
    attention = _attention_dp(words, shares_all and SHARED_FIRST.search(model) is not None)
    replicas = 1 if attention > 1 or words.switch("--enable-dp-attention") else words.size("--dp-size")
    layout, settings, serving = _layout(words, attention), _settings(words, env), words.serving()
    config = words.text("--config")
    node = NodeFlags(
        nodes=words.whole("--nnodes"),
        node_rank=words.whole("--node-rank", least=0),
        master=words.text("--dist-init-addr") or "",
    )
    served_name = words.text("--served-model-name") or model
    extra = words.rest()
    if config is not None:
        extra["config"] = config
    return Reading(
        model=model,
        served_name=served_name,
        layout=layout,
        settings=settings,
        unknown=words.unknown(0 if words.given("--model-path") else 1),
        parsed=words.parsed(),
        serving=replace(serving, keyed=serving.keyed or "api-key" in option_file(config, files)),
        node=node,
        attention_dp=attention > 1,
        replicas=replicas,
        left_to_engine=words.offloaded_layers,
        extra=extra,
    )


def _attention_dp(words: Words, shares_all: bool) -> int:
    """`--dp-size N --enable-dp-attention` is the former spelling of `--attn-dp-size N`. At first the switch alone set N
    to the number of ranks, whatever it was (`shares_all`)."""
    if shares_all and words.switch("--enable-dp-attention"):
        return words.size("--tp-size", "--tensor-parallel-size")
    if words.switch("--enable-dp-attention") and not words.given("--attn-dp-size"):
        return words.size("--dp-size")
    return words.size("--attn-dp-size")


def _layout(words: Words, attention: int) -> Layout:
    group = words.size("--tp-size", "--tensor-parallel-size")
    # What does not divide is illegal, and left to the rules: the group is kept as the world.
    dp = attention if group % attention == 0 else 1
    backend = words.text("--moe-a2a-backend")
    whole_group = (
        backend in WHOLE_GROUP_BACKENDS or words.switch("--enable-deepep-moe") or words.switch("--enable-ep-moe")
    )
    return Layout(
        tp=group // dp,
        pp=words.size("--pp-size"),
        dp=dp,
        ep=group if whole_group else words.size("--ep-size"),
        dcp=words.size("--dcp-size"),
    )


def _settings(words: Words, env: Mapping[str, str]) -> Settings:
    size, ratio = words.amount("--hicache-size"), words.amount("--hicache-ratio")
    if not words.switch(KV_OFFLOAD):
        size = ratio = None
    elif size is None:
        ratio = ratio or KV_OFFLOAD_RATIO
    eager = words.switch("--disable-cuda-graph") or all(words.text(flag) == "disabled" for flag in GRAPHS_OFF)
    return Settings(
        max_model_len=words.whole("--context-length", read=sglang_tokens),
        max_num_seqs=words.whole("--max-running-requests"),
        max_num_batched_tokens=_chunk(words),
        gpu_memory_utilization=words.fraction("--mem-fraction-static"),
        fraction_kept=env.get(KEEPS_FRACTION, "").casefold() in ("true", "1", "yes", "y"),
        state_pool_ratio=words.amount(STATE_POOL_RATIO),
        kv_cache_dtype=words.text("--kv-cache-dtype"),
        kv_cache_tokens=words.whole("--max-total-tokens", read=sglang_tokens),
        enforce_eager=bool(eager),
        prefix_caching=False if words.switch("--disable-radix-cache") else None,
        attention_backend=words.text("--attention-backend"),
        block_size=words.whole("--page-size"),
        redundant_experts=words.whole("--ep-num-redundant-experts", least=0) or 0,
        text_only=bool(words.switch(TEXT_ONLY)),
        mm_encoder_tp_mode="data" if words.switch(WHOLE_VISION) else None,
        draft_tokens=_draft_tokens(words),
        draft=known_draft(words.text(DRAFT)) if _draft_tokens(words) else None,
        cpu_offload_gib=words.amount("--cpu-offload-gb"),
        kv_offload_size=size,
        kv_offload_ratio=ratio,
        gpu_experts=words.whole("--kt-num-gpu-experts", least=0),
    )


def _draft_tokens(words: Words) -> int:
    """Of a chain or a block; a tree of proposals has no number of this kind."""
    if words.text("--speculative-algorithm") in BLOCK_DRAFTS:
        return _block_tokens(words) if known_draft(words.text(DRAFT)) else 0
    steps, checked = words.whole("--speculative-num-steps"), words.whole("--speculative-num-draft-tokens")
    branches = words.whole("--speculative-eagle-topk")
    # Drafts with latent attention are published with EAGLE: what the draft's folder holds decides in either case.
    eagle = words.text("--speculative-algorithm") in ("EAGLE3", "EAGLE") and words.given(DRAFT)
    chain = eagle and branches == 1 and steps and checked == steps + 1
    return steps if chain and steps else 0


def _block_tokens(words: Words) -> int:
    """What a draft proposes at once; the target checks one more, which DFLASH's block has in it."""
    if proposed := words.whole("--speculative-dspark-block-size"):
        return proposed
    checked = words.whole("--speculative-num-draft-tokens") or words.whole("--speculative-dflash-block-size")
    return checked - 1 if checked else BLOCK_TOKENS


def _chunk(words: Words) -> int | None:
    size = words.whole("--chunked-prefill-size", least=-1)
    return size if size and size > 0 else None  # -1: prefill is not cut
