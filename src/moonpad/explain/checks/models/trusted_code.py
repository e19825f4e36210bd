"""What tells that the code of a repository has to be trusted, where no release is named: a sentence of the text, its
log, or options that only releases take which do not start without."""

from __future__ import annotations

import re
from typing import Final

from moonpad.catalog.options import option_set, versions
from moonpad.explain.checks.check_case import Case
from moonpad.values.versions import is_final, since

_TRUST: Final = r"[`'\"*(-]{0,4}trust[-_]remote[-_]code(?:[ =]True)?[`'\"*)]{0,3}"
_SAID: Final = re.compile(
    r"(?:\b(?:needs?|requires?|must (?:be|have|pass|add|set|use|give|include)|have to|has to|don['’]t forget"
    r"|remember)\b"
    rf"|必须|需要|要加|记得)[^.;。\n`]{{0,25}}{_TRUST}"
    rf"|{_TRUST}[ ]?(?:flag |option )?(?:\b(?:is|are|was|must be|has to be)[ ](?:\w+[ ])?"
    r"(?:needed|required|necessary|mandatory|missing)\b|是?(?:必须|必需|必要))"
    rf"|\b(?:without|unless)[ ](?:the[ ]|you[ ](?:pass|set)[ ])?{_TRUST}[^.;\n]{{0,60}}"
    r"\b(?:fail\w*|stops?|ends?|errors?|refuses?|crash\w*|do(?:es)? not|doesn['’]t|won['’]t|cannot|can['’]t"
    r"|will not)\b",
    re.IGNORECASE,
)
_NOT_NEEDED: Final = re.compile(
    r"\b(?:not|no longer|never|isn['’]t|don['’]t|doesn['’]t|without)[ ](?:\w+[ ])?(?:need|requir|necess|have to)"
    r"|不(?:再)?需|无需|不必",
    re.IGNORECASE,
)
_OTHER_FAMILIES: Final = re.compile(
    r"qwen|deepseek|llama|\bglm|minimax|mistral|nemotron|\bphi-?\d|internlm|internvl|baichuan|gemma", re.IGNORECASE
)
_LOGGED: Final = re.compile(r"contains custom code which must be executed|pass the argument `trust_remote_code=True`")
_LONGEST: Final = 400
_MOST_LINES: Final = 2000
_MOST_OPTIONS: Final = 60


def said_to_need(case: Case) -> str:
    """`line 3 says that it is needed`, of a sentence of the text that is of no other model; "" without one."""
    case.script.budget.once("said of its code", len(case.script.lines), "the code of its model")
    for number, whole in enumerate(case.script.lines[:_MOST_LINES], 1):
        line = whole[:_LONGEST]
        if "rust" not in line or not case.script.says_of(number, case.commands[0].line):
            continue
        if _SAID.search(line) and not _NOT_NEEDED.search(line) and not _OTHER_FAMILIES.search(line):
            return f"{case.script.where(number)} says that it is needed"
    return ""


def log_asks(case: Case) -> bool:
    """Whether an error in the text asks for it: that is told with the error."""
    return any(_LOGGED.search(case.script.lines[each.number - 1][:_LONGEST]) for each in case.script.error_lines)


def needed_by_options(case: Case, first: str) -> str:
    """Why the releases that take all of the command's options, but for the newest of all, end without it: they are from
    before `first`, which knows the model by itself. "" where others take them too."""
    program, served = case.engine.program, _first_to_serve(case)
    flags = dict.fromkeys(
        each.flag for each in case.first.parsed.occurrences if each.flag is not None and not each.problem
    )
    written = [each.written for each in case.first.parsed.occurrences if each.flag in flags][:_MOST_OPTIONS]
    known = [each for each in versions(program) if is_final(each) and (not served or since(each, served))]
    if not first or not known or case.engine.command_line.build is not None:
        return ""
    newest = known[-1]
    case.script.budget.work(len(written), "its options by release")
    barred = [flag for flag in written if not _takes(program, first, flag)]
    refusing = next((flag for flag in barred if _takes(program, newest, flag)), "")
    older = [each for each in known[:-1] if refusing and _takes(program, each, refusing)]
    if not older or any(since(each, first) for each in older):
        return ""
    return f"{case.engine.facts.title} up to {older[-1]}, which takes {refusing}, ends without it"


def _takes(program: str, release: str, flag: str) -> bool:
    options = option_set(program, release)
    return options is not None and options.named(flag) is not None


def _first_to_serve(case: Case) -> str:
    model_type = case.checkpoint.architecture.model_type if case.checkpoint else ""
    return case.engine.facts.first_versions.get(model_type, "")
