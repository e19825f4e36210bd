"""Modules that are not there, and what a step, a machine and its RAM have room for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines.value_checks import as_json, unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.lmcache_traits import is_latent, lmcache_releases
from moonpad.explain.checks.memory.expert_memory import spoken_ram
from moonpad.explain.commands import Command
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import since

_warning = partial(make_remark, Severity.WARNING)
_LONGEST: Final = 2000
_FIRST_RANK_ALONE: Final = "0.3.10"
"""The release of LMCache from which on the first rank alone has a store, where all hold the same."""
_DRAFT: Final = "--speculative-config"


def no_such_module(case: Case) -> Iterator[Remark]:
    """A module that the text starts beside the servers and that is in no release."""
    modules = names.NO_MODULES.get(case.engine.name, {})
    if not modules:
        return
    if any(case.engine.program == command.program and command.line for command in _before(case)):
        return  # said of the first
    case.script.budget.work(len(case.script.lines), "the text around its engine commands")
    lines = [line[:_LONGEST] for line in case.script.lines]
    for module, right in modules.items():
        number = next((at for at, line in enumerate(lines, 1) if f"{module} " in f"{line} "), None)
        if number is not None:
            title = case.engine.facts.title if module.startswith(case.engine.name) else module.partition(".")[0]
            message = f"{case.script.where(number)}: {title} has no module of that name to start"
            own = any(word.text == module for word in case.commands[0].prefix)
            severity = Severity.ERROR if own else Severity.WARNING  # beside the server, or the server itself
            yield make_remark(severity, Code.REMOVED_FLAG, module, message, f"start python -m {right}")


def plain_server(case: Case) -> Iterator[Remark]:
    """An option of the server with the API of OpenAI for the one that has /generate alone."""
    line = case.commands[0].line
    around = (command for command in case.script.commands if command.program == "other" and command.words)
    lines = (command for command in around if command.line <= line <= command.words[-1].end_line)
    case.script.budget.work(len(case.script.commands) // 4, "its engine commands")
    for word in (word for command in lines for word in command.words[:8]):
        server, options = names.PLAIN_SERVERS.get(word.text, ("", frozenset[str]()))
        place = case.option(*sorted(options)) if options else None
        if place is not None and place.flag:
            message = f"{word.text}, which has /generate alone, has no such option, and ends (unrecognized arguments)"
            remedy = f"start python -m {server}"
            yield make_remark(Severity.ERROR, Code.UNKNOWN_FLAG, place.flag, message, remedy, at=place.index)


def _before(case: Case) -> Iterator[Command]:
    own = case.commands[0]
    for command in case.script.commands:
        if 0 < command.line < own.line:
            yield command


def step_budget(case: Case) -> Iterator[Remark]:
    """Tokens of one step against those that all sequences propose."""
    place, batched = case.option(_DRAFT), case.option("--max-num-batched-tokens")
    sequences = case.option("--max-num-seqs")
    if case.base != names.EXPERTS_BY_VARIABLE or place is None or batched is None or sequences is None:
        return
    config = as_json(place.value.strip("'")) if isinstance(place.value, str) else place.value
    tokens = _whole(config.get("num_speculative_tokens")) if isinstance(config, dict) else None
    at_once, room = _whole(sequences.value), _whole(batched.value)
    if not isinstance(config, dict) or not tokens or at_once is None or room is None:
        return
    where, asked = "--max-num-batched-tokens", at_once * (1 + tokens)
    how = f"{at_once} sequences with {tokens} draft tokens"
    remedy = f"write {where} {asked} or more, or fewer --max-num-seqs"
    left = room - at_once * (tokens - 1)
    if config.get("method") in names.PARALLEL_DRAFTS and left <= 0:
        message = f"{room}: {how} reserve {at_once} × {tokens - 1}, and {left} are left, which ends the start"
        yield make_remark(Severity.ERROR, Code.INVALID_VALUE, where, message, remedy, at=batched.index)
    elif room < asked:
        message = f"{room}: {how} are {asked} tokens a step, so not all of them go on in each step"
        yield make_remark(Severity.NOTE, Code.SUBOPTIMAL, where, message, remedy, at=batched.index)


def _whole(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return None if not isinstance(value, str) or unresolved(value) else whole(value.strip("'\""))


def prefill_context(case: Case) -> Iterator[Remark]:
    """Prefill context parallelism has ranks of its own, unlike decode context parallelism."""
    place = case.option(names.PREFILL_PARALLEL)
    ways = _whole(place.value) if place is not None else None
    if place is None or ways is None or ways < 2 or not case.laid_out or case.cluster is None:
        return
    layout, devices = case.first.layout, case.cluster.devices
    ranks = layout.world_size * ways
    part = devices == layout.world_size < case.cluster.device.per_node  # by the command alone, of a larger machine
    if ranks > devices and not (part and not case.devices_asked and ranks <= case.cluster.device.per_node):
        message = (
            f"{ways}: it multiplies the devices, {layout.world_size} × {ways} = {ranks}, and "
            f"{case.cluster.name} has {devices}"
        )
        remedy = f"write {place.written} 1, or divide the tensor parallelism by {ways}"
        yield _warning(Code.ILLEGAL_LAYOUT, place.written, message, remedy, at=place.index)


def cache_of_workers(case: Case) -> Iterator[Remark]:
    """RAM for KV cache, which each worker takes for itself; of latent attention, which all ranks have alike, the first
    alone from `_FIRST_RANK_ALONE` on."""
    if case.base != names.EXPERTS_BY_VARIABLE or not case.laid_out:
        return
    layout, cluster = case.first.layout, case.cluster
    # Of data-parallel ranks those of one machine are counted, where it is the only one.
    alone = cluster is not None and cluster.nodes == 1
    ranks = layout.tp * layout.pp * (layout.dp if alone else 1)
    case.script.budget.once("caches of workers", 5 * len(case.script.lines), "the text around its engine commands")
    own = case.variable(names.CACHE_VARIABLE).partition(".")[0]
    if not own.isdigit() and not is_in_lines(names.CACHE_OF_WORKERS, case.script.lines, _LONGEST):
        return
    sizes = [found[1] for line in case.script.lines if (found := names.CACHE_OF_WORKERS.search(line[:_LONGEST]))]
    sizes += [own] if own.isdigit() else []
    if is_latent(case):
        releases = lmcache_releases(case)
        if not releases or any(since(release, _FIRST_RANK_ALONE) for release in releases):
            return
    if ranks > 1 and sizes and (size := int(sizes[-1])) > 1:
        message = f"{size} GB for each of {ranks} workers: {ranks * size} GB of the machine's RAM"
        remedy = "compare it with what free -g shows beside the weights"
        severity, there = Severity.NOTE, max(spoken_ram(case.script.lines), default=0)
        if 0 < there < ranks * size:
            severity, message = Severity.WARNING, f"{message}, and the text speaks of {there:,.0f} GB"
            remedy = f"write {int(there / 2 / ranks)} or less, which is half of it over all ranks"
        yield make_remark(severity, Code.MEMORY_LOW, names.CACHE_OPTION, message, remedy)
