"""SGLang: its command line; sglang_read.py is the inverse.

Facts: the options as SGLang 0.5.23 prints them, and https://docs.sglang.ai/advanced_features/server_arguments.html.
The log's grammar: lines that published logs show, and those of 0.5.23 on a processor, run here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct, field

from moonpad.catalog.drafts import find_draft
from moonpad.engines import aiter, sglang_command_line, sglang_pools, sglang_read
from moonpad.engines.base import (
    API,
    Engine,
    MetricNames,
    RequestTimeNames,
    address_for,
    node_process,
    refuse_uneven_nodes,
    refuse_unsaid,
    size_argv,
    spelled,
)
from moonpad.engines.draft_names import TITLES
from moonpad.engines.install_recipe import cuda_recipe
from moonpad.engines.log_grammar import DEVICE_NAME, CauseLine, LogGrammar, PhaseLine
from moonpad.engines.recorded_options import deployment_of, has_option
from moonpad.engines.sglang_api import API_FACTS
from moonpad.engines.sglang_facts import SGLANG as FACTS
from moonpad.engines.sglang_read import DRAFT, GRAPHS_OFF, KV_OFFLOAD, SETTING_FLAGS, TEXT_ONLY, WHOLE_VISION
from moonpad.values.deployment import Deployment, File, PortSpec, Process, Runtime
from moonpad.values.plan import Plan, Settings
from moonpad.values.references import Arg, HostRef, PathRef, PortRef, RankRef, SecretRef
from moonpad.values.units import GIB

MASTER: Final = PortRef("engine", "master")
MASTER_PORT: Final = 50000  # as Kimi-K2's own deployment guide has it; the option has no default
KEY_FILE: Final = "sglang.yaml"
SHM_BYTES: Final = 32 * GIB  # `docker run --shm-size 32g` of https://docs.sglang.ai/get_started/install.html

LAYOUT: Final = frozenset({"tp", "pp", "dp", "ep", "dcp"})
SETTINGS: Final = frozenset(name for _, name in SETTING_FLAGS) | {
    "enforce_eager",
    "prefix_caching",
    "redundant_experts",
    "text_only",
    "mm_encoder_tp_mode",
    "draft_tokens",
    "draft",
}

# vLLM's short name of a format, where SGLang wants the whole one.
KV_CACHE_DTYPES: Final[Mapping[str, str]] = {"fp8": "fp8_e4m3"}

LOG: Final = LogGrammar(
    engine="sglang",
    phases=(
        PhaseLine("reading the configuration", re.compile(r"server_args=(?:ServerArgs\(|\{)")),
        PhaseLine("starting the ranks", re.compile(r"Init torch distributed begin|Init parallel begin")),
        PhaseLine(
            "loading weights",
            re.compile(
                r"(?:Loading safetensors checkpoint|Multi-thread loading) shards:\s+(?P<percent>\d+)% Completed"
                r"(?!.* shards: )"  # one line of all that the progress bar has written
            ),
        ),
        # What it calls GB are GiB: bytes are divided by 1 << 30.
        PhaseLine("loading weights", re.compile(r"Load weight begin\.(?: avail mem=(?P<free_before_gib>[\d.]+) GB)?")),
        PhaseLine(
            "loading weights",
            re.compile(
                r"Load weight end\.(?: elapsed=(?P<load_s>[\d.]+) s)?"
                r"(?:.{0,200}?avail mem=(?P<free_after_gib>[\d.]+) GB)?"
                r"(?:.{0,40}?mem usage=(?P<weights_gib>-?[\d.]+) GB)?"
            ),
        ),
        PhaseLine(
            "sizing the KV cache",
            re.compile(
                r"KV Cache is allocated\..{0,80}?#tokens: (?P<kv_tokens>\d+)"
                r"(?:, KV size: (?P<kv_gib>[\d.]+) GB|, K size: (?P<k_gib>[\d.]+) GB, V size: (?P<v_gib>[\d.]+) GB)?"
            ),
        ),
        PhaseLine("capturing graphs", re.compile(r"Capture [\w ]{1,40}graph begin", re.IGNORECASE)),
        PhaseLine(
            "capturing graphs",
            re.compile(r"Capture [\w ]{1,40}graph end\..{0,80}?mem usage=(?P<graphs_gib>-?[\d.]+) GB", re.IGNORECASE),
        ),
        PhaseLine("sizing the KV cache", re.compile(r"has a total capacity of (?P<capacity_gib>[\d.]+) GiB")),
        PhaseLine(
            "opening the API",
            re.compile(
                r"max_total_num_tokens=(?P<kv_tokens>\d+),.{0,200} context_len=(?P<at_tokens>\d+)"
                r"(?:, available_[cg]pu_mem=(?P<free_gib>[\d.]+) GB)?"
            ),
        ),
        PhaseLine("opening the API", re.compile(r"Application startup complete|The server is fired up")),
    ),
    causes=(
        CauseLine(
            re.compile(r"launch_server\.py: error: unrecognized arguments: (?P<flags>.+)"),
            "this version of SGLang does not know {flags}",
            "take it out of extra_args",
            "arguments-unknown",
        ),
        CauseLine(
            re.compile(
                r"launch_server\.py: error: "
                r"(?P<text>argument \S+: invalid choice: '(?P<value>[^']+)' \(choose from .+)"
            ),
            "SGLang refused its command line: {text}",
            "write one of these, or take a release that has {value}",
            "arguments-choice",
        ),
        CauseLine(
            re.compile(r"launch_server\.py: error: (?P<text>.+)"),
            "SGLang refused its command line: {text}",
            "mend extra_args",
            "arguments-refused",
        ),
        CauseLine(
            re.compile(r"\[Errno 98\].*address already in use", re.IGNORECASE),
            "the port was taken between the check and the start",
            "choose another port",
            "port",
        ),
        CauseLine(
            re.compile(
                r"(?P<oom>OutOfMemoryError: (?!Task was killed).*?)(?: Including non-PyTorch| Of the allocated|$)"
            ),
            "out of memory: {oom}",
            "lower gpu_memory_utilization, max_num_seqs or max_num_batched_tokens",
            "oom",
        ),
    ),
    generic=("Traceback",),
    starts=(
        re.compile(r"server_args=(?:ServerArgs\(|\{)(?P<arguments>.*)"),
        re.compile(r"\bsglang(?:==| version:? | v)(?P<version>\d\S*)", re.IGNORECASE),
        DEVICE_NAME,
    ),
    beyond_plans=(
        "enable_lora", "lora_paths", "cpu_offload_gb", "max_total_tokens", "enable_hierarchical_cache",
        "torchao_config", "enable_memory_saver", "enable_two_batch_overlap", "mm_enable_dp_encoder",
    ),
    resolved=(
        "attention_backend", "cuda_graph_max_bs", "cuda_graph_bs", "kt_method", "kt_cpuinfer", "kt_threadpool_count",
        "kt_max_deferred_experts_per_token",
    ),
    drafts_apart=True,
)  # fmt: skip

# https://docs.sglang.ai/references/production_metrics.html. The count of generated tokens grows when a request ends.
METRICS: Final = MetricNames(
    running="sglang:num_running_reqs",
    waiting="sglang:num_queue_reqs",
    kv_cache_usage="sglang:token_usage",
    # Not generation_tokens_total, which grows when a request ends: a busy engine would look hung for minutes.
    generation_tokens="sglang:realtime_tokens_total",
    prompt_tokens="sglang:prompt_tokens_total",
    preemptions="sglang:num_retracted_requests_total",
    prefix_hits="sglang:cached_tokens_total",
    prefix_queries="sglang:prompt_tokens_total",
    times=RequestTimeNames(
        queued="sglang:queue_time_seconds",
        between_tokens="sglang:inter_token_latency_seconds",
        prompt_tokens="sglang:prompt_tokens_histogram",
        ttft="sglang:time_to_first_token_seconds",
        e2e="sglang:e2e_request_latency_seconds",
    ),
)

# The package is asked, not the command: the command is Python.
VERSION_ARGS: Final = ("-c", "from importlib.metadata import version; print('sglang', version('sglang'))")

CUDA_RECIPE: Final = cuda_recipe("sglang", "0.5.23", disk_bytes=10_690_000_000, download_bytes=4_350_000_000)


class Variant(Struct, frozen=True):
    """What a fork or a build of SGLang has of its own. `more` are arguments, before those of the user."""

    more: tuple[Arg, ...] = ()
    module: str = "sglang.launch_server"
    env: Mapping[str, Arg] = field(default_factory=dict)
    files: tuple[File, ...] = ()
    host_memory_bytes: int = 0


def upstream(engine: Engine, plan: Plan, runtime: Runtime) -> Deployment:
    """As upstream publishes it.

    Raises:
        PreflightRefused: as `deployment`, or a setting has no option here.
    """
    refuse_unsaid(plan, SETTINGS, LAYOUT)
    return deployment(engine, plan, runtime, Variant())


def deployment(engine: Engine, plan: Plan, runtime: Runtime, variant: Variant) -> Deployment:
    """One process a node, all alike but for their rank; node 0 serves.

    Raises:
        PreflightRefused: the ranks do not divide over the nodes.
    """
    refuse_uneven_nodes(plan)
    processes = tuple(_process(plan, runtime, engine.program, variant, rank) for rank in range(plan.nodes))
    return deployment_of(plan, engine.program, processes)


def _process(plan: Plan, runtime: Runtime, program: str, variant: Variant, rank: int) -> Process:
    return node_process(
        plan,
        runtime,
        rank,
        _argv(plan, runtime, program, variant, rank),
        env=dict(_env(plan, variant, f"node-{rank}")),
        files=((_key_file(),) if rank == 0 and plan.serving.keyed else ()) + variant.files,
        cluster_ports=(
            *((PortSpec(MASTER.name, MASTER_PORT, "cluster"),) if plan.nodes > 1 else ()),
            *sglang_pools.ports(plan),
        ),
        memory_bytes=variant.host_memory_bytes,
        shm_bytes=SHM_BYTES,
    )


def _env(plan: Plan, variant: Variant, node: str) -> Iterator[tuple[str, Arg]]:
    yield "HF_HUB_OFFLINE", "1"  # the checkpoint is a folder: nothing is fetched behind the user's back
    if plan.nodes > 1:
        # The sockets between its ranks are unauthenticated: they belong on the node's own address. Unset, it takes one
        # of its interfaces', or asks a host of the internet which way it is reached (sglang/srt/utils/network.py).
        yield "SGLANG_HOST_IP", HostRef(node)
    yield from aiter.sglang_env(plan).items()
    yield from sglang_pools.env(plan)
    yield from variant.env.items()


def _argv(plan: Plan, runtime: Runtime, program: str, variant: Variant, rank: int) -> Iterator[Arg]:
    serving = plan.serving
    yield from ("-m", variant.module)
    if serving.keyed and rank == 0:
        # SGLang reads no key from the environment, and `ps` would show --api-key.
        yield from ("--config", (PathRef("run"), f"/{KEY_FILE}"))
        # At level INFO it logs all its arguments, the key among them (sgl-project/sglang#37457).
        yield from ("--log-level", "warning")
    yield from ("--model-path", PathRef("checkpoint"), "--served-model-name", serving.served_name)
    # Ranks above 0 answer /health and nothing else; that stays on their own loopback.
    yield from ("--host", address_for(plan, runtime, f"node-{rank}", serving.reach if rank == 0 else "private"))
    if rank == 0:
        yield from ("--port", API)
    yield from sglang_pools.argv(plan)
    yield from _layout_argv(plan, program)
    if plan.nodes > 1:
        yield from ("--dist-init-addr", (HostRef("node-0"), ":", MASTER))
        yield from ("--nnodes", str(plan.nodes), "--node-rank", RankRef(f"node-{rank}"))
    yield from _setting_argv(plan, program)
    yield "--enable-metrics"  # without it there is no /metrics, and a hang could not be told from a long queue
    if serving.tool_parser:
        yield from ("--tool-call-parser", serving.tool_parser)
    if serving.reasoning_parser:
        yield from ("--reasoning-parser", serving.reasoning_parser)
    if serving.trust_remote_code:
        yield "--trust-remote-code"
    yield from variant.more
    yield from plan.extra_args


def _layout_argv(plan: Plan, program: str) -> Iterator[str]:
    layout = plan.layout
    # Attention DP lies inside the tensor-parallel group.
    yield from size_argv((("--tp-size", layout.tp * layout.dp), ("--pp-size", layout.pp)))
    if layout.dp > 1 and has_option(program, plan.engine_version, "--attn-dp-size"):
        yield from ("--attn-dp-size", str(layout.dp))
    elif layout.dp > 1:
        yield from ("--dp-size", str(layout.dp), "--enable-dp-attention")
    yield from size_argv((("--ep-size", layout.ep), ("--dcp-size", layout.dcp)))


def _setting_argv(plan: Plan, program: str) -> Iterator[Arg]:
    settings = plan.settings
    for flag, name in SETTING_FLAGS:
        if (value := getattr(settings, name)) is not None:
            yield from (flag, KV_CACHE_DTYPES.get(value, value) if name == "kv_cache_dtype" else spelled(value))
    if settings.prefix_caching is False:
        yield "--disable-radix-cache"
    if settings.text_only:
        yield TEXT_ONLY
    if settings.mm_encoder_tp_mode == "data":
        yield WHOLE_VISION
    if settings.draft_tokens:
        yield from _draft_argv(settings)
    if settings.kv_offload_size or settings.kv_offload_ratio:
        yield KV_OFFLOAD
    if settings.redundant_experts:
        yield from ("--ep-num-redundant-experts", str(settings.redundant_experts))
    if settings.enforce_eager:
        if has_option(program, plan.engine_version, GRAPHS_OFF[0]):
            yield from (word for flag in GRAPHS_OFF for word in (flag, "disabled"))
        else:
            yield "--disable-cuda-graph"


def _draft_argv(settings: Settings) -> Iterator[Arg]:
    draft = find_draft(settings.draft) if settings.draft else None
    method = draft.sizes.method if draft is not None else "eagle3"
    yield from ("--speculative-algorithm", TITLES[method], DRAFT, PathRef("draft"))
    if method == "eagle3":  # one branch, as deep as the draft proposes
        yield from ("--speculative-num-steps", str(settings.draft_tokens), "--speculative-eagle-topk", "1")
    # The target checks those and gives one more.
    yield from ("--speculative-num-draft-tokens", str(settings.draft_tokens + 1))


def _key_file() -> File:
    # A literal block: between its indentation and the end of the line YAML interprets nothing of the key.
    return File(KEY_FILE, ("api-key: |2-\n  ", SecretRef("api_key"), "\n"), 0o600)


SGLANG: Final = Engine(
    facts=FACTS,
    command="python",
    version_args=VERSION_ARGS,
    program=sglang_read.PROGRAM,
    command_line=sglang_command_line.SGLANG,
    log=LOG,
    metrics=METRICS,
    api=API_FACTS,
    deploy=upstream,
    reader=sglang_read.read,
    recipe=CUDA_RECIPE,
    packages=("sglang",),
)
