"""A spec and the size of the weights → a Plan. Pure."""

from __future__ import annotations

from typing import Final

from moonpad.engines import ENGINES
from moonpad.engines.base import Engine, installed_runtime, settled_version
from moonpad.plan.legality import layout_findings
from moonpad.plan.start import start_budget_s
from moonpad.spec.schema import SettingsTable, Spec
from moonpad.values.cluster import Cluster
from moonpad.values.deployment import Image, Runtime
from moonpad.values.errors import PreflightRefused, UsageError
from moonpad.values.finding import errors_of
from moonpad.values.plan import Layout, Plan, Platform, Serving, Settings

# A CPU shares its memory with everything else, so the plan names each limit instead of letting the engine take a share.
CPU_MAX_MODEL_LEN: Final = 4096
CPU_MAX_NUM_SEQS: Final = 64
CPU_KV_CACHE_GIB: Final = 1

# What the cards of the published drafts and vLLM's recipes for Kimi say, e.g. https://huggingface.co/AQ-MedAI/Kimi-K25-eagle3
# and https://github.com/vllm-project/recipes/pull/347.
DRAFT_TOKENS: Final = 3


def make_plan(spec: Spec, weights_bytes: int, scheme: str = "bf16") -> Plan:
    """What to run. What the spec says wins over every default. `scheme` is that of the checkpoint's `Quantization`.

    Raises:
        PreflightRefused: the engine cannot run that layout or that format, or could not start in the time that the
            spec gives it; the findings say why.
    """
    engine = engine_of(spec)
    layout = _layout(spec)
    cluster = _cluster(spec)
    platform = cluster.device.platform if cluster else engine.platform
    if platform not in engine.platforms:
        raise PreflightRefused(
            f"{engine.name} does not run on {spec.hardware.cluster}",
            remedy=f"moonpad plan --model {spec.model} --on {spec.hardware.cluster} says what does",
        )
    settings = _settings(spec.settings, layout, platform)
    findings = layout_findings(engine.name, platform, layout, settings)
    if errors := errors_of(findings):
        raise PreflightRefused(f"{engine.name} cannot run this layout", findings=errors)
    return Plan(
        name=spec.name,
        engine=engine.name,
        platform=platform,
        layout=layout,
        settings=settings,
        serving=Serving(
            served_name=spec.served_name,
            port=spec.endpoint.port,
            reach="public" if spec.endpoint.expose else "loopback",
            keyed=spec.endpoint.keyed,
            trust_remote_code=spec.trust_remote_code,
            **_parsers(engine, spec.engine.version),
        ),
        weights_bytes=weights_bytes,
        extra_args=spec.settings.extra_args,
        start_budget_s=start_budget_s(weights_bytes, spec.hardware.disk_gb_per_s, spec.launch.start_timeout_s),
        stop_grace_s=spec.launch.stop_grace_s,
        drain_s=spec.launch.drain_s or None,
        engine_version=spec.engine.version or "",
        nodes=len(spec.hosts) or (cluster.filled_by(layout) if cluster else 1),
        devices_per_node=cluster.per_node if cluster and cluster.device.driver_bytes else 0,
        scheme=scheme,
        rdma=spec.hardware.rdma,
    )


def _parsers(engine: Engine, version: str | None) -> dict[str, str | None]:
    """Those that the version is known to have; where the spec names none, the newest are taken."""
    if version is None:
        return {}
    from moonpad.plan.parsers import REASONING, TOOLS, parser_of

    return {
        "tool_parser": parser_of(engine.program, version, TOOLS),
        "reasoning_parser": parser_of(engine.program, version, REASONING),
    }


def _cluster(spec: Spec) -> Cluster | None:
    """None where the spec names no hardware: then it is one node of whatever the engine finds."""
    if spec.hardware.cluster is None:
        return None
    from moonpad.catalog.clusters import parse_cluster

    return parse_cluster(spec.hardware.cluster)


def engine_of(spec: Spec) -> Engine:
    """The engine that the spec names; the schema has refused every unknown name."""
    return ENGINES[spec.engine.name]


def runtime_of(spec: Spec) -> Runtime:
    """Where the engine's command comes from: an image, or the environment that is bound to the path `engine`."""
    if spec.engine.image:
        # Named, since images differ in what they start by themselves: `vllm serve` in some, a shell in others.
        return Image(spec.engine.image, (engine_of(spec).command,))
    return installed_runtime(engine_of(spec).command)


def container_of(spec: Spec, plan: Plan) -> Image:
    """The image of the spec, or the one that the engine's makers publish for such devices. Several nodes reach one
    another's ports by number, so there the container has the network of its host.

    Raises:
        UsageError: the spec names none and none is known.
    """
    engine, reference = engine_of(spec), spec.engine.image
    if reference is None:
        from moonpad.catalog.images import image_of
        from moonpad.catalog.options import newest_stable

        cluster = _cluster(spec)
        capability = cluster.device.capability if cluster else ""
        version = plan.engine_version or settled_version(engine) or newest_stable(engine.program)
        reference = image_of(engine.name, plan.platform, capability, version)
    if reference is None:
        raise UsageError(
            f"no image of {engine.name} for {spec.hardware.cluster or plan.platform} is known",
            remedy='name one: [engine] image = "NAME@sha256:..."',
        )
    return Image(reference, (engine.command,), own_network=plan.nodes == 1)


def _layout(spec: Spec) -> Layout:
    asked = spec.layout
    return Layout(
        tp=asked.tp,
        pp=asked.pp,
        dp=asked.dp,
        ep=asked.ep or (asked.tp * asked.dp if asked.expert_parallel else 1),
        dcp=asked.dcp,
    )


def _settings(asked: SettingsTable, layout: Layout, platform: Platform) -> Settings:
    cpu = platform is Platform.CPU
    eager = asked.enforce_eager
    if eager is None:
        # Compiling takes longer than a CPU run's start; pipelines answer 500 when eager (legality.py).
        eager = cpu and layout.pp == 1
    return Settings(
        max_model_len=asked.max_model_len or (CPU_MAX_MODEL_LEN if cpu else None),
        max_num_seqs=asked.max_num_seqs or (CPU_MAX_NUM_SEQS if cpu else None),
        max_num_batched_tokens=asked.max_num_batched_tokens,
        gpu_memory_utilization=asked.gpu_memory_utilization,
        kv_cache_dtype=asked.kv_cache_dtype,
        kv_cache_gib=asked.kv_cache_gib or (CPU_KV_CACHE_GIB if cpu else None),
        enforce_eager=eager,
        prefix_caching=asked.prefix_caching,
        attention_backend=asked.attention_backend,
        block_size=asked.block_size,
        kv_free_fraction=asked.kv_free_fraction,
        redundant_experts=asked.redundant_experts,
        executor=asked.executor,
        text_only=asked.text_only,
        draft_tokens=(asked.draft_tokens or DRAFT_TOKENS) if asked.draft else 0,
        gpu_experts=asked.gpu_experts,
    )
