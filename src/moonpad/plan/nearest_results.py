"""The published results nearest to a plan. Others measured them, and they are shown as such."""

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

    def distance(result: Published) -> tuple[bool, ...]:
        return (
            short(result.model) != short(model),
            parse_cluster(result.cluster).devices != cluster.devices,
            result.engine != engine,
            result.layout != layout,
        )

    near = (result for result in published if _in_family(result.model) and _on_same_device(result, cluster))
    return tuple(sorted(near, key=distance)[:MOST]) if _in_family(model) else ()


def dcp_pair(published: Sequence[Published], model: str, cluster: Cluster) -> tuple[Published, Published] | None:
    """The same load on the same kind of device and model, without and with decode context parallelism."""

    def load(result: Published) -> tuple[str, ...]:
        return result.title, result.model, result.cluster, result.engine

    without = {load(result): result for result in reversed(published) if result.layout.dcp == 1}
    for result in published:
        near = short(result.model) == short(model) and _on_same_device(result, cluster)
        if result.layout.dcp > 1 and near and load(result) in without:
            return without[load(result)], result
    return None


def dcp_sentence(pair: tuple[Published, Published]) -> str:
    """What others gained by it, and how much longer the answers were meanwhile."""
    before, after = (dict(result.figures) for result in pair)
    throughput = _percent(before["output_throughput"], after["output_throughput"])
    sentence = (
        f"others measured {throughput:+.0f} % output tokens a second with decode context parallelism on "
        f"{pair[1].cluster}"
    )
    first, second = _mean_output(before), _mean_output(after)
    if first and second and abs(longer := _percent(first, second)) >= 1:
        requests = _percent(before["request_throughput"], after["request_throughput"])
        sentence += (
            f", but the answers were {abs(longer):.0f} % {'longer' if second > first else 'shorter'} "
            f"({first:.0f} and {second:.0f} tokens); in requests a second it is {requests:+.0f} %"
        )
    return f"{sentence} ({pair[1].source})"


def _percent(before: float, after: float) -> float:
    return (after / before - 1) * 100


def _mean_output(figures: Mapping[str, float]) -> float | None:
    tokens, completed = figures.get("total_output_tokens"), figures.get("completed")
    return tokens / completed if tokens and completed else None


def _in_family(model: str) -> bool:
    return short(model).casefold().startswith(_FAMILY)


def _on_same_device(result: Published, cluster: Cluster) -> bool:
    try:
        return parse_cluster(result.cluster).device.id == cluster.device.id
    except UsageError:
        return False


def short(model: str) -> str:
    """`Kimi-K2-Thinking` of `moonshotai/Kimi-K2-Thinking`."""
    return model.rstrip("/").rpartition("/")[2]
