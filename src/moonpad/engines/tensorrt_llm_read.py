"""What a command line of TensorRT-LLM says: `trtllm-serve`, alone or behind `mpirun … trtllm-llmapi-launch`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final

from moonpad.engines.argument_values import MOST, Words, model_of, unknown_words
from moonpad.engines.argv_reader import parse
from moonpad.engines.base import NodeFlags, Reading, ServingFlags
from moonpad.engines.option_file import option_file
from moonpad.engines.option_grammar import Grammar, Known, KnownSet
from moonpad.engines.recorded_options import recorded
from moonpad.engines.value_checks import number, whole
from moonpad.values.plan import Layout, Settings

PROGRAM: Final = "trtllm-serve"
COMMANDS: Final = ("trtllm-serve", "tensorrt_llm.commands.serve")

# tensorrt_llm/commands/serve.py of https://github.com/NVIDIA/TensorRT-LLM.
KNOWN: Final = (
    Known(("--tensor_parallel_size", "--tp_size"), kind="int"),
    Known(("--pipeline_parallel_size", "--pp_size"), kind="int"),
    Known(("--moe_expert_parallel_size", "--ep_size"), kind="int"),
    Known(("--max_batch_size",), kind="int"),
    Known(("--max_num_tokens",), kind="int"),
    Known(("--max_seq_len",), kind="int"),
    Known(("--free_gpu_memory_fraction", "--kv_cache_free_gpu_memory_fraction"), kind="float"),
    Known(("--config", "--extra_llm_api_options")),
    Known(("--backend",)),
    Known(("--host",)),
    Known(("--port",), kind="int"),
    Known(("--trust_remote_code",), "0", "flag"),
    Known(("--tool_parser",)),
    Known(("--reasoning_parser",)),
    Known(("--served_model_name",)),
    Known(("--model",)),
    Known(("--gpus_per_node",), kind="int"),
)


@lru_cache(maxsize=16)
def grammar(version: str | None) -> Grammar:
    options = recorded(PROGRAM, version)
    return Grammar(options or KnownSet(KNOWN, ("model",), prefixes=False), KNOWN)


def read(
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    engine: str,
    program: str,
    version: str | None = None,
    files: Mapping[str, str] | None = None,
) -> Reading:
    """What the option file says wins over the command line, as in the engine."""
    rules = grammar(version)
    start = _start(argv)
    found = parse(argv, rules, start=start)
    words = Words(found, rules)
    model = model_of(found, words, "--model")
    path = words.text("--config", "--extra_llm_api_options")
    options = option_file(path, files)
    group = _said(options, "tensor_parallel_size") or words.size("--tp_size")
    attention_dp = options.get("enable_attention_dp", "").lower() == "true" and group > 1
    layout = Layout(
        tp=1 if attention_dp else group,
        pp=_said(options, "pipeline_parallel_size") or words.size("--pp_size"),
        dp=group if attention_dp else 1,
        ep=_said(options, "moe_expert_parallel_size") or words.size("--ep_size"),
    )
    serving = ServingFlags(
        host=words.text("--host"),
        port=words.whole("--port", least=0),
        tool_parser=words.text("--tool_parser"),
        reasoning_parser=words.text("--reasoning_parser"),
        auto_tool_choice=words.given("--tool_parser"),
        trust_remote_code=bool(words.switch("--trust_remote_code"))
        or options.get("trust_remote_code", "").lower() == "true",
    )
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
        unknown=unknown_words(found, argv, 0 if words.given("--model") else 1),
        engine=engine,
        parsed=words.parsed(),
        serving=serving,
        node=NodeFlags(nodes=_nodes(argv[:start])),
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
        max_model_len=_said(options, "max_seq_len") or words.whole("--max_seq_len"),
        max_num_seqs=_said(options, "max_batch_size") or words.whole("--max_batch_size"),
        max_num_batched_tokens=_said(options, "max_num_tokens") or words.whole("--max_num_tokens"),
        kv_cache_dtype=options.get("kv_cache_config.dtype") or None,
        enforce_eager=options.get("cuda_graph_config") == "null",
        prefix_caching={"true": True, "false": False}.get(reuse),
        block_size=_said(options, "kv_cache_config.tokens_per_block"),
        kv_free_fraction=_fraction(options.get("kv_cache_config.free_gpu_memory_fraction"))
        or words.fraction("--kv_cache_free_gpu_memory_fraction"),
    )


def _said(options: Mapping[str, str], key: str) -> int | None:
    size = whole(options[key]) if key in options else None
    return size if size is not None and 0 < size <= MOST else None


def _fraction(text: str | None) -> float | None:
    value = number(text) if text else None
    return value if value is not None and 0 < value <= 1 else None
