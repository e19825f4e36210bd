"""llama.cpp's `llama-server`: one process that deals layers out over devices and host RAM; llama_cpp_read.py reads it.

Facts: llama_cpp_facts.py. The log's grammar: lines that b11434 printed here when it served kimi-k2-tiny and when it
could not, and https://github.com/ggml-org/llama.cpp for those of devices.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import llama_cpp_facts, llama_cpp_read
from moonpad.engines.base import API, Engine, listen_on, node_process, refuse_layout, refuse_unsaid, setting_argv
from moonpad.engines.command_line import Build, CommandLine, Program
from moonpad.engines.llama_cpp_read import SETTING_FLAGS
from moonpad.engines.log_grammar import CauseLine, LogGrammar, PhaseLine
from moonpad.engines.recorded_options import deployment_of
from moonpad.values.deployment import Deployment, Runtime
from moonpad.values.plan import Plan, Platform
from moonpad.values.records import replace
from moonpad.values.references import Arg, PathRef, SecretRef
from moonpad.values.units import GIB

LAYOUT: Final = frozenset({"pp"})
SETTINGS: Final = frozenset(name for _, name in SETTING_FLAGS) | {"max_model_len", "max_num_seqs"}
BATCH_TOKENS: Final = 2048
"""The default of --batch-size, below which --ubatch-size stays."""
UNKNOWN_FILE: Final = "MODEL.gguf"

LOG: Final = LogGrammar(
    engine="llama-cpp",
    phases=(
        PhaseLine("reading the configuration", re.compile(r"llama_server: initializing")),
        PhaseLine("loading weights", re.compile(r"load_model: loading model '|load_tensors: loading model tensors")),
        PhaseLine(
            "sizing the KV cache",
            re.compile(r"load_model: initializing, n_slots = \d+, n_ctx_slot = (?P<at_tokens>\d+)"),
        ),
        PhaseLine("opening the API", re.compile(r"llama_server: (?:model loaded|listening on)")),
    ),
    causes=(
        CauseLine(
            re.compile(r"error: invalid argument: (?P<flag>\S+)"),
            "this build of llama.cpp does not know {flag}",
            "take it out of extra_args",
            "arguments-unknown",
        ),
        CauseLine(
            re.compile(r'error while handling argument "(?P<flag>[^"]+)": (?P<text>.+)'),
            "llama.cpp refused {flag}: {text}",
            "mend extra_args",
            "arguments-refused",
        ),
        CauseLine(
            re.compile(r"couldn't bind HTTP server socket.*port: (?P<port>\d+)"),
            "port {port} was taken between the check and the start",
            "choose another port",
            "port",
        ),
        CauseLine(
            re.compile(r"unknown model architecture: '(?P<name>[^']+)'"),
            "this build of llama.cpp does not know the architecture {name}",
            "use a newer build",
            "architecture",
        ),
        CauseLine(
            # https://github.com/ikawrakow/ik_llama.cpp/issues/500: 360 GB of them, and none without the copies
            re.compile(r"allocating (?P<size>[\d.]+) MiB on device (?P<device>\d+): cudaMalloc failed: out of memory"),
            "out of memory: device {device} has no room for {size} MiB, while pipeline parallelism keeps several copies"
            " of the compute buffers (n_copies)",
            "build with -DGGML_SCHED_MAX_COPIES=1, which keeps one copy; where that is not enough, raise"
            " host_expert_layers or lower max_model_len",
            "oom-pipeline-copies",
            only_with=re.compile(r"pipeline parallelism enabled \(n_copies=[2-9]"),
        ),
        CauseLine(
            re.compile(r"(?P<oom>cudaMalloc failed: out of memory|failed to allocate \S+ buffer.*)"),
            "out of memory: {oom}",
            "raise host_expert_layers, or lower max_model_len, max_num_seqs or max_num_batched_tokens",
            "oom",
        ),
        CauseLine(
            re.compile(r"failed to load model,? '(?P<file>[^']+)'"),
            "llama.cpp could not load {file}",
            "moonpad logs shows its own words; moonpad checkpoint show tells whether the file is whole",
            "gguf-not-loaded",
            symptom=True,
            weak=True,
        ),
    ),
    generic=(),
    pieces=(
        re.compile(r"(?:^|\s)build: (?P<version>\d{3,6}) \("),
        re.compile(r"llama_model_loader: loaded meta data with .{1,80} from (?P<model>\S+)"),
        re.compile(r"llama_context: n_ctx +=? *(?P<setting_ctx_size>\d{2,8})(?!\d)"),
        re.compile(r"load_tensors: offloaded (?P<setting_n_gpu_layers>\d+)/\d+ layers"),
        re.compile(r"\bDevice \d+: (?P<listed>NVIDIA [\w -]{2,60}?)(?:,|$)"),
    ),
)

COMMAND_LINE: Final = CommandLine(
    options={
        "pp": "--tensor-split",
        "max_model_len": "--ctx-size",
        "max_num_seqs": "--parallel",
        "max_num_batched_tokens": "--ubatch-size",
        "kv_cache_dtype": "--cache-type-k",
        "device_layers": "--n-gpu-layers",
        "host_expert_layers": "--n-cpu-moe",
    },
    programs=(
        Program(
            name=llama_cpp_read.PROGRAM,
            label="llama.cpp",
            commands=("llama-server",),
            images=r"llama\.cpp:server[a-z0-9-]*",  # .devops/*.Dockerfile: ENTRYPOINT [ "/app/llama-server" ]
            chosen_by=("--server",),  # .devops/tools.sh, the entrypoint of the images `full`
        ),
    ),
    names=(r"llama\.cpp", "llama-server"),
    images=(r"ggml-org/llama\.cpp:server[a-z0-9-]*",),
    model="--model",
    key_env="LLAMA_API_KEY",
    port=8080,
)


def deployment(engine: Engine, plan: Plan, runtime: Runtime) -> Deployment:
    """One process.

    Raises:
        PreflightRefused: a layout other than whole layers on each device, or a setting that has no option here.
    """
    refuse_unsaid(plan, SETTINGS, LAYOUT)
    if plan.nodes > 1:
        raise refuse_layout(plan, "nodes", f"{plan.nodes} nodes: one process serves all layers", "use one node")
    keyed = {"LLAMA_API_KEY": SecretRef("api_key")} if plan.serving.keyed else {}
    memory_bytes = plan.weights_bytes + GIB
    process = node_process(plan, runtime, 0, _argv(plan, runtime), env=keyed, memory_bytes=memory_bytes)
    return deployment_of(plan, engine.program, (process,))


def _argv(plan: Plan, runtime: Runtime) -> Iterator[Arg]:
    serving, settings = plan.serving, plan.settings
    yield from ("--model", (PathRef("checkpoint"), f"/{plan.checkpoint_file or UNKNOWN_FILE}"))
    yield from ("--alias", serving.served_name)
    yield from ("--host", listen_on(serving.reach, runtime), "--port", API)
    if plan.platform is Platform.CPU:
        yield from ("--device", "none")
    elif settings.device_layers is None:
        yield from ("--n-gpu-layers", str(llama_cpp_read.ALL_LAYERS))
    if plan.layout.pp > 1:
        yield from ("--split-mode", "layer", "--tensor-split", ",".join("1" * plan.layout.pp))
    elif plan.platform is not Platform.CPU:
        yield from ("--split-mode", "none")
    if settings.max_model_len is not None:
        yield from ("--ctx-size", str(settings.max_model_len * (settings.max_num_seqs or 1)))
    if settings.max_num_seqs is not None:
        yield from ("--parallel", str(settings.max_num_seqs))
    yield from setting_argv(settings, SETTING_FLAGS)
    if (tokens := settings.max_num_batched_tokens) is not None and tokens > BATCH_TOKENS:
        yield from ("--batch-size", str(tokens))
    # Nothing is moved behind the plan's back, and parsers of tool calls and thinking come with the chat template.
    yield from ("--fit", "off", "--jinja", "--metrics", "--no-ui")
    yield from plan.extra_args


LLAMA_CPP: Final = Engine(
    facts=llama_cpp_facts.LLAMA_CPP,
    command="llama-server",
    program=llama_cpp_read.PROGRAM,
    command_line=COMMAND_LINE,
    log=LOG,
    metrics=llama_cpp_facts.METRICS,
    api=llama_cpp_facts.API_FACTS,
    deploy=deployment,
    reader=llama_cpp_read.read,
    build_pattern=r"(?:\bbuild |^version: )(\d+)[ ,]",
)
LLAMA_CPP_CPU: Final = replace(
    LLAMA_CPP,
    facts=llama_cpp_facts.LLAMA_CPP_CPU,
    command_line=replace(
        COMMAND_LINE, programs=(), names=(), images=(), build=Build("llama-cpp", platform=Platform.CPU)
    ),
)
