"""Workers of Dynamo beside others that leave them the half of each request that they do not say is theirs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Final

from moonpad.engines.dynamo_names import UNDECLARED_SINCE, named_release
from moonpad.engines.surrounding_names import MODULE_ROLES
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.dynamo.dynamo_workers import by_module
from moonpad.explain.commands import Command
from moonpad.explain.grouping import value_of
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import since

_MODE: Final = "--disaggregation-mode"
_PREFILL: Final = "prefill"
_SAYS_ROLE: Final = (_MODE, "--disaggregation-strategy", "--is-prefill-worker", "--is-decode-worker")
_SAYS_MORE: Final = ("--config", "--disagg-config", "--extra-engine-args")
_NAMES: Final = ("--served-model-name", "--model-path", "--model")
_MOST: Final = 100


def undeclared_decoder(case: Case) -> Iterator[Remark]:
    """A worker for prefill waits for one for decoding, and a worker that says nothing registers for whole requests."""
    command = case.commands[0]
    if not by_module(command) or not _is_whole(command) or _words(command, *_SAYS_ROLE, *_SAYS_MORE):
        return
    release = named_release(case.script.lines)
    if release is None or not since(release, UNDECLARED_SINCE):
        return
    model = value_of(command.argv, _NAMES)
    workers = [other for other in case.script.commands[:_MOST] if by_module(other) and other.line != command.line]
    case.script.budget.work(2 * sum(len(other.argv) for other in workers), "its workers")
    roles = [role for other in workers for role in _roles(other)]
    if roles.count(_PREFILL) != len(roles) or not roles or any(_words(other, *_SAYS_MORE) for other in workers):
        return
    of_one = [other for other in workers if _roles(other) and _module(other) == _module(command)]
    named = [value_of(other.argv, _NAMES) for other in of_one]
    if model is None or not any(name is not None and name.text == model.text for name in named):
        return
    message = (
        f"the worker of {case.script.where(of_one[0].line)} is for prefill alone and waits for one for decoding, and "
        f"this one has no {_MODE}: it registers for whole requests, and the frontend serves no model"
    )
    yield make_remark(Severity.WARNING, Code.CONFLICT, _MODE, message, f"add {_MODE} decode")


def names_of_pools(case: Case) -> Iterator[Remark]:
    """One worker for prefill and one for decoding whose models have other names: the frontend joins them by these."""
    command = case.commands[0]
    if not by_module(command) or not _is_whole(command) or _roles(command) != ["decode"]:
        return
    workers = [other for other in case.script.commands[:_MOST] if by_module(other)]
    case.script.budget.work(2 * sum(len(other.argv) for other in workers), "its workers")
    pools = [other for other in workers if _roles(other) == [_PREFILL] and _module(other) == _module(command)]
    if len(pools) != 1 or len(workers) != 2 or any(_words(other, *_SAYS_MORE[:2]) for other in workers):
        return
    own, other = value_of(command.argv, _NAMES[:1]), value_of(pools[0].argv, _NAMES[:1])
    if own is None or other is None or unresolved(own.text) or unresolved(other.text) or own.text == other.text:
        return
    message = f"{own.text} here and {other.text} in {case.script.where(pools[0].line)}, the worker for prefill: the "
    message += "frontend joins pools by the name of their model, and these are two"
    yield make_remark(Severity.WARNING, Code.CONFLICT, _NAMES[0], message, "give both the same name")


def nothing_in_front(case: Case) -> Iterator[Remark]:
    """A worker that takes its requests from a component that no command of the text starts."""
    command, (role, fronts) = case.commands[0], MODULE_ROLES
    if not by_module(command) or not _words(command, role) or not _is_whole(command):
        return
    lines = case.script.lines
    case.script.budget.work(len(lines), "its workers")
    # Where no frontend is, the other components may be started elsewhere too.
    if any(front in line for line in lines for front in fronts) or not any("dynamo.frontend" in line for line in lines):
        return
    message = f"{role} takes its requests from the components in front of it and registers no model by itself: "
    message += "the frontend has none to serve"
    remedy = f"start {fronts[0]} and the worker that encodes beside it, or leave {role} out"
    place = case.option(role)
    yield make_remark(Severity.WARNING, Code.CONFLICT, role, message, remedy, at=place.index if place else None)


def _words(command: Command, *flags: str) -> bool:
    return any(word.text.partition("=")[0] in flags for word in command.argv)


def _is_whole(command: Command) -> bool:
    return not command.unresolved and not command.more and not any(word.text.startswith("$") for word in command.argv)


def _module(command: Command) -> str:
    return next((word.text for word in command.prefix if word.text.startswith("dynamo.")), "")


def _roles(command: Command) -> list[str]:
    """What the option of the role says, "?" where that is not known."""
    words = [word.text for word in command.argv]
    behind = (value for flag, value in pairwise(words) if flag == _MODE)
    joined = (word.partition("=")[2] for word in words if word.startswith(f"{_MODE}="))
    return ["?" if unresolved(value) else value.strip("'\"") for value in chain(behind, joined)]
