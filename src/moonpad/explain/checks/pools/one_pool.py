"""Nodes of one pool of ranks that call themselves two engines, pools of their own that call themselves one, and two
sides whose drafts do not fit together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from moonpad.engines import ascend_names as plugin
from moonpad.engines import foreign_names as names
from moonpad.engines.value_checks import as_json, unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.nodes.rank_ranges import launched
from moonpad.explain.commands import Command
from moonpad.explain.grouping import value_of
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_EXTRA: Final = "kv_connector_extra_config"
_PART_OF: Final[Mapping[str, str]] = {"kv_consumer": "decode", "kv_producer": "prefill"}
_SHARED: Final = ("engine_id", "kv_port")
_DRAFTS: Final = "--speculative-config"
_LONGEST: Final = 200
_COUNT: Final = "num_speculative_tokens"
_WITH_STATES: Final = re.compile(r"qwen3-?(?:coder-?)?next|qwen3\.[5-9]|kimi-(?:k3|linear)", re.IGNORECASE | re.ASCII)


def one_pool_two_engines(case: Case) -> Iterator[Remark]:
    """The launch lines start all ranks of the pool at one address, and the scripts of its nodes differ in the name."""
    script, place = case.script, case.option(plugin.TRANSFER_OPTION)
    if case.engine.name != plugin.PLUGIN or place is None:
        return
    config, line = _config(case.commands[0]), case.commands[0].line
    shape = _shape(config)
    if shape is None or not _is_one_pool(case, shape):
        return
    for other in script.commands:
        its = _config(other) if other.line < line else {}
        if not its or its.get("kv_role") != config.get("kv_role") or _shape(its) != shape:
            continue
        unlike = [key for key in _SHARED if _is_text(config.get(key), its.get(key)) and config[key] != its[key]]
        if "engine_id" in unlike:
            here, there = (
                ", ".join(f"{key} {shortened(str(each[key]), 20)}" for key in unlike) for each in (config, its)
            )
            message = f"{here} here, {there} in {script.where(other.line)}: by the launch lines both are nodes of one "
            message += f"engine of {shape[0]} ranks, which has one name"
            remedy = f"write {there} on all of its nodes"
            where = plugin.TRANSFER_OPTION
            yield make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy, at=place.index)
        return


def two_pools_one_engine(case: Case) -> Iterator[Remark]:
    """Each launch line starts all ranks of a pool at an address of its own, and the pools' scripts have one name."""
    script, place = case.script, case.option(plugin.TRANSFER_OPTION)
    if case.engine.name != plugin.PLUGIN or place is None:
        return
    config = _config(case.commands[0])
    shape, role, name = _shape(config), config.get("kv_role"), config.get("engine_id")
    if shape is None or not _is_text(name):
        return
    alike = [
        other for other in script.commands if (its := _config(other)).get("kv_role") == role and _shape(its) == shape
    ]
    if len(alike) < 2 or alike[-1].line != case.commands[0].line:
        return
    if any(_config(other).get("engine_id") != name for other in alike) or _whole_pools(case, shape) != len(alike):
        return
    message = f"{len(alike)} {_PART_OF[str(role)]} pools, by the launch lines, and each has the engine_id "
    message += f"{shortened(str(name), 20)}: the other side keeps one set of addresses for them all"
    remedy = "give each pool an engine_id of its own, or leave it out: each takes its own"
    yield make_remark(Severity.WARNING, Code.CONFLICT, plugin.TRANSFER_OPTION, message, remedy, at=place.index)


def unlike_drafts(case: Case) -> Iterator[Remark]:
    """A layer's state has as many places as its server drafts tokens, and goes over to the other side as it is."""
    place, model = case.option(_DRAFTS), case.first.model
    if case.engine.name != plugin.PLUGIN or place is None or not _WITH_STATES.search(model[-_LONGEST:]):
        return
    command = case.commands[0]
    here = _drafted(command)
    if _config(command).get("kv_role") != "kv_producer" or not here:
        return
    for other in case.script.commands:
        there = _drafted(other) if _config(other).get("kv_role") == "kv_consumer" else 0
        if there and there != here and model in {word.text.strip("'\"") for word in other.argv}:
            message = (
                f"{_COUNT} {here} on the prefill side and {there} in {case.script.where(other.line)}: a model whose "
            )
            message += "layers keep a state wants one number on both sides, as the state has a place for each draft"
            yield make_remark(
                Severity.WARNING, Code.CONFLICT, _DRAFTS, message, f"write {there} on both", at=place.index
            )
            return


def _drafted(command: Command) -> int:
    word = value_of(command.argv, (_DRAFTS,))
    value = as_json(word.text) if word is not None else None
    count = value.get(_COUNT) if isinstance(value, dict) else None
    return count if isinstance(count, int) else 0


def _whole_pools(case: Case, shape: tuple[int, int]) -> int:
    """The lines that start ranks of this shape, where each starts all of them, each at another address; else 0."""
    addresses: list[str] = []
    for command in case.script.commands:
        given = launched(command)
        if (given.get(names.LAUNCHED), given.get(names.LAUNCHED_DEVICES, 1)) != shape:
            continue
        if given.get(names.LAUNCHED_FIRST, 0) or given.get(names.LAUNCHED_HERE, shape[0]) != shape[0]:
            return 0
        words = [word.text for word in (*command.prefix, *command.argv)]
        addresses.append(dict(pairwise(words)).get(names.LAUNCHED_ADDRESS, ""))
    return len(addresses) if len({*addresses}) == len(addresses) and "" not in addresses else 0


def _config(command: Command) -> Mapping[str, object]:
    word = value_of(command.argv, (plugin.TRANSFER_OPTION,))
    value = as_json(word.text) if word is not None else None
    return value if isinstance(value, dict) else {}


def _shape(config: Mapping[str, object]) -> tuple[int, int] | None:
    """Ranks of the pool, and devices of each, by the table of the pool's own role."""
    extra = config.get(_EXTRA)
    part = extra.get(_PART_OF.get(str(config.get("kv_role")), "")) if isinstance(extra, dict) else None
    ranks, each = (part.get("dp_size"), part.get("tp_size")) if isinstance(part, dict) else (None, None)
    return (ranks, each) if isinstance(ranks, int) and isinstance(each, int) and ranks > 1 else None


def _is_text(*values: object) -> bool:
    return all(isinstance(value, str | int) and not unresolved(str(value)) for value in values)


def _is_one_pool(case: Case, shape: tuple[int, int]) -> bool:
    """Whether the lines that start ranks of this shape start all of them once, at one address, on several machines."""
    addresses, firsts, started = set[str](), list[int](), 0
    for command in case.script.commands:
        given = launched(command)
        if (given.get(names.LAUNCHED), given.get(names.LAUNCHED_DEVICES, 1)) != shape:
            continue
        words = [word.text for word in (*command.prefix, *command.argv)]
        addresses.add(dict(pairwise(words)).get(names.LAUNCHED_ADDRESS, ""))
        firsts.append(given.get(names.LAUNCHED_FIRST, 0))
        started += given.get(names.LAUNCHED_HERE, shape[0])
    apart = len(firsts) > 1 and len(set(firsts)) == len(firsts)
    return apart and len(addresses) == 1 and "" not in addresses and started == shape[0]
