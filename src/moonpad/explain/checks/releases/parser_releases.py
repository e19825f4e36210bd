"""Parsers that a release does not have yet, and a model that thinks aloud without one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.first_parsers import first_parsers
from moonpad.catalog.options import values_of, versions
from moonpad.catalog.reasoning_parsers import ReasoningFamily, reasoning_family
from moonpad.engines import ENGINES
from moonpad.engines import foreign_names as names
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.dynamo.dynamo_workers import is_worker
from moonpad.explain.checks.models.serving_flags import of_family
from moonpad.explain.checks.models.textless import writes_no_text
from moonpad.explain.documents import text_hints
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.grouping import role_of
from moonpad.explain.model_detection import says_nothing
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import order

_PLUGIN: Final = re.compile(r"--(?:tool|reasoning)[-_]parser[-_]plugin")
_THINKING_OFF: Final = re.compile(r"enable_thinking[\"']?[ ]?[:=][ ]?[\"']?false", re.IGNORECASE)

_MEASURES: Final = re.compile(r"[ \t-]*[\"']?benchmarks?[\"']?:")
"""A key of recipes whose servers are started to be measured."""
_SERVED: Final = ("--served-model-name", "--alias")
_LONGEST: Final = 2000


def parser_release(case: Case) -> Iterator[Remark]:
    """Releases older than all that are recorded: which parsers came after them."""
    recorded = versions(case.engine.program)
    if not case.version or not recorded or order(case.version) >= order(recorded[0]) or _has_plugin(case):
        return
    line, facts = case.engine.command_line, case.engine.facts
    programs = (case.engine.program, ENGINES[case.base].program)  # a plugin has those of what it builds upon
    for flag in (line.tool_parser, line.reasoning_parser):
        tables = (first_parsers().get((program, flag)) for program in programs)
        table, place = next(filter(None, tables), None), case.option(flag)
        parser = place.value.strip("'\"") if place is not None and isinstance(place.value, str) else ""
        if (
            table is None
            or place is None
            or parser not in table.lacks
            or order(case.version) > order(table.lacks[parser])
        ):
            continue
        message = f"{facts.title} {case.version} has no parser {parser}, which came in {table.first[parser]}"
        older = table.same_as.get(parser, "")
        has = older if order(case.version) >= order(table.first.get(older, "0")) else ""
        remark = _refused(flag, case, message, table.first[parser], has, place)
        if later := _later(case, table.lacks[parser]):
            message += f"; the text names another build too, {later}, which has it"
            doubtful = replace(remark.finding, severity=Severity.WARNING, message=message)
            remark = replace(remark, finding=doubtful, edits=())
        if case.commands[0].fork:
            remark = replace(remark, finding=replace(remark.finding, severity=Severity.WARNING), edits=())
        yield remark


def _later(case: Case, lacks: str) -> str:
    """A later release that a line of the text names: which of them runs is not certain."""
    case.script.budget.work(case.script.steps_to_scan, "the text around its engine commands")
    named = (text_hints.versions_of(line[:_LONGEST])[0].get(case.engine.name, "") for line in case.script.lines)
    return next((version for version in named if version and order(version) > order(lacks)), "")


def _refused(
    flag: str, case: Case, message: str, first: str, older: str = "", place: Occurrence | None = None
) -> Remark:
    place = place or case.option(flag)
    remedy = f"write {flag} {older}, or take {first} or later" if older else f"take {first} or later"
    edits = [Edit(place.index, place.length, (flag, older))] if older and place is not None else []
    at = place.index if place else None
    return make_remark(Severity.ERROR, Code.INVALID_VALUE, flag, message, remedy, at=at, edits=edits)


def reasoning_left_in(case: Case) -> Iterator[Remark]:
    """Tool calls are taken out of the answers, and the reasoning stays in them; or an object of a cluster, which is
    meant to serve clients, has no parser at all."""
    line, serving = case.engine.command_line, case.first.serving
    flag, tool = line.reasoning_parser, line.tool_parser
    place = case.option(tool) if tool else None
    if not flag or case.option(flag) is not None or serving.reasoning_parser is not None:
        return
    if case.engine.name not in names.CHECKED or case.open_ended or case.first.node.headless or _has_plugin(case):
        return
    name = _name(case)
    if writes_no_text(case.first, name) or role_of(case.commands[0]) == "prefill":
        return
    family = reasoning_family(name) if name and not of_family(name) else None
    if family is None or (place is None and not (_answers_in_marks(case, family) or _is_deployed(case))):
        return
    if any(_THINKING_OFF.search(word.text) for word in case.commands[0].argv):
        return
    known = values_of(case.engine.program, case.version or None, _dest(flag))
    parser = next((each for each in family.parsers if each in known), "")
    if not parser:
        return
    short = shortened(name.rstrip("/").rpartition("/")[2], 40)
    message = f"{short} thinks aloud: without a parser its reasoning is part of the content"
    remedy = f"add {_switch_of(case, flag)}{flag} {parser}" + (f" beside {tool}" if place is not None else "")
    words = (*_switch_of(case, flag).split(), flag, parser)
    named = values_of(case.engine.program, case.version or None, _dest(tool)) if tool else ()
    if place is None and family.marked and tool and parser in named:
        words = (*words, tool, parser)
        message = f"{message}, and so are the marks of its format and its tool calls"
        remedy = f"{remedy} {tool} {parser}"
    if first := _first_recorded(case, flag, parser):
        remedy = f"take {case.engine.facts.title} {first} or later, which has {flag} {parser}"
    edits = [] if first else [Edit(len(case.commands[0].argv), 0, words)]
    yield make_remark(Severity.NOTE, Code.MISSING_FLAG, flag, message, remedy, edits=edits)


def _switch_of(case: Case, flag: str) -> str:
    """The switch that older releases want beside the option, with a blank; "" where it is given, or none is wanted."""
    table = first_parsers().get((case.engine.program, flag))
    if table is None or not table.beside or not case.version or order(case.version) >= order(table.alone_since):
        return ""
    return "" if any(word.text == table.beside for word in case.commands[0].argv) else f"{table.beside} "


def _first_recorded(case: Case, flag: str, parser: str) -> str:
    """The oldest release whose options are recorded, where that of the command is older and is not known to have the
    parser; "" for others."""
    recorded = versions(case.engine.program)
    if not case.version or not recorded or order(case.version) >= order(recorded[0]):
        return ""
    table = first_parsers().get((case.engine.program, flag))
    first = table.first.get(parser, "") if table is not None else ""
    return "" if first and order(case.version) >= order(first) else recorded[0]


def _dest(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


def _answers_in_marks(case: Case, family: ReasoningFamily) -> bool:
    """Whether clients get each answer of a whole command with the marks of its format, and nothing measures it."""
    command = case.commands[0]
    if not family.marked or is_fragment(command) or command.more or is_worker(command, case.script):
        return False
    case.script.budget.work(len(case.script.commands) // 8, "its engine commands")
    return not _is_measured(case) and not any("bench" in each.program for each in case.script.commands)


def _is_measured(case: Case) -> bool:
    case.script.budget.work(len(case.script.lines), "what its servers are for")
    return any(_MEASURES.match(line[:_LONGEST]) for line in case.script.lines)


def _is_deployed(case: Case) -> bool:
    """In an object of Kubernetes, by a whole command of the text that answers clients by itself, in a name for them."""
    command = case.commands[0]
    if not case.script.objects or case.option(*_SERVED) is None or _is_measured(case):
        return False
    within = any(first <= command.line <= last for first, last in case.script.objects)
    return within and not (is_fragment(command) or command.more or is_worker(command, case.script))


def _name(case: Case) -> str:
    written = case.checkpoint.name if case.checkpoint is not None else case.model_named
    if case.checkpoint is None and says_nothing(written):
        return case.first.served_name or ""
    return "" if unresolved(written) else written


def _has_plugin(case: Case) -> bool:
    """Whether a file of the person's own brings more parsers."""
    return any(_PLUGIN.match(word.text) for word in case.commands[0].argv)


PARSER_CHECKS: Final = (parser_release, reasoning_left_in)
