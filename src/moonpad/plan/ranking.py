"""Which plan comes first, by documented reasons, until a model of performance exists.

- latency: the fewest times that a token crosses a network, then the largest tensor-parallel group, since each step
  reads the weights once and the group shares that reading;
- throughput: no tensor-parallel group over a network, then what multiplies the KV cache (DP+EP, DCP), no pipeline whose
  stages wait for each other, then the capacity of the cache: more tokens held are more sequences a step;
- context: the longest single sequence, BF16 before FP8 where both reach it, then its concurrency.

For every goal a plan that surely fits stands before a tight one, experts on devices before experts in host RAM, and one
that holds a useful context, or was measured, before one that does not.
"""

from __future__ import annotations

import math
from itertools import pairwise

from moonpad.engines import ENGINES
from moonpad.plan.request import USEFUL_CONTEXT
from moonpad.values.checkpoint import Architecture
from moonpad.values.cluster import Cluster
from moonpad.values.plan import Layout
from moonpad.values.plan_answer import Choice, Goal


def rank(choice: Choice, goal: Goal, cluster: Cluster, architecture: Architecture) -> tuple[float, ...]:
    """Smaller is better; equal for plans between which no documented reason decides."""
    layout = choice.plan.layout
    return (
        choice.confidence == "tight",
        choice.experts_on_host,
        not choice.memory.measured and choice.memory.context < min(USEFUL_CONTEXT, architecture.max_context),
        *_by_goal(choice, goal, cluster, architecture),
        ENGINES[choice.plan.engine].facts.preference,
        layout.pp,
        layout.dp,
        # Nothing that was not asked for, but experts are shared where attention is data-parallel.
        layout.dcp > 1,
        (layout.ep > 1) != (layout.dp > 1),
        -layout.dcp,
        -layout.ep,
        -layout.tp,
    )


def _by_goal(choice: Choice, goal: Goal, cluster: Cluster, architecture: Architecture) -> tuple[float, ...]:
    layout, memory = choice.plan.layout, choice.memory
    hops = network_hops(layout, cluster, architecture)
    if goal == "latency":
        return (hops, -layout.tp)
    if goal == "throughput":
        multiplies = layout.dcp > 1 or (layout.dp > 1 and layout.ep > 1)
        spans = tensor_group_spans_nodes(layout, cluster)
        tokens = memory.kv_tokens.value * layout.dp
        return (spans, not multiplies, layout.pp > 1, -_bucket(tokens), hops)
    fp8_kv = (choice.plan.settings.kv_cache_dtype or "auto").startswith("fp8")
    return (-memory.max_context.value, fp8_kv, -_bucket(memory.concurrency_at_context.value), hops)


def network_hops(layout: Layout, cluster: Cluster, architecture: Architecture) -> int:
    """How often one token waits for a network: collectives of a layer and steps of the pipeline that leave the island.

    Ranks fill the machines in the order that engines give them: tensor innermost, then pipeline, then data.
    """
    island = island_devices(cluster)
    spans = tensor_group_spans_nodes(layout, cluster)
    # Data-parallel ranks of attention share the experts, whole or sliced: no engine here gives each replica its own.
    experts_span = layout.dp > 1 and layout.world_size > island
    hops = architecture.layers if spans else 0  # the all-reduce after attention
    if experts_span:
        hops += 2 * architecture.moe_layers  # tokens to the experts' ranks and back
    elif spans:
        hops += architecture.layers  # the all-reduce after the experts
    if layout.dcp > island:
        hops += 2 * architecture.layers  # queries out, partial results back
    starts = [stage * layout.tp // island for stage in range(layout.pp)]
    return hops + sum(before != after for before, after in pairwise(starts))


def tensor_group_spans_nodes(layout: Layout, cluster: Cluster) -> bool:
    island = island_devices(cluster)
    inside = layout.world_size <= island  # one deployment lies in one rack
    return cluster.nodes > 1 and not inside and (layout.tp > island or island % layout.tp != 0)


def island_devices(cluster: Cluster) -> int:
    """How many devices reach each other without a network: those of a machine, or of a rack whose links span it."""
    domain = cluster.device.scaleup_domain
    return domain if domain > cluster.device.per_node else cluster.per_node


def _bucket(tokens: float) -> int:
    """Capacities within about a quarter of each other are equal: an estimate knows no better."""
    return round(math.log(max(tokens, 1.0), 1.25))
