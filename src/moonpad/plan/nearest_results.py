"""The published results nearest to a plan. They are somebody else's, and are shown as such."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from moonpad.catalog.clusters import parse_cluster
from moonpad.values.cluster import Cluster
from moonpad.values.errors import UsageError
from moonpad.values.plan import Layout
from moonpad.values.plan_answer import Published

MOST: Final = 2
_FAMILY: Final = "kimi-k2"


def nearest_published(
    published: Sequence[Published], model: str, cluster: Cluster, engine: str, layout: Layout
) -> tuple[Published, ...]:
    """At most two of the same family on the same kind of device: the same model, number, engine and layout first."""
    near = [one for one in published if same_family(one.model, model) and same_device(one.cluster, cluster)]

    def distance(one: Published) -> tuple[bool, ...]:
        of = parse_cluster(one.cluster)
        return (
            short(one.model) != short(model),
            of.devices != cluster.devices,
            one.engine != engine,
            one.layout != layout,
        )

    return tuple(sorted(near, key=distance)[:MOST])


def dcp_pair(published: Sequence[Published], model: str, cluster: Cluster) -> tuple[Published, Published] | None:
    """The same load on the same kind of device and model, without and with decode context parallelism."""
    for one in published:
        if one.layout.dcp > 1 and short(one.model) == short(model) and same_device(one.cluster, cluster):
            for other in published:
                alike = (one.title, one.model, one.cluster, one.engine) == (
                    other.title,
                    other.model,
                    other.cluster,
                    other.engine,
                )
                if alike and other.layout.dcp == 1:
                    return other, one
    return None


def dcp_sentence(pair: tuple[Published, Published]) -> str:
    """What somebody else gained by it, and how much longer the answers were meanwhile."""
    before, after = (dict(one.figures) for one in pair)
    sentence = (
        f"somebody else measured {_change(before, after, 'output_throughput')} output tokens a second with decode "
        f"context parallelism on {pair[1].cluster}"
    )
    first, second = _mean_output(before), _mean_output(after)
    if first and second and abs(_percent(first, second)) >= 1:
        sentence += (
            f", but the answers were {abs(_percent(first, second)):.0f} % {'longer' if second > first else 'shorter'} "
            f"({first:.0f} and {second:.0f} tokens); in requests a second it is "
            f"{_change(before, after, 'request_throughput')}"
        )
    return f"{sentence} ({pair[1].source})"


def _change(before: Mapping[str, float], after: Mapping[str, float], name: str) -> str:
    return f"{_percent(before[name], after[name]):+.0f} %"


def _percent(before: float, after: float) -> float:
    return (after / before - 1) * 100


def _mean_output(figures: Mapping[str, float]) -> float | None:
    tokens, completed = figures.get("total_output_tokens"), figures.get("completed")
    return tokens / completed if tokens and completed else None


def same_family(one: str, other: str) -> bool:
    return all(short(name).casefold().startswith(_FAMILY) for name in (one, other))


def same_device(name: str, cluster: Cluster) -> bool:
    try:
        return parse_cluster(name).device.id == cluster.device.id
    except UsageError:
        return False


def short(model: str) -> str:
    """`Kimi-K2-Thinking` of `moonshotai/Kimi-K2-Thinking`."""
    return model.rstrip("/").rpartition("/")[2]
