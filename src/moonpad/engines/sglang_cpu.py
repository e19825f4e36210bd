"""SGLang on a processor: the published wheel, with the shims that it needs there (catalog/plugins/moonpad_sglang_cpu).

Slow, and no deployment: a second engine that runs for real on any machine. Its own image for processors has kernels
for AMX (https://docs.sglang.ai/platforms/cpu_server.html), which the wheel on PyPI has not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines import sglang_command_line, sglang_read
from moonpad.engines.base import OFFLOAD, Engine, Invocation, Reading, refuse_unsaid
from moonpad.engines.install_recipe import Recipe
from moonpad.engines.plugin import PATH as PLUGIN_PATH
from moonpad.engines.plugin import plugin_files
from moonpad.engines.sglang import LAYOUT, SETTINGS, SGLANG, Variant, deployment
from moonpad.engines.sglang_facts import SGLANG_CPU as FACTS
from moonpad.values.deployment import Deployment, Runtime
from moonpad.values.plan import Plan
from moonpad.values.records import replace
from moonpad.values.references import Arg
from moonpad.values.units import GIB

MODULE: Final = "moonpad_sglang_cpu"
PLUGIN: Final = (MODULE, "sglang.srt.plugins")
KV_CACHE_GIB: Final = "MOONPAD_KV_CACHE_GIB"
"""SGLang takes tokens; the plugin divides, since it can read the model's configuration."""

ON_A_PROCESSOR: Final = ("--device", "cpu", "--attention-backend", "torch_native", "--sampling-backend", "pytorch")

RECIPE: Final = Recipe(
    name="sglang-cpu",
    package="sglang",
    version="0.5.23",
    lock="sglang-cpu-0.5.23.txt",
    # It asks for torch 2.14.1, of which the processor's build was not tried; with this one it runs.
    unlocked=("torch==2.13.0+cpu",),
    fallback_index="https://download.pytorch.org/whl/cpu",
    python=((3, 11), (3, 13)),
    system="Linux",
    machine="x86_64",
    glibc=(2, 34),  # that of its own wheel
    processor_flags_any=("avx512f", "avx2"),
    disk_bytes=2_640_000_000,
    download_bytes=600_000_000,
    memory_bytes=4 * GIB,
)


def on_a_processor(engine: Engine, plan: Plan, runtime: Runtime) -> Deployment:
    """As SGLang's own.

    Raises:
        PreflightRefused: the layout does not divide over the nodes, or a setting has no option here.
    """
    elsewhere = OFFLOAD | {"attention_backend", "kv_cache_tokens", "draft_tokens", "draft"}
    refuse_unsaid(plan, (SETTINGS | {"kv_cache_gib"}) - elsewhere, LAYOUT)
    kv_bytes = (plan.settings.kv_cache_gib or 0) * GIB
    ranks = plan.layout.world_size // plan.nodes
    variant = Variant(
        more=ON_A_PROCESSOR,
        module=MODULE,
        env=dict(_env(plan)),
        files=plugin_files(*PLUGIN),
        host_memory_bytes=RECIPE.memory_bytes + plan.weights_bytes + kv_bytes * ranks,
    )
    return deployment(engine, plan, runtime, variant)


def read(invocation: Invocation) -> Reading:
    """As SGLang's own; there is one attention backend, and the size of the KV cache is a variable."""
    reading = sglang_read.read(invocation)
    kv_cache_gib = invocation.env.get(KV_CACHE_GIB, "")
    settings = replace(
        reading.settings,
        attention_backend=None,
        kv_cache_gib=int(kv_cache_gib) if kv_cache_gib.isascii() and kv_cache_gib.isdecimal() else None,
    )
    return replace(reading, settings=settings)


def _env(plan: Plan) -> Iterator[tuple[str, Arg]]:
    yield "SGLANG_USE_CPU_ENGINE", "1"
    yield "PYTHONPATH", PLUGIN_PATH
    if plan.settings.kv_cache_gib is not None:
        yield KV_CACHE_GIB, str(plan.settings.kv_cache_gib)
    if plan.layout.world_size > 1:
        yield "OMP_NUM_THREADS", "1"  # the ranks share the processors
        # More ranks than NUMA nodes are refused unless each has an entry; without AMX kernels nothing is bound to them
        # (sglang/srt/utils/numa_utils.py, distributed/bootstrap.py).
        yield "SGLANG_CPU_OMP_THREADS_BIND", "|".join(str(rank) for rank in range(plan.layout.world_size))


SGLANG_CPU: Final = replace(
    SGLANG,
    facts=FACTS,
    command_line=sglang_command_line.SGLANG_CPU,
    deploy=on_a_processor,
    reader=read,
    recipe=RECIPE,
)
