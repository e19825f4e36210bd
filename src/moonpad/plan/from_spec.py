"""A spec and the size of the weights → a Plan. Pure."""

from __future__ import annotations

from typing import Final

from moonpad.engines import ENGINES
from moonpad.engines.base import Engine, installed_runtime
from moonpad.plan.legality import layout_findings
from moonpad.spec.schema import SettingsTable, Spec
from moonpad.values.deployment import Image, Runtime
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import errors_of
from moonpad.values.plan import Layout, Plan, Platform, Serving, Settings

# A CPU shares its memory with everything else, so the plan names each limit instead of letting the engine take a share.
CPU_MAX_MODEL_LEN: Final = 4096
CPU_MAX_NUM_SEQS: Final = 64
CPU_KV_CACHE_GIB: Final = 1


def make_plan(spec: Spec, weights_bytes: int) -> Plan:
    """What to run. What the spec says wins over every default.

    Raises:
        PreflightRefused: the engine cannot run that layout or that format; the findings say why.
    """
    engine = engine_of(spec)
    layout = _layout(spec)
    settings = _settings(spec.settings, layout, engine.platform)
    findings = layout_findings(engine.name, engine.platform, layout, settings)
    if errors := errors_of(findings):
        raise PreflightRefused(f"{engine.name} cannot run this layout", findings=errors)
    return Plan(
        name=spec.name,
        engine=engine.name,
        platform=engine.platform,
        layout=layout,
        settings=settings,
        serving=Serving(
            served_name=spec.served_name,
            port=spec.endpoint.port,
            reach="public" if spec.endpoint.expose else "loopback",
            keyed=spec.endpoint.keyed,
        ),
        weights_bytes=weights_bytes,
        extra_args=spec.settings.extra_args,
        start_budget_s=spec.launch.start_timeout_s,
        stop_grace_s=spec.launch.stop_grace_s,
    )


def engine_of(spec: Spec) -> Engine:
    """The engine that the spec names; the schema has refused every unknown name."""
    return ENGINES[spec.engine.name]


def runtime_of(spec: Spec) -> Runtime:
    """Where the engine's command comes from: an image, or the environment that is bound to the path `engine`."""
    if spec.engine.image:
        # Named, since images differ in what they start by themselves: `vllm serve` in some, a shell in others.
        return Image(spec.engine.image, (engine_of(spec).command,))
    return installed_runtime(engine_of(spec).command)


def _layout(spec: Spec) -> Layout:
    asked = spec.layout
    return Layout(
        tp=asked.tp,
        pp=asked.pp,
        dp=asked.dp,
        ep=asked.tp * asked.dp if asked.expert_parallel else 1,
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
    )
