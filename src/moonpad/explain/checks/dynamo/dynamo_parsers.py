"""Names of parsers that the release of Dynamo's worker does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from moonpad.catalog.dynamo_parsers import DynamoParsers, dynamo_parsers, lacks
from moonpad.engines import dynamo_values as names
from moonpad.engines.dynamo_names import RELEASE, named_release
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.dynamo.dynamo_workers import by_module
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_NAME: Final = re.compile(r"[A-Za-z][\w.-]{0,40}", re.ASCII)
_ALIKE: Final = 0.6
_LONGEST: Final = 400
_THOUGHTS: Final = "--dyn-reasoning-parser"
_FRONTEND: Final = re.compile(r"\bdynamo\.frontend\b|^[ \t-]*(?:componentT|t)ype:[ \t]*[\"']?frontend\b")
_PROCESSOR: Final = re.compile(r"--dyn-chat-processor|DYN_CHAT_PROCESSOR")


def parsers_of_worker(case: Case) -> Iterator[Remark]:
    """By the release that the text names. Where it names none, a name that the newest has and that an older one calls
    otherwise is a note."""
    command = case.commands[0]
    if not by_module(command):
        return
    for at, word in enumerate(command.argv):
        flag, sign, value = word.text.partition("=")
        known = dynamo_parsers().get(flag)
        if known is None:
            continue
        if not sign:
            value = next((each.text for each in command.argv[at + 1 : at + 2]), "")
        value = value.strip("'\"")
        if unresolved(value) or not _NAME.fullmatch(value):
            continue
        yield from _told(case, known, flag, value, at)


def thoughts_of_worker(case: Case) -> Iterator[Remark]:
    """The worker hands the frontend the name of its own option alone (its main module in ai-dynamo 0.7.1, 1.0.2 and
    1.6.1; https://github.com/ai-dynamo/dynamo/issues/2596); the engine's stays with the grammar of structured
    outputs."""
    command = case.commands[0]
    words = [word.text for word in command.argv]
    module, own = names.ENGINES_OWN_THOUGHTS
    at = next((at for at, word in enumerate(words) if word.partition("=")[0] == own), None)
    if at is None or command.more or all(word.text != module for word in command.prefix):
        return
    if any(word.startswith(_THOUGHTS) for word in words) or names.MAKES_TEXT.search("".join(words)):
        return
    lines = case.script.lines
    case.script.budget.work(len(lines), "its frontend")
    if any(_PROCESSOR.search(line[:_LONGEST]) for line in lines):
        return  # the frontend's own options name the parsers then
    front = any(_FRONTEND.search(line[:_LONGEST]) for line in lines)
    flag, sign, value = words[at].partition("=")
    size = 1 if sign else 2
    value = (value if sign else "".join(words[at + 1 : at + 2])).strip("'\"")
    message = f"it does not reach Dynamo's frontend, which takes {_THOUGHTS}: thoughts come as content"
    if not front:
        message += f", unless the frontend has {names.OWN_PROCESSOR}"
    known = dynamo_parsers()[_THOUGHTS].names.get(value)
    instead = names.INSTEAD.get((_THOUGHTS, value), "NAME" if known is None else value)
    meant = value if known == "" else instead
    edits = [Edit(at + size, 0, (_THOUGHTS, value))] if known == "" and front else []
    severity = Severity.WARNING if front else Severity.NOTE
    remedy = f"add {_THOUGHTS} {meant}" + (", of Dynamo's own names" if meant == "NAME" else "")
    yield make_remark(severity, Code.CONFLICT, flag, message, remedy, at=at, edits=edits)


def _told(case: Case, known: DynamoParsers, flag: str, value: str, at: int) -> Iterator[Remark]:
    meant = names.INSTEAD.get((flag, value), "")
    first = known.names.get(value)
    if first is None:
        near = meant or next(iter(get_close_matches(value.casefold(), known.names, 1, _ALIKE)), "")
        if near:
            message = f"Dynamo's {flag} has no {shortened(value, 40)}, in no release that was read: it is refused"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, flag, message, f"write {near}", at=at)
        return
    if not first:
        return
    lines = case.script.lines
    case.script.budget.work(len(lines), "its release")
    release = named_release(lines)
    named = any(RELEASE.search(line[:_LONGEST]) for line in lines)
    if named and release is not None and lacks(first, release):
        message = f"Dynamo {release} has no {value} for {flag}, which {first} has: the worker ends as it reads it"
        remedy = f"take Dynamo {first} or later" + (f", or write {meant}" if _has(known, meant, release) else "")
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, flag, message, remedy, at=at)
    elif not named and meant:
        message = f"{value} is there in Dynamo {first}; workers of releases before end as they read it"
        yield make_remark(Severity.NOTE, Code.INVALID_VALUE, flag, message, f"write {meant} for those", at=at)


def _has(known: DynamoParsers, meant: str, release: str) -> bool:
    """Whether the release has what is meant, `kimi_k25, or kimi for models before it`."""
    name = meant.partition(",")[0]
    return name in known.names and not lacks(known.names[name], release)
