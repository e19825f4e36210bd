"""What to do where a deployment does not fit, in a sentence for a finding."""

from __future__ import annotations

from collections.abc import Sequence

from moonpad.explain.suggestions import FEW_DEVICES, Improvement, Subject, higher_fraction
from moonpad.plan.layouts import legal_layouts
from moonpad.plan.ranking import network_hops
from moonpad.plan.rules import is_legal
from moonpad.values.plan import Layout
from moonpad.values.records import replace
from moonpad.values.units import gib


def best_remedy(subject: Subject, suggestions: Sequence[Improvement]) -> str:
    """The one thing to do, in a sentence for a finding: the best suggestion, else another layout over all devices of
    the cluster, the one that crosses the network least, with the same settings or else with more of the memory."""
    if suggestions:
        return suggestions[0].why
    configuration = subject.configuration

    def cost(layout: Layout) -> tuple[int, int, int]:
        return network_hops(layout, configuration.cluster, configuration.architecture), -layout.tp, -layout.dcp

    subject.budget.work(300 * configuration.cluster.devices.bit_length() ** 2, "the search for better settings")
    higher = higher_fraction(subject) if configuration.cluster.devices <= FEW_DEVICES else None
    for same, extra in ((subject, ""), *([(higher.subject, f" with {higher.what}")] if higher else [])):
        for layout in sorted(legal_layouts(configuration), key=cost):
            other = replace(same, configuration=replace(same.configuration, layout=layout))
            if layout.dcp > 1 and "dcp" in subject.barred:
                continue
            if is_legal(other.configuration) and (memory := other.memory()).fits and not memory.tight:
                return (
                    f"use another layout over the same devices{extra}: {layout.words} leaves "
                    f"{gib(memory.kv_bytes.value)} for the KV cache on each, {memory.kv_tokens.value:,.0f} tokens "
                    "(estimated, not measured); moonpad plan gives the commands"
                )
    return "take more devices, or devices with more memory"
