"""What a command line of TensorRT-LLM says: `trtllm-serve`, alone or behind `mpirun … trtllm-llmapi-launch`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final

from moonpad.catalog.options import Option
from moonpad.engines.argument_values import MOST, Words
from moonpad.engines.base import Invocation, NodeFlags, Reading
from moonpad.engines.option_file import flat_options, option_file
from moonpad.engines.option_grammar import Grammar
from moonpad.engines.recorded_options import recorded
from moonpad.engines.value_checks import number, whole
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace

PROGRAM: Final = "trtllm-serve"
COMMANDS: Final = ("trtllm-serve", "tensorrt_llm.commands.serve")
DYNAMO_WORKER: Final = "dynamo.trtllm"
"""Dynamo's worker with this engine, whose options are spelled otherwise."""

# What the reader asks for and not every recorded release has: tensorrt_llm/commands/serve.py of
# https://github.com/NVIDIA/TensorRT-LLM.
SOME_RELEASES: Final = (
    Option(("--tensor_parallel_size", "--tp_size", "--tensor-parallel-size"), "int", "1"),
    Option(("--pipeline_parallel_size", "--pp_size", "--pipeline-parallel-size"), "int", "1"),
    Option(("--moe_expert_parallel_size", "--ep_size", "--expert-parallel-size"), "int", "1"),
    Option(
        ("--free_gpu_memory_fraction", "--kv_cache_free_gpu_memory_fraction", "--free-gpu-memory-fraction"),
        *("float", "1"),
    ),
    Option(("--config", "--extra_llm_api_options"), "text", "1"),
    Option(("--extra-engine-args",), "text", "1"),
    Option(("--tool_parser",), "text", "1"),
    Option(("--served_model_name", "--served-model-name"), "text", "1"),
    Option(("--model", "--model-path"), "text", "1"),
    Option(("--max_seq_len", "--max-seq-len"), "int", "1"),
    Option(("--max_batch_size", "--max-batch-size"), "int", "1"),
    Option(("--max_num_tokens", "--max-num-tokens"), "int", "1"),
    Option(("--override-engine-args",), "text", "1"),
    Option(("--enable_attention_dp",), "flag", "0"),
)


@lru_cache(maxsize=16)
def grammar(version: str | None) -> Grammar:
    return Grammar(recorded(PROGRAM, version), SOME_RELEASES)


def read(invocation: Invocation) -> Reading:
    """What the option file says wins over the command line, as in the engine."""
    start = _start(invocation.argv)
    words = Words(invocation.argv, grammar(invocation.version), start)
    model = words.model("--model")
    path = words.text("--config", "--extra_llm_api_options", "--extra-engine-args")
    options = {**option_file(path, invocation.files), **flat_options(words.text("--override-engine-args") or "")}
    group = _count(options, "tensor_parallel_size") or words.size("--tp_size")
    shared_out = options.get("enable_attention_dp", "").lower() == "true" or words.switch("--enable_attention_dp")
    attention_dp = bool(shared_out) and group > 1
    layout = Layout(
        tp=1 if attention_dp else group,
        pp=_count(options, "pipeline_parallel_size") or words.size("--pp_size"),
        dp=group if attention_dp else 1,
        ep=_count(options, "moe_expert_parallel_size") or words.size("--ep_size"),
    )
    serving = words.serving()
    trusted = serving.trust_remote_code or options.get("trust_remote_code", "").lower() == "true"
    settings = _settings(words, options)
    # Without a name of its own the model answers to the last part of its path.
    served_name = words.text("--served_model_name") or PurePosixPath(model).name or model
    extra = words.rest()
    if path is not None:
        extra["config"] = path
    for key, value in options.items():
        extra.setdefault(f"config.{key}", value)
    return Reading(
        model=model,
        served_name=served_name,
        layout=layout,
        settings=settings,
        unknown=words.unknown(0 if words.given("--model") else 1),
        parsed=words.parsed(),
        serving=replace(serving, trust_remote_code=trusted),
        node=NodeFlags(nodes=_nodes(invocation.argv[:start])),
        attention_dp=attention_dp,
        extra=extra,
    )


def _start(argv: Sequence[str]) -> int:
    """Behind `trtllm-serve`, wherever a launcher puts it, and behind its word `serve`."""
    at = 0
    for index, word in enumerate(argv):
        if word.rsplit("/", 1)[-1] in COMMANDS:
            at = index + 1
            break
    return at + 1 if argv[at : at + 1] and argv[at] == "serve" else at


def _nodes(launcher: Sequence[str]) -> int | None:
    """The hosts that `mpirun -H a:8,b:8` or `srun -N 2` names."""
    for flag, value in pairwise(launcher):
        if flag in ("-H", "-host", "--host"):
            return len(value.split(","))
        if flag in ("-N", "--nodes") and (count := whole(value)) and 0 < count <= MOST:
            return count
    return None


def _settings(words: Words, options: Mapping[str, str]) -> Settings:
    reuse = options.get("kv_cache_config.enable_block_reuse", "").lower()
    return Settings(
        max_model_len=_count(options, "max_seq_len") or words.whole("--max_seq_len"),
        max_num_seqs=_count(options, "max_batch_size") or words.whole("--max_batch_size"),
        max_num_batched_tokens=_count(options, "max_num_tokens") or words.whole("--max_num_tokens"),
        kv_cache_dtype=options.get("kv_cache_config.dtype") or None,
        kv_cache_tokens=_count(options, "kv_cache_config.max_tokens"),
        enforce_eager=options.get("cuda_graph_config") == "null",
        prefix_caching={"true": True, "false": False}.get(reuse),
        block_size=_count(options, "kv_cache_config.tokens_per_block"),
        kv_free_fraction=_fraction(options.get("kv_cache_config.free_gpu_memory_fraction"))
        or words.fraction("--kv_cache_free_gpu_memory_fraction"),
    )


def _count(options: Mapping[str, str], key: str) -> int | None:
    size = whole(options[key]) if key in options else None
    return size if size is not None and 0 < size <= MOST else None


def _fraction(text: str | None) -> float | None:
    value = number(text) if text else None
    return value if value is not None and 0 < value <= 1 else None
