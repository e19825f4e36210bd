"""KTransformers since `kt-kernel`: a fork of SGLang that computes experts on the host's processors.

Facts: https://github.com/kvcache-ai/ktransformers, doc/en/kt-kernel/Kimi-K2-Thinking-Native.md and kt-kernel/README.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.engines import ktransformers_read, sglang_api, sglang_command_line
from moonpad.engines.base import OFFLOAD, Engine, refuse_layout, refuse_unsaid
from moonpad.engines.install_recipe import cuda_recipe
from moonpad.engines.sglang import SETTINGS, SGLANG, Variant, deployment
from moonpad.engines.sglang_facts import KTRANSFORMERS as FACTS
from moonpad.values.deployment import Deployment, Runtime
from moonpad.values.plan import Plan
from moonpad.values.records import replace
from moonpad.values.references import Arg, PathRef

# The formats that the processors compute in as they lie in the checkpoint. Others need weights of their own beside it.
METHODS: Final[Mapping[str, str]] = {"int4": "RAWINT4", "fp8": "FP8", "bf16": "BF16"}

LAYOUT: Final = frozenset({"tp", "pp", "dp", "ep"})  # the fork has no decode context parallelism

# Its server is SGLang's.
API_FACTS: Final = replace(
    sglang_api.API_FACTS,
    repository="kvcache-ai/ktransformers",
    known_issues={**sglang_api.API_FACTS.known_issues, "gibberish": ("ktransformers#1577",)},
)

VERSION_ARGS: Final = ("-c", "from importlib.metadata import version; print('kt-kernel', version('kt-kernel'))")

# kt-kernel with sglang-kt, which pins it and torch 2.9.1, whose wheel is of CUDA 12.8.
RECIPE: Final = cuda_recipe(
    "ktransformers",
    "0.7.2",
    package="kt-kernel",
    cuda=12,
    disk_bytes=10_090_000_000,
    download_bytes=4_960_000_000,
)


def with_experts_on_host(engine: Engine, plan: Plan, runtime: Runtime) -> Deployment:
    """One process: the experts are on one host.

    Raises:
        PreflightRefused: several nodes, a format that needs a second set of weights, a setting without an option.
    """
    refuse_unsaid(plan, (SETTINGS | {"gpu_experts"}) - OFFLOAD - {"text_only", "draft_tokens", "draft"}, LAYOUT)
    if plan.nodes > 1:
        raise refuse_layout(plan, "nodes", f"{plan.nodes} nodes: the experts lie in the RAM of one", "use one node")
    if plan.scheme not in METHODS:
        raise refuse_layout(
            plan,
            "model",
            f"{plan.scheme} weights: the processors need a second folder of weights, converted for them",
            f"use a checkpoint in {', '.join(METHODS)}",
        )
    return deployment(engine, plan, runtime, Variant(tuple(_argv(plan)), host_memory_bytes=plan.weights_bytes))


def _argv(plan: Plan) -> Iterator[Arg]:
    yield from ("--kt-weight-path", PathRef("checkpoint"), "--kt-method", METHODS[plan.scheme])
    if plan.host_cores:
        yield from ("--kt-cpuinfer", str(plan.host_cores))
    if plan.host_numa_nodes:
        yield from ("--kt-threadpool-count", str(plan.host_numa_nodes))
    if plan.settings.gpu_experts is not None:
        yield from ("--kt-num-gpu-experts", str(plan.settings.gpu_experts))
    yield "--disable-shared-experts-fusion"  # as every command of its guides has: the shared expert stays on the device


KTRANSFORMERS: Final = replace(
    SGLANG,
    facts=FACTS,
    version_args=VERSION_ARGS,
    program=ktransformers_read.PROGRAM,
    command_line=sglang_command_line.KTRANSFORMERS,
    api=API_FACTS,
    deploy=with_experts_on_host,
    reader=ktransformers_read.read,
    recipe=RECIPE,
    packages=(),
)
