"""Options of Dynamo's workers that a later release has no more."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.engines.dynamo_names import GONE_OPTIONS, named_release
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.dynamo.dynamo_workers import by_module
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import since


def gone_options(case: Case) -> Iterator[Remark]:
    """Of the release that the text names, else of the newest that was read. With several, none is told."""
    command = case.commands[0]
    module = next((word.text.split(".")[1] for word in command.prefix if word.text.startswith("dynamo.")), "")
    if not by_module(command) or module not in GONE_OPTIONS:
        return
    gone = GONE_OPTIONS[module]
    places = [(at, flag) for at, word in enumerate(command.argv) if (flag := word.text.partition("=")[0]) in gone]
    if not places:
        return
    lines = case.script.lines
    case.script.budget.work(len(lines), "its release")
    release = named_release(lines)
    if release is None:
        return
    for at, flag in places:
        version, instead = gone[flag]
        if not since(release, version):
            continue
        message = f"Dynamo {release} has no {flag} any more (gone with {version}): the worker ends as it reads it"
        remedy = f"write {instead}" if instead else "leave it out"
        yield make_remark(Severity.WARNING, Code.REMOVED_FLAG, flag, message, remedy, at=at)
