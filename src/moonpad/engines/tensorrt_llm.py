"""TensorRT-LLM: `trtllm-serve` and its option file; tensorrt_llm_read.py is the inverse.

Facts: tensorrt_llm/commands/serve.py, and the deployment guide for Kimi-K2-Thinking on
https://nvidia.github.io/TensorRT-LLM/deployment-guide/. Its log is read for what ends every start alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.catalog.options import newest, newest_stable
from moonpad.catalog.options.config_keys import lacking_key
from moonpad.engines import tensorrt_llm_read
from moonpad.engines.api_facts import ApiFacts, Topic
from moonpad.engines.base import (
    API,
    Engine,
    MetricNames,
    RequestTimeNames,
    listen_on,
    node_process,
    refuse_layout,
    refuse_uneven_nodes,
    refuse_unsaid,
    setting_argv,
    size_argv,
)
from moonpad.engines.command_line import CommandLine, Program
from moonpad.engines.log_grammar import DEVICE_NAME, CauseLine, LogGrammar, PhaseLine
from moonpad.engines.recorded_options import deployment_of, has_option
from moonpad.values.configuration import Configuration, EngineFacts
from moonpad.values.deployment import Deployment, Executable, File, Image, MpiRanks, Role, Runtime
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code, Finding, Severity, unsupported
from moonpad.values.plan import Plan, Platform
from moonpad.values.records import replace
from moonpad.values.references import Arg, HostRef, PathRef, Ref
from moonpad.values.units import GIB

OPTION_FILE: Final = "trtllm.yaml"
SHM_BYTES: Final = 8 * GIB

LAYOUT: Final = frozenset({"tp", "pp", "dp", "ep"})
SETTING_FLAGS: Final = (
    ("--max_seq_len", "max_model_len"),
    ("--max_batch_size", "max_num_seqs"),
    ("--max_num_tokens", "max_num_batched_tokens"),
    ("--kv_cache_free_gpu_memory_fraction", "kv_free_fraction"),
)
SETTINGS: Final = frozenset(name for _, name in SETTING_FLAGS) | {
    *("kv_cache_dtype", "kv_cache_tokens", "prefix_caching", "block_size", "enforce_eager", "option_file")
}
OF_SETTINGS: Final[Mapping[str, str]] = {
    "tensor_parallel_size": "[layout] tp",
    "pipeline_parallel_size": "[layout] pp",
    "moe_expert_parallel_size": "[layout] ep",
    "enable_attention_dp": "[layout] dp",
    "max_seq_len": "max_model_len",
    "max_batch_size": "max_num_seqs",
    "max_num_tokens": "max_num_batched_tokens",
    "kv_cache_config.dtype": "kv_cache_dtype",
    "kv_cache_config.max_tokens": "kv_cache_tokens",
    "kv_cache_config.enable_block_reuse": "prefix_caching",
    "kv_cache_config.tokens_per_block": "block_size",
    "kv_cache_config.free_gpu_memory_fraction": "kv_free_fraction",
}
"""Keys of the option file that the plan decides. The file goes before the command line, so one of a user's own would
start something else than was planned."""

LOG: Final = LogGrammar(
    engine="tensorrt-llm",
    phases=(PhaseLine("opening the API", re.compile(r"Application startup complete")),),
    causes=(
        CauseLine(
            re.compile(r"Error: No such option: (?P<flag>\S+)"),
            "this version of TensorRT-LLM does not know {flag}",
            "take it out of extra_args",
            "arguments-unknown",
        ),
        CauseLine(
            re.compile(
                r"(?P<oom>OutOfMemoryError: (?!Task was killed).*?)(?: Including non-PyTorch| Of the allocated|$)"
            ),
            "out of memory: {oom}",
            "lower kv_free_fraction, max_num_seqs or max_num_batched_tokens",
            "oom",
        ),
    ),
    generic=("Traceback",),
    pieces=(
        re.compile(r"TensorRT-LLM version: (?P<version>\d\S*)"),
        re.compile(r"(?:Torch|Trt)LlmArgs\((?P<arguments>.*)"),
        re.compile(r"LLM Args:\s*(?P<attributes>model=.*)"),
        DEVICE_NAME,
    ),
)

# tensorrt_llm/metrics: the names that the gateway API's inference extension reads too. Token counters: none known.
METRICS: Final = MetricNames(
    running="trtllm_num_requests_running",
    waiting="trtllm_num_requests_waiting",
    kv_cache_usage="trtllm_kv_cache_utilization",
    generation_tokens="",
    prompt_tokens="",
    # tensorrt_llm/metrics/collector.py. Its time per output token is a mean over a request: none between two tokens.
    times=RequestTimeNames(
        queued="trtllm_request_queue_time_seconds",
        prefill="trtllm_request_prefill_time_seconds",
        decode="trtllm_request_decode_time_seconds",
        ttft="trtllm_time_to_first_token_seconds",
        e2e="trtllm_e2e_request_latency_seconds",
    ),
)

# `owned_by`: serve/openai_protocol.py.
API_FACTS: Final = ApiFacts(
    title="TensorRT-LLM",
    key="trtllm",
    owned_by="tensorrt_llm",
    repository="NVIDIA/TensorRT-LLM",
    remedies={
        Topic.TOOL_PARSER: "--tool_parser kimi_k2; earlier releases have no such option",
        Topic.REASONING_PARSER: "--reasoning_parser",
        Topic.CHAT_TEMPLATE: "--chat_template FILE, if the checkpoint's own template must not be used",
        "auth": "it has no key of its own: put a proxy that checks keys before it",
        "context_limit": "--max_seq_len",
        "models": "clients must ask for the name of the checkpoint's folder: older releases have no option for it",
        "streaming": "--reasoning_parser and --tool_parser, of the newest release",
        "tool_choice_none": "leave tools out of such a request",
    },
)

COMMAND_LINE: Final = CommandLine(
    options={
        **{"tp": "--tp_size", "pp": "--pp_size", "ep": "--ep_size"},
        **{name: option for option, name in SETTING_FLAGS},
    },
    programs=(
        Program(
            name=tensorrt_llm_read.PROGRAM,
            label="TensorRT-LLM",
            commands=(*tensorrt_llm_read.COMMANDS, "trtllm-serve serve"),
        ),
        Program(
            name=tensorrt_llm_read.DYNAMO_WORKER,
            commands=(tensorrt_llm_read.DYNAMO_WORKER, f"{tensorrt_llm_read.DYNAMO_WORKER}.worker"),
        ),
        Program(name="trtllm-disaggregated", kind="router", commands=("trtllm-serve disaggregated",)),
    ),
    names=("tensorrt[-_ ]llm", "trt-?llm"),
    images=("tensorrt[-_]llm(?:[/-][a-z-]{1,30})?",),
    launchers=("trtllm-llmapi-launch",),
    option_files=("--config", "--extra_llm_api_options", "--extra-engine-args"),
)


def int4_engine(configuration: Configuration) -> Iterator[Finding]:
    if configuration.scheme in ("int4", "w4a16"):
        yield unsupported(
            "quantization",
            "INT4 in compressed-tensors: tensorrt-llm reads 8-bit FP8, NVFP4 and MXFP4 of that kind",
            "take the NVFP4 checkpoint on Blackwell, or an FP8 one",
        )


FACTS: Final = EngineFacts(
    name="tensorrt-llm",
    title="TensorRT-LLM",
    platforms=(Platform.CUDA,),
    preference=30,
    whole_prompts=True,  # enable_chunked_prefill is off unless it is set
    # K3: its deployment guide (https://nvidia.github.io/TensorRT-LLM/1.3.0rc26/, "Kimi K3 on TensorRT LLM"). The class
    # KimiLinearForCausalLM came with it (NVIDIA/TensorRT-LLM#17269).
    first_versions={"kimi_k2": "1.0.0rc2", "kimi_linear": "1.3.0rc26", "kimi_k3": "1.3.0rc26"},
    setting_names={
        "max_seq_len": "max_model_len",
        "max_batch_size": "max_num_seqs",
        "max_num_tokens": "max_num_batched_tokens",
        "kv_cache_free_gpu_memory_fraction": "kv_free_fraction",
    },
    attention_dp=True,
    no_dcp_because=(
        "tensorrt-llm deals the KV cache out (Helix) only in the decode workers of a disaggregated deployment"
    ),
    fits_mlp_itself=True,
    graphs_option=False,
    memory_fraction_name="kv_free_fraction",
    kv_cache_names=frozenset({"auto", "fp8", "nvfp4"}),
    fp8_kv_name="fp8",
    rules=(int4_engine,),
)


def deployment(engine: Engine, plan: Plan, runtime: Runtime) -> Deployment:
    """One process on one node; for several nodes one launcher on node 0, which starts the others over MPI.

    Raises:
        PreflightRefused: a key is asked for, which it does not check; attention is neither whole nor wholly
            data-parallel; or a setting has no option here.
    """
    refuse_unsaid(plan, SETTINGS, LAYOUT)
    _refuse_key(plan)
    layout = plan.layout
    if layout.dp > 1 and layout.tp > 1:
        raise refuse_layout(
            plan,
            "dp",
            f"attention with tp {layout.tp} inside dp {layout.dp}: here it is data-parallel over all ranks or none",
            "set tp or dp to 1",
        )
    refuse_uneven_nodes(plan)
    options = _options(plan)
    several = plan.nodes > 1
    argv = tuple(_argv(plan, runtime, bool(options)))
    ranks = _ranks(plan, runtime, argv) if several else None
    process = node_process(
        plan,
        _launcher(runtime) if several else runtime,
        0,
        (*_mpi_argv(ranks), *ranks.command) if ranks else argv,
        role=Role.LAUNCHER if several else Role.ENGINE,
        env={"HF_HUB_OFFLINE": "1"},  # the checkpoint is a folder: nothing is fetched behind the user's back
        files=(File(OPTION_FILE, (_as_yaml(options),)),) if options else (),
        shm_bytes=SHM_BYTES,
    )
    return deployment_of(plan, engine.program, (replace(process, ranks=ranks),))


def _refuse_key(plan: Plan) -> None:
    if not plan.serving.keyed:
        return
    finding = Finding(
        Severity.ERROR,
        Code.CONFLICT,
        "endpoint",
        "trtllm-serve checks no key: it answers anyone who can reach its port",
        "leave api_key_env and api_key_file out, keep it on the loopback, and put a proxy that checks keys before it",
    )
    raise PreflightRefused(f"{plan.engine} cannot be told all of this plan", findings=(finding,))


def _argv(plan: Plan, runtime: Runtime, option_file: bool) -> Iterator[Arg]:
    serving, layout = plan.serving, plan.layout
    yield PathRef("checkpoint")
    if _has_option(plan, "--served_model_name"):
        yield from ("--served_model_name", serving.served_name)
    yield from ("--host", listen_on(serving.reach, runtime), "--port", API)
    sizes = (("--tp_size", layout.tp * layout.dp), ("--pp_size", layout.pp), ("--ep_size", layout.ep))
    yield from size_argv(sizes)
    if plan.nodes > 1:
        yield from ("--gpus_per_node", str(layout.world_size // plan.nodes))
    yield from setting_argv(plan.settings, SETTING_FLAGS)
    if option_file:
        yield "--config" if _has_option(plan, "--config") else "--extra_llm_api_options"
        yield (PathRef("run"), f"/{OPTION_FILE}")
    if serving.tool_parser:
        yield from ("--tool_parser", serving.tool_parser)
    if serving.reasoning_parser:
        yield from ("--reasoning_parser", serving.reasoning_parser)
    if serving.trust_remote_code:
        yield "--trust_remote_code"
    yield from plan.extra_args


def _has_option(plan: Plan, flag: str) -> bool:
    """Without a version that of the newest release: candidates have options that it does not."""
    program = tensorrt_llm_read.PROGRAM
    return has_option(program, plan.engine_version or newest_stable(program), flag)


def _options(plan: Plan) -> dict[str, object]:
    """The option file."""
    settings = plan.settings
    cache: dict[str, object] = {}
    if settings.kv_cache_dtype is not None:
        cache["dtype"] = settings.kv_cache_dtype
    if settings.kv_cache_tokens is not None:
        cache["max_tokens"] = settings.kv_cache_tokens
    if settings.prefix_caching is not None:
        cache["enable_block_reuse"] = settings.prefix_caching
    if settings.block_size is not None:
        cache["tokens_per_block"] = settings.block_size
    own: dict[str, object] = json.loads(plan.option_file or "{}")
    if (cache or own.get("kv_cache_config")) and settings.kv_free_fraction is not None:
        # The section of the file replaces the one that the flags made, so the fraction must stand in it.
        cache["free_gpu_memory_fraction"] = settings.kv_free_fraction
    options: dict[str, object] = {}
    if plan.layout.dp > 1:
        options["enable_attention_dp"] = True
    if cache:
        options["kv_cache_config"] = cache
    if settings.enforce_eager:
        options["cuda_graph_config"] = None
    return _with_own(plan, options, own)


def _with_own(plan: Plan, options: dict[str, object], own: Mapping[str, object]) -> dict[str, object]:
    """With the user's own keys, those of a section beside the plan's.

    Raises:
        PreflightRefused: the plan decides a key, or the release has none of a name that is written.
    """
    findings = [
        _refused_key(path, "is not yet in the option file of that release", f"leave {OF_SETTINGS[path]} out")
        for path in OF_SETTINGS
        if _holds(options, path) and not _has_key(plan, path)
    ]
    for key, value in own.items():
        section = value if isinstance(value, dict) else {}
        for path in (key, *(f"{key}.{name}" for name in section)):
            if path in OF_SETTINGS:
                findings.append(_refused_key(path, "is decided by the plan", f"set {OF_SETTINGS[path]} instead"))
            elif not _has_key(plan, path):
                what = f"TensorRT-LLM {plan.engine_version}".strip()
                findings.append(_refused_key(path, f"is no key of the option file of {what}", "leave it out"))
        if section and isinstance(planned := options.get(key, {}), dict):
            options[key] = {**planned, **section}
        elif key in options:
            findings.append(_refused_key(key, "is decided by the plan", "leave it, or enforce_eager, out"))
        else:
            options[key] = value
    if findings:
        raise PreflightRefused(f"{plan.engine} cannot be told all of this plan", findings=tuple(findings))
    return options


def _holds(options: Mapping[str, object], path: str) -> bool:
    section, _, key = path.rpartition(".")
    table = options.get(section) if section else options
    return isinstance(table, dict) and key in table


def _has_key(plan: Plan, path: str) -> bool:
    """True where nothing is recorded of the release. Without one, for every key that any record has."""
    section, _, key = path.rpartition(".")
    program = tensorrt_llm_read.PROGRAM
    lacking = lacking_key(program, section, key, plan.engine_version or newest(program))
    return lacking is None or (not plan.engine_version and bool(lacking.first))


def _refused_key(path: str, what: str, remedy: str) -> Finding:
    return Finding(Severity.ERROR, Code.CONFLICT, f"option_file.{path}", f"{path} {what}", remedy)


def _as_yaml(options: Mapping[str, object]) -> str:
    import yaml

    text: str = yaml.safe_dump(dict(options), sort_keys=False, default_flow_style=False, width=1_000_000)
    return text


def _ranks(plan: Plan, runtime: Runtime, argv: tuple[Arg, ...]) -> MpiRanks:
    """One rank a device; `trtllm-llmapi-launch` lets rank 0 serve and the others work for it."""
    if isinstance(runtime, Executable) and runtime.prefix == ((PathRef("engine"), "/bin/trtllm-serve"),):
        launch: Arg = (PathRef("engine"), "/bin/trtllm-llmapi-launch")
    else:
        launch = "trtllm-llmapi-launch"
    serve = runtime.prefix if isinstance(runtime, Executable) else runtime.entrypoint or ("trtllm-serve",)
    nodes = tuple(f"node-{rank}" for rank in range(plan.nodes))
    return MpiRanks((launch, *serve, *argv), nodes, plan.layout.world_size // plan.nodes)


def _mpi_argv(ranks: MpiRanks) -> Iterator[Arg]:
    hosts: list[str | Ref] = []
    for node in ranks.nodes:
        hosts += [HostRef(node), f":{ranks.per_node}" + ("," if node != ranks.nodes[-1] else "")]
    yield from ("-np", str(ranks.count), "-H", tuple(hosts), "-x", "HF_HUB_OFFLINE")


def _launcher(runtime: Runtime) -> Runtime:
    return replace(runtime, entrypoint=("mpirun",)) if isinstance(runtime, Image) else Executable(("mpirun",))


TENSORRT_LLM: Final = Engine(
    facts=FACTS,
    command="trtllm-serve",
    program=tensorrt_llm_read.PROGRAM,
    command_line=COMMAND_LINE,
    log=LOG,
    metrics=METRICS,
    api=API_FACTS,
    deploy=deployment,
    reader=tensorrt_llm_read.read,
)
