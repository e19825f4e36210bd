"""What is wrong on any devices: the rules of plan/rules that object on every kind of them, where none is named."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.hardware import hardware
from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.other_families import as_published
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.longer_contexts import but_longer
from moonpad.explain.own_flags import in_own_flags
from moonpad.explain.results import Remark
from moonpad.explain.spoiling import ends_it
from moonpad.plan.rules import GENERAL, rule_id
from moonpad.values.cluster import Cluster, Device
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Finding, Severity
from moonpad.values.platform import Platform
from moonpad.values.records import replace

_OF_NUMBER: Final = {"devices-enough", "devices-idle", "tp-across-nodes", "one-machine", "multi-node-executor"}
"""Rules that ask how many devices there are, which is what nobody knows here."""
_OF_FORMAT: Final = {"engine-platform", "gguf-engine", "ascend-formats", "int4-engine"}
"""What a build for other devices than those of the catalogue may read."""
_SAID_ELSEWHERE: Final = {"model-version", "draft-known", "lora-model"}
_LEFT_OUT: Final = frozenset(_OF_NUMBER | _OF_FORMAT | _SAID_ELSEWHERE)
_PER_NODE: Final = 8


def any_devices(case: Case) -> Iterator[Remark]:
    """One remark a setting, at its option."""
    if case.engine.name not in names.CHECKED or case.first.left_to_engine or not case.laid_out:
        return
    configurations = _configurations(case)
    said: set[str] = set()
    for finding in but_longer(_certain(configurations), case.commands):
        if finding.where in said or finding.where in case.unknown:
            continue
        said.add(finding.where)
        flag = case.engine.command_line.options.get(finding.where)
        place = case.option(flag) if flag else None
        severity = Severity.WARNING if is_fragment(case.commands[0]) else finding.severity
        remedy = in_own_flags(finding.remedy, case.engine.command_line)
        shown = replace(finding, severity=severity, where=flag or finding.where, remedy=remedy)
        shown = as_published(shown, configurations[0], case.first.model)
        yield Remark(shown, at=place.index if place else None, stops=ends_it(shown, case.first.model))


def _configurations(case: Case) -> tuple[Configuration, ...]:
    if case.checkpoint is None or case.cluster is not None:
        return ()
    reading, facts = case.first, case.engine.facts
    return tuple(
        Configuration(case.checkpoint, cluster, facts, case.version, reading.layout, reading.settings)
        for cluster in _kinds(facts.platforms)
    )


def _certain(configurations: tuple[Configuration, ...]) -> Iterator[Finding]:
    """What a rule says on each kind of devices in the same words."""
    if not configurations:
        return
    first, *others = configurations
    for rule in (*GENERAL, *first.engine.rules):
        if rule_id(rule) not in _LEFT_OUT:
            yield from (found for found in rule(first) if all(found in tuple(rule(other)) for other in others))


@cache
def _kinds(platforms: tuple[Platform, ...]) -> tuple[Cluster, ...]:
    """Eight devices of each capability that has whole machines of them."""
    kinds: dict[tuple[Platform, str], Device] = {}
    for row in hardware().values():
        device = row.device
        if device is not None and device.platform in platforms and device.per_node >= _PER_NODE:
            kinds.setdefault((device.platform, device.capability), device)
    return tuple(parse_cluster(f"{_PER_NODE}x{device.id}") for device in kinds.values())
