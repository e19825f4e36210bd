"""Who reaches a server, which process takes an option, and what a step has room for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines.value_checks import as_json, unresolved, whole
from moonpad.explain.check_case import Case
from moonpad.explain.commands import Command
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.finding import Code, Severity

_warning = partial(make_remark, Severity.WARNING)
_LONGEST: Final = 2000
_DRAFT: Final = "--speculative-config"


def host_unreachable(case: Case) -> Iterator[Remark]:
    """A server that listens on its own machine alone, where others ask it."""
    command, reading = case.commands[0], case.first
    if case.base != names.EXPERTS_BY_OPTION or case.option("--host") is not None or reading.serving.host is not None:
        return
    if case.unknown or command.embedded or reading.left_to_engine or _is_worker(case):
        return
    container, address = command.container, "127.0.0.1"
    published = container.value("--publish") if container is not None and container.kind == "docker run" else None
    where = "--host"
    if published and container is not None and container.value("--network") != "host":
        message = f"without it the server listens on {address} in the container: the published port leads nowhere"
    elif case.option("--disaggregation-mode") is not None and (reading.node.nodes or 1) > 1:
        message = f"without it the server listens on {address}: a router on another machine does not reach it"
    else:
        return
    edits = [Edit(len(command.argv), 0, ("--host", "0.0.0.0"))]  # noqa: S104 - written, not bound
    yield _warning(Code.MISSING_FLAG, where, message, "add --host 0.0.0.0 or the machine's address", edits=edits)


def no_such_module(case: Case) -> Iterator[Remark]:
    """A module that the text starts beside the servers and that is in no release."""
    if case.engine.name != names.EXPERTS_BY_OPTION:
        return
    case.script.budget.work(len(case.script.lines), "the text around its engine commands")
    lines = [line[:_LONGEST] for line in case.script.lines]
    if any(case.engine.program == command.program and command.line for command in _before(case)):
        return  # said of the first
    for module, right in names.NO_MODULES.items():
        number = next((at for at, line in enumerate(lines, 1) if f"{module} " in f"{line} "), None)
        if number is not None:
            message = f"{case.script.where(number)}: {case.engine.facts.title} has no module of that name"
            yield make_remark(Severity.WARNING, Code.REMOVED_FLAG, module, message, f"start python -m {right}")


def _before(case: Case) -> Iterator[Command]:
    own = case.commands[0]
    for command in case.script.commands:
        if 0 < command.line < own.line:
            yield command


def worker_flags(case: Case) -> Iterator[Remark]:
    """Options of the web server, given to a process that has none."""
    if case.base != names.EXPERTS_BY_VARIABLE or not _is_worker(case):
        return
    for number, reading in enumerate(case.readings):
        for flag, right in names.NOT_OF_WORKERS.items():
            place = reading.parsed.occurrence(flag)
            if place is None:
                continue
            message = f"{names.WORKERS_TITLE}'s worker has no web server and refuses it: its frontend parses tool calls"
            words = (right, place.value) if right and isinstance(place.value, str) else ()
            remedy = f"write {right} in its place" if right else "leave it out"
            edits = [Edit(place.index, place.length, words)]
            remark = _warning(Code.CONFLICT, place.written, message, remedy, at=place.index, edits=edits)
            yield replace(remark, command=number)


def _is_worker(case: Case) -> bool:
    words = [word.text for word in case.commands[0].prefix]
    if any(names.WORKERS.search(word) for word in words):
        return True
    case.script.budget.work(2 * len(case.script.lines), "the text around its engine commands")
    lines = [line[:_LONGEST] for line in case.script.lines]
    return any(map(names.WORKERS_RECIPE.match, lines)) and not any(map(names.SPEAKING.search, lines))


def step_budget(case: Case) -> Iterator[Remark]:
    """Tokens of one step against those that all sequences propose."""
    place, batched = case.option(_DRAFT), case.option("--max-num-batched-tokens")
    sequences = case.option("--max-num-seqs")
    if case.base != names.EXPERTS_BY_VARIABLE or place is None or batched is None or sequences is None:
        return
    config = as_json(place.value.strip("'")) if isinstance(place.value, str) else place.value
    tokens = config.get("num_speculative_tokens") if isinstance(config, dict) else None
    at_once, room = _whole(sequences.value), _whole(batched.value)
    if not isinstance(config, dict) or not isinstance(tokens, int) or at_once is None or room is None or tokens < 1:
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
    return None if not isinstance(value, str) or unresolved(value) else whole(value.strip("'\""))


def prefill_context(case: Case) -> Iterator[Remark]:
    """Prefill context parallelism has ranks of its own, unlike decode context parallelism."""
    place = case.option(names.PREFILL_PARALLEL)
    ways = _whole(place.value) if place is not None else None
    if place is None or ways is None or ways < 2 or not case.laid_out or case.cluster is None:
        return
    layout, devices = case.first.layout, case.cluster.devices
    ranks = layout.world_size * ways
    if ranks > devices:
        message = (
            f"{ways}: it multiplies the devices, {layout.world_size} × {ways} = {ranks}, and "
            f"{case.cluster.name} has {devices}"
        )
        remedy = f"write {place.written} 1, or divide the tensor parallelism by {ways}"
        yield _warning(Code.ILLEGAL_LAYOUT, place.written, message, remedy, at=place.index)


def cache_of_workers(case: Case) -> Iterator[Remark]:
    """RAM for KV cache, which each worker takes for itself."""
    if case.base != names.EXPERTS_BY_VARIABLE or not case.laid_out:
        return
    ranks = case.first.layout.tp * case.first.layout.pp
    case.script.budget.work(len(case.script.lines), "the text around its engine commands")
    sizes = [found[1] for line in case.script.lines if (found := names.CACHE_OF_WORKERS.search(line[:_LONGEST]))]
    if ranks > 1 and sizes and (size := int(sizes[-1])) > 1:
        message = f"{size} GB for each of {ranks} workers: {ranks * size} GB of the machine's RAM"
        remedy = "compare it with what free -g shows beside the weights"
        yield make_remark(Severity.NOTE, Code.MEMORY_LOW, names.CACHE_OPTION, message, remedy)
