"""Engines of GGUF files against the machine that the text names: shares for fewer cards than it has, and memory that a
container may not lock."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.value_checks import number, unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.device_mentions import cluster_named, mentions
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_SHARES: Final = "--tensor-split"
_CHOOSES: Final = ("--device", "--rpc", "--main-gpu", "--split-mode")
"""With these some cards may be meant to stay free."""
_VISIBLE: Final = re.compile(r"(?:CUDA|HIP|ROCR|NVIDIA|GPU|ZE_AFFINITY)\w*(?:VISIBLE_DEVICES|ORDINAL|MASK)")
_LOCK: Final = "--mlock"
_LOAD: Final = "--load-mode"
_LOCKS: Final = re.compile(r"(?:.*[+,])?mlock(?:[+,].*)?")
_RIGHTS: Final = frozenset({"IPC_LOCK", "CAP_IPC_LOCK", "ALL", "CAP_ALL", "SYS_ADMIN", "CAP_SYS_ADMIN"})


def shares_of_cards(case: Case) -> Iterator[Remark]:
    """`--tensor-split 24,24` on a machine with three cards: the third gets nothing."""
    place, value = case.option(_SHARES), case.text(_SHARES).strip("'\"")
    if not case.engine.facts.gguf_only or place is None or unresolved(value) or case.option(*_CHOOSES) is not None:
        return
    shares = [each for each in re.split(r"[,/]+", value) if each.strip()]
    if len(shares) < 2 or not all((number(each) or 0) > 0 for each in shares) or _some_are_hidden(case):
        return
    script, line = case.script, case.commands[0].line
    script.budget.work(script.steps_to_scan, "the text around its engine commands")
    named = [each for each in mentions(script.lines, script.placed_hints) if script.says_of(each.line, line)]
    machines = {each.machine for each in named if each.machine is not None}
    cluster = cluster_named(next(iter(machines))) if len(machines) == 1 else None
    if cluster is None or cluster.nodes > 1 or cluster.devices <= len(shares) or len({each.kind for each in named}) > 1:
        return
    message = f"{len(shares)} shares, and the text speaks of {cluster.name}: cards without a share get no layers"
    remedy = f"write {cluster.devices} numbers, or leave it out: the free memory of each card is taken for its share"
    yield make_remark(Severity.WARNING, Code.SUBOPTIMAL, place.written, message, remedy, at=place.index)


def _some_are_hidden(case: Case) -> bool:
    command = case.commands[0]
    granted = command.container.devices if command.container is not None else None
    return granted is not None or any(_VISIBLE.fullmatch(name) for name in command.env)


def locked_in_container(case: Case) -> Iterator[Remark]:
    """`--mlock` in a container of Docker, which may lock a few MiB by itself."""
    container = case.commands[0].container
    if not case.engine.facts.gguf_only or container is None or container.kind != "docker run":
        return
    if is_fragment(case.commands[0]) or unresolved(" ".join(word.text for word in container.words)):
        return
    place = next((each for each in case.first.parsed.occurrences if each.written == _LOCK), None)
    load = case.option(_LOAD)
    if place is None and load is not None and _LOCKS.fullmatch(case.text(_LOAD).strip("'\"")):
        place = load
    rights = {value.upper() for value in container.values("--cap-add")}
    limits = any(value.startswith("memlock") for value in container.values("--ulimit"))
    if place is None or place.value is False or limits or rights & _RIGHTS or container.has("--privileged"):
        return
    message = (
        "the container may lock a few MiB only (ulimit -l, as Docker sets it by itself): the weights stay unlocked,"
    )
    message += " with a warning (failed to mlock)"
    remedy = "add --ulimit memlock=-1:-1 to docker run"
    yield make_remark(Severity.WARNING, Code.MISSING_FLAG, place.written, message, remedy, at=place.index)


MACHINE_CHECKS: Final = (shares_of_cards, locked_in_container)
