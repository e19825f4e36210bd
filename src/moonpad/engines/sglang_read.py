"""What a command line of SGLang says, in the spelling of today and of mid-2025."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from moonpad.engines.argument_values import Words, model_of, start_of, unknown_words
from moonpad.engines.argv_reader import parse
from moonpad.engines.base import NodeFlags, Reading, ServingFlags
from moonpad.engines.option_file import option_file
from moonpad.engines.option_grammar import Grammar, Known, KnownSet
from moonpad.engines.recorded_options import recorded
from moonpad.engines.value_checks import sglang_tokens
from moonpad.values.plan import Layout, Settings

PROGRAM: Final = "sglang"
ENTRIES: Final = {"sglang.launch_server": 0, "moonpad_sglang_cpu": 0, "sglang/launch_server.py": 0, "serve": 0}

# (flag, field of Settings): what SGLang calls it. With attention DP, running requests and the prefill chunk count for
# all its ranks together: the decode nodes of Kimi-K2's guide have 46,080 requests on 96 ranks, and graphs for 480.
SETTING_FLAGS: Final = (
    ("--context-length", "max_model_len"),
    ("--max-running-requests", "max_num_seqs"),
    ("--chunked-prefill-size", "max_num_batched_tokens"),
    ("--mem-fraction-static", "gpu_memory_utilization"),
    ("--kv-cache-dtype", "kv_cache_dtype"),
    ("--attention-backend", "attention_backend"),
    ("--page-size", "block_size"),
)
TEXT_ONLY: Final = "--language-model-only"
GRAPHS_OFF: Final = ("--cuda-graph-backend-decode", "--cuda-graph-backend-prefill")

# What the reader asks for, in whatever version it came or went: the recorded help of SGLang 0.5.23, and for mid-2025
# its server_args.py (https://github.com/sgl-project/sglang, v0.4.9).
KNOWN: Final = (
    Known(("--model-path", "--model")),
    Known(("--served-model-name",)),
    Known(("--host",)),
    Known(("--port",), kind="int"),
    Known(("--api-key",)),
    Known(("--config",)),
    Known(("--log-level",)),
    Known(("--tp-size", "--tensor-parallel-size"), kind="int"),
    Known(("--pp-size", "--pipeline-parallel-size"), kind="int"),
    Known(("--dp-size", "--data-parallel-size"), kind="int"),
    Known(("--attn-dp-size", "--attention-data-parallel-size"), kind="int"),
    Known(("--ep-size", "--expert-parallel-size", "--ep"), kind="int"),
    Known(("--dcp-size", "--decode-context-parallel-size"), kind="int"),
    Known(("--moe-a2a-backend",)),
    Known(("--enable-dp-attention",), "0", "flag"),
    Known(("--enable-deepep-moe",), "0", "flag"),
    Known(("--enable-ep-moe",), "0", "flag"),
    Known(("--ep-num-redundant-experts",), kind="int"),
    Known(("--context-length",), kind="int"),
    Known(("--max-running-requests",), kind="int"),
    Known(("--chunked-prefill-size",), kind="int"),
    Known(("--mem-fraction-static",), kind="float"),
    Known(("--kv-cache-dtype",)),
    Known(("--attention-backend",)),
    Known(("--page-size",), kind="int"),
    Known(("--disable-radix-cache",), "0", "flag"),
    Known((TEXT_ONLY,), "0", "flag"),
    Known(("--disable-cuda-graph",), "0", "flag"),
    Known(("--cuda-graph-backend-decode",)),
    Known(("--cuda-graph-backend-prefill",)),
    Known(("--cuda-graph-bs",), "+", "int"),
    Known(("--tool-call-parser",)),
    Known(("--reasoning-parser",)),
    Known(("--trust-remote-code",), "0", "flag"),
    Known(("--nnodes",), kind="int"),
    Known(("--node-rank",), kind="int"),
    Known(("--dist-init-addr", "--nccl-init-addr")),
    Known(("--enable-metrics",), "0", "flag"),
    Known(("--disable-shared-experts-fusion",), "0", "flag"),
    Known(("--kt-num-gpu-experts",), kind="int"),
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
    return Grammar(recorded(program, version) or KnownSet(KNOWN), KNOWN, CHECKS)


def read(
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    engine: str = "sglang",
    program: str = PROGRAM,
    version: str | None = None,
    files: Mapping[str, str] | None = None,
    rules: Grammar | None = None,
    start: int | None = None,
) -> Reading:
    """`python -m sglang.launch_server --model-path MODEL …`, or the options alone."""
    rules = rules or grammar(program, version)
    found = parse(argv, rules, start=start_of(argv, ENTRIES) if start is None else start)
    words = Words(found, rules)
    model = model_of(found, words, "--model-path")
    attention = _attention_dp(words)
    replicas = 1 if attention > 1 or words.switch("--enable-dp-attention") else words.size("--dp-size")
    layout = _layout(words, attention)
    settings = _settings(words)
    key = words.given("--api-key")
    config = words.text("--config")
    serving = ServingFlags(
        host=words.text("--host"),
        port=words.whole("--port", least=0),
        keyed=key or "api-key" in option_file(config, files),
        key_in_argv=key,
        tool_parser=words.text("--tool-call-parser"),
        reasoning_parser=words.text("--reasoning-parser"),
        auto_tool_choice=words.given("--tool-call-parser"),  # SGLang has no switch beside the parser
        trust_remote_code=bool(words.switch("--trust-remote-code")),
    )
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
        unknown=unknown_words(found, argv, 0 if words.given("--model-path") else 1),
        engine=engine,
        parsed=words.parsed(),
        serving=serving,
        node=node,
        attention_dp=attention > 1,
        replicas=replicas,
        extra=extra,
    )


def _attention_dp(words: Words) -> int:
    """`--dp-size N --enable-dp-attention` is the former spelling of `--attn-dp-size N`."""
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


def _settings(words: Words) -> Settings:
    eager = words.switch("--disable-cuda-graph") or all(words.text(flag) == "disabled" for flag in GRAPHS_OFF)
    return Settings(
        max_model_len=words.whole("--context-length", read=sglang_tokens),
        max_num_seqs=words.whole("--max-running-requests"),
        max_num_batched_tokens=_chunk(words),
        gpu_memory_utilization=words.fraction("--mem-fraction-static"),
        kv_cache_dtype=words.text("--kv-cache-dtype"),
        enforce_eager=bool(eager),
        prefix_caching=False if words.switch("--disable-radix-cache") else None,
        attention_backend=words.text("--attention-backend"),
        block_size=words.whole("--page-size"),
        redundant_experts=words.whole("--ep-num-redundant-experts", least=0) or 0,
        text_only=bool(words.switch(TEXT_ONLY)),
        draft_tokens=_draft_tokens(words),
        gpu_experts=words.whole("--kt-num-gpu-experts", least=0),
    )


def _draft_tokens(words: Words) -> int:
    """Of a chain; a tree of proposals has no number of this kind."""
    steps, checked = words.whole("--speculative-num-steps"), words.whole("--speculative-num-draft-tokens")
    words.text("--speculative-draft-model-path")
    branches = words.whole("--speculative-eagle-topk")
    chain = words.text("--speculative-algorithm") == "EAGLE3" and branches == 1 and steps and checked == steps + 1
    return steps if chain and steps else 0


def _chunk(words: Words) -> int | None:
    size = words.whole("--chunked-prefill-size", least=-1)
    return size if size and size > 0 else None  # -1: prefill is not cut
