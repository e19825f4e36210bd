"""Options of Dynamo's frontend that its release does not have, those of its workers among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Final

from moonpad.engines.dynamo_frontend_names import (
    OF_A_PARSER,
    OF_WORKERS,
    OWN_PARSERS_ALONE,
    PROCESSOR,
    frontend_options,
)
from moonpad.engines.dynamo_names import named_release
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Word
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_MODULE: Final = "dynamo.frontend"
_OTHER_WAY: Final = "DYN_CHAT_PROCESSOR"
_QUESTIONS: Final = frozenset({"-h", "--help", "--version"})
"""Every parser answers these, and starts nothing."""
_MOST: Final = 300


def unknown_to_frontend(case: Case) -> Iterator[Remark]:
    """It ends with «Unknown arguments specified». Told with the first server of the text."""
    script = case.script
    if len(script.commands) > _MOST or not is_first_server(case.commands, script):
        return
    script.budget.work(len(script.commands), "its engine commands")
    fronts = [words for command in script.commands if (words := _options(command.words))]
    if not fronts:
        return
    script.budget.work(len(script.lines), "its release")
    release = named_release(script.lines)
    if release is None or any(_OTHER_WAY in line for line in script.lines):
        return
    seen: set[str] = set()
    for words in fronts:
        for word, flag in _strange(words, release):
            if flag not in seen:
                seen.add(flag)
                yield _told(case, word, flag, release, _processor(words))


def _options(words: Sequence[Word]) -> Sequence[Word]:
    """Behind the module's name, up to the next command; nothing where the words may hold more programs."""
    at = next((at for at, word in enumerate(words) if word.text == _MODULE), None)
    if at is None or sum(word.text.startswith("dynamo.") for word in words) > 1:
        return ()
    return words[at + 1 :]


def _processor(words: Sequence[Word]) -> str:
    for at, word in enumerate(words):
        flag, sign, value = word.text.partition("=")
        if flag == PROCESSOR:
            return value if sign else next((each.text for each in words[at + 1 : at + 2]), "")
    return ""


def _strange(words: Sequence[Word], release: str) -> Iterator[tuple[Word, str]]:
    known, processor = frontend_options(release), _processor(words)
    of_all = frontend_options("")
    for word in words:
        flag = word.text.partition("=")[0]
        if flag in _QUESTIONS:
            return
        if not flag.startswith("--") or len(flag) < 4 or word.unresolved or not flag[2:].replace("-", "").isalnum():
            continue
        if flag in known or sum(each.startswith(flag) for each in known) == 1:
            continue
        if processor and flag in OF_A_PARSER:
            continue
        if processor not in ("", OWN_PARSERS_ALONE) and flag not in OF_WORKERS and flag not in of_all:
            continue
        yield word, flag


def _told(case: Case, word: Word, flag: str, release: str, processor: str) -> Remark:
    message = f"{case.script.where(word.line)}: the frontend of Dynamo {release} has no {shortened(flag, 60)}: it ends "
    message += "with «Unknown arguments specified»"
    if flag in OF_WORKERS and processor and OF_WORKERS[flag]:
        remedy = f"write {OF_WORKERS[flag]}, which the chat processor reads"
    elif flag in OF_WORKERS:
        remedy = f"give {flag} to the workers"
    elif flag in OF_A_PARSER:
        remedy = f"choose the processor that reads it with {PROCESSOR}, or give the workers the option of theirs"
    else:
        near = get_close_matches(flag, frontend_options(release), 1, 0.85)
        remedy = f"write {near[0]}, or leave it out" if near else "leave it out"
    code = Code.REMOVED_FLAG if flag in frontend_options("") else Code.UNKNOWN_FLAG
    remark = make_remark(Severity.WARNING, code, flag, message, remedy)
    return Remark(remark.finding, command=None)
