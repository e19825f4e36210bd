"""Every layout worth trying on a cluster, before memory and performance decide."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from moonpad.plan.rules import is_legal
from moonpad.values.configuration import Configuration
from moonpad.values.plan import Layout, Settings
from moonpad.values.platform import Platform
from moonpad.values.records import replace

MAX_STAGES: Final = 16
"""More pipeline stages than this wait for each other longer than they work."""


def legal_layouts(base: Configuration) -> Iterator[Layout]:
    """The layouts over all devices of the cluster to which no rule objects, larger tensor-parallel groups first.

    An engine that serves from one machine fills it; on a processor, where ranks share the cores, there is one rank a
    socket at most.
    """
    if base.platform not in base.engine.platforms:
        return
    for layout in _candidates(base):
        if is_legal(replace(base, layout=layout, settings=Settings())):
            yield layout


def _candidates(base: Configuration) -> Iterator[Layout]:
    heads, layers, cluster, engine = base.architecture.heads, base.architecture.layers, base.cluster, base.engine
    if base.platform is Platform.CPU or engine.one_machine:
        most = (cluster.host.sockets or 1) if base.platform is Platform.CPU else cluster.per_node
        if engine.tensor_parallel:
            yield from (Layout(tp=tp) for tp in _divisors(most) if heads % tp == 0)
        else:
            yield from (Layout(pp=pp) for pp in _divisors(most) if pp <= layers)
        return
    first_dcp = engine.dcp_since if base.architecture.linear is None else engine.linear_dcp_since
    has_dcp = first_dcp is not None and base.since(first_dcp)
    for tp in _divisors(cluster.devices):
        if heads % tp:
            continue
        for pp in reversed(_divisors(cluster.devices // tp)):
            if pp > min(layers, MAX_STAGES):
                continue
            dp = cluster.devices // tp // pp
            every_degree = engine.expert_degrees == "divisors"
            for ep in reversed(_divisors(tp * dp)) if every_degree else dict.fromkeys((1, tp * dp)):
                for dcp in reversed(_divisors(tp)) if has_dcp else (1,):
                    yield Layout(tp=tp, pp=pp, dp=dp, ep=ep, dcp=dcp)


def _divisors(number: int) -> tuple[int, ...]:
    """Largest first."""
    small = [count for count in range(1, math.isqrt(number) + 1) if number % count == 0]
    return tuple(sorted({*small, *(number // count for count in small)}, reverse=True))
