"""Every layout worth trying on a cluster, before memory and performance decide."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from moonpad.plan.rules import is_legal
from moonpad.plan.rules.case import VLLM
from moonpad.plan.rules.dcp import FIRST_WITH_DCP
from moonpad.plan.rules.platform import PLATFORMS
from moonpad.plan.rules.release import since
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.plan import Layout, Platform, Settings

MAX_STAGES: Final = 16
"""More pipeline stages than this wait for each other longer than they work."""


def legal_layouts(checkpoint: Checkpoint, cluster: Cluster, engine: str, version: str = "") -> Iterator[Layout]:
    """The layouts over all devices of the cluster to which no rule objects, larger tensor-parallel groups first.

    KTransformers fills one machine; on a processor, where ranks share the cores, there is one rank a socket at most.
    """
    settings = Settings()
    if cluster.device.platform not in PLATFORMS.get(engine, ()):
        return
    for layout in _candidates(checkpoint, cluster, engine, version):
        if is_legal(checkpoint, cluster, engine, version, layout, settings):
            yield layout


def _candidates(checkpoint: Checkpoint, cluster: Cluster, engine: str, version: str) -> Iterator[Layout]:
    heads, layers = checkpoint.architecture.heads, checkpoint.architecture.layers
    if cluster.device.platform is Platform.CPU:
        sockets = cluster.host.sockets or 1
        yield from (Layout(tp=tp) for tp in _divisors(sockets) if heads % tp == 0)
        return
    if engine == "ktransformers":
        yield from (Layout(tp=tp) for tp in _divisors(cluster.per_node) if heads % tp == 0)
        return
    has_dcp = engine in FIRST_WITH_DCP and since(version, FIRST_WITH_DCP[engine])
    for tp in _divisors(cluster.devices):
        if heads % tp:
            continue
        for pp in reversed(_divisors(cluster.devices // tp)):
            if pp > min(layers, MAX_STAGES):
                continue
            dp = cluster.devices // tp // pp
            for ep in _expert_degrees(engine, tp * dp):
                for dcp in reversed(_divisors(tp)) if has_dcp else (1,):
                    yield Layout(tp=tp, pp=pp, dp=dp, ep=ep, dcp=dcp)


def _expert_degrees(engine: str, group: int) -> tuple[int, ...]:
    """vLLM has experts whole over the group or sliced over it; the others anything between."""
    return tuple(dict.fromkeys((1, group))) if engine in VLLM else tuple(reversed(_divisors(group)))


def _divisors(number: int) -> tuple[int, ...]:
    """Largest first."""
    small = [count for count in range(1, math.isqrt(number) + 1) if number % count == 0]
    return tuple(sorted({*small, *(number // count for count in small)}, reverse=True))
