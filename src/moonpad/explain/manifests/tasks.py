"""Tasks of schedulers that give them machines: SkyPilot and dstack.

Sources: https://docs.skypilot.co/en/latest/reference/yaml-spec.html,
https://docs.skypilot.co/en/latest/running-jobs/environment-variables.html and
https://dstack.ai/docs/reference/dstack.yml/service/.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from yaml import Node

from moonpad.explain.commands import Word, whole_number
from moonpad.explain.documents.surroundings import Surroundings, unknown_value
from moonpad.explain.manifests.node_labels import cluster_of_label, kind_of_label
from moonpad.explain.manifests.yaml_source import Fields, YamlSource, items, scalar
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.values.records import replace

ReadScript = Callable[[Word, Mapping[str, Word], Surroundings], None]

_MARKS: Final = frozenset({"envs", "env", "setup", "num_nodes", "workdir", "nodes", "resources"})
_EACH: Final = ("DSTACK_GPUS_PER_NODE", "SKYPILOT_NUM_GPUS_PER_NODE")
_ALL: Final = "DSTACK_GPUS_NUM"
_NODES: Final = ("SKYPILOT_NUM_NODES", "DSTACK_NODES_NUM")
_MAKERS: Final = frozenset({"nvidia", "amd", "intel", "google", "tenstorrent"})
_COUNT: Final = re.compile(r"[0-9]+(?:\.\.[0-9]*)?|\.\.[0-9]+")
SET_BY_SCHEDULER: Final = ("SKYPILOT_", "DSTACK_")
"""Beginnings of the names of variables that the machines have from it."""


def read_task(
    fields: Fields, around: Surroundings, source: YamlSource, state: ScriptState, read_script: ReadScript
) -> bool:
    """Reads `run:` and `setup:` of SkyPilot, or `commands:` of dstack, also in the groups of `replicas:`. False where
    it is no task."""
    env = {**around.variables, **dict(environment_of(fields, source))}
    resources = source.fields(fields.get("resources"))
    nodes = next((node for key in ("num_nodes", "nodes") if scalar(node := fields.get(key)).isdigit()), None)
    pods = max(1, whole_number(scalar(nodes)) or 1)
    groups = [group for group in map(source.fields, items(fields.get("replicas"))) if "commands" in group]
    scripts = [fields[name] for name in ("setup", "run") if scalar(fields.get(name))]
    if not (scripts and fields.keys() & _MARKS) and not items(fields.get("commands")) and not groups:
        return False
    given = list(_accelerators(resources, fields, source))
    around = replace(around, variables=env, pods=pods)
    for group in groups:
        read_task(group, around, source, state, read_script)
    body = [source.word(script) for script in scripts] or list(map(source.word, items(fields.get("commands"))))
    if not body:
        return True
    counts = {count for _, _, count in given}
    if len(counts) == 1 and (count := counts.pop()).isdigit():
        at = given[0][0]
        env |= {name: replace(at, text=count, pieces=()) for name in _EACH}
        env[_ALL] = replace(at, text=str(int(count[:6]) * pods), pieces=())
    if nodes is not None or "num_nodes" not in fields:
        at = source.word(nodes) if nodes is not None else body[0]
        env |= {name: replace(at, text=str(pods), pieces=()) for name in _NODES}
    line = body[-1].line
    for _, kind, count in given:
        if label := kind_of_label(kind):
            state.machines.append((line, f"{pods}x{count}x{label}" if pods > 1 else f"{count}x{label}"))
    for word in body:
        read_script(word, env, around)
    return True


def environment_of(fields: Fields, source: YamlSource) -> Iterator[tuple[str, Word]]:
    for key in ("envs", "env", "secrets"):
        for name, node in source.fields(fields.get(key)).items():
            known = scalar(node) and key != "secrets"
            yield name, source.word(node) if known else unknown_value(source.word(node), name)
        for item in items(fields.get(key)):
            word = source.word(item)
            name, equals, value = word.text.partition("=")
            if name:
                yield name, replace(word, text=value, pieces=()) if equals else unknown_value(word, name)


def _accelerators(resources: Fields, fields: Fields, source: YamlSource) -> Iterator[tuple[Word, str, str]]:
    """The words, kind and count of each that the task may get."""
    wanted = [resources, *(source.fields(each) for key in ("any_of", "ordered") for each in items(resources.get(key)))]
    for choice in wanted:
        node = choice.get("accelerators") or choice.get("gpu") or fields.get("gpu")
        named = list(_named(node, source)) if node is not None else []
        yield from named
        if not named and (machine := choice.get("instance_type")) is not None:
            count, times, kind = cluster_of_label(scalar(machine)).partition("x")
            if times:
                yield source.word(machine), kind, count


def _named(node: Node, source: YamlSource) -> Iterator[tuple[Word, str, str]]:
    """`H200:8`, `8:H200`, `{H200: 8, H20: 8}`, `{H200:8, H20:8}`, `[H200:8, H100:8]`, `{name: H100, count: 8}`,
    `nvidia:H100:80GB:8`: of a text the parts may stand in any order."""
    fields = source.fields(node)
    if scalar(fields.get("name")) or items(fields.get("name")):
        names = [scalar(fields.get("name")), *map(scalar, items(fields.get("name")))]
        memory = scalar(fields.get("memory")).rstrip(".")
        for name in filter(None, names):
            yield source.word(node), f"{name}-{memory}", scalar(fields.get("count")) or "1"
        return
    for name, number in fields.items():
        kind, _, inner = name.partition(":")
        yield source.word(node), kind, inner or scalar(number)
    for word in map(source.word, [*items(node)] or ([node] if scalar(node) else [])):
        parts = word.text.split(":")
        memory = next(
            (part for part in parts if part[:1] in "0123456789." and part.rstrip(".").upper().endswith("GB")), ""
        )
        count = next((part for part in parts if part != memory and _COUNT.fullmatch(part)), "1")
        kinds = [part for part in parts if part not in (memory, count) and part.lower() not in _MAKERS]
        for kind in kinds[0].split(",") if kinds else ():
            yield word, f"{kind}-{memory}", count
