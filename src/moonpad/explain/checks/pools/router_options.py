"""Options of a router that its own program reads otherwise than they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Word
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_DISCOVERS: Final = "--service-discovery"
_SELECTORS: Final = ("--selector", "--prefill-selector", "--decode-selector")
_LABEL: Final = r"[A-Za-z0-9][\w./-]*=[\w.-]+"
_JOINED: Final = re.compile(rf"{_LABEL}(?:,[ ]?{_LABEL})+")
_POOLS: Final = "--pd-disaggregation"
_PREFILL: Final = "--prefill"
_WORKERS: Final = "--worker-urls"
_MOST: Final = 500


def joined_selector(case: Case) -> Iterator[Remark]:
    """`--selector app=a,role=b` beside `--service-discovery`: kubectl splits at commas, this router takes words."""
    for words in _others(case):
        names = [word.text.partition("=")[0] for word in words]
        if _DISCOVERS not in names:
            continue
        for flag, value, line in _values(words):
            if flag in _SELECTORS and _JOINED.fullmatch(value):
                key, _, rest = value.partition("=")
                message = f"{case.script.where(line)}: {flag} takes each label as a word of its own: here it looks for "
                message += f"pods whose {shortened(key, 40)} is «{shortened(rest, 60)}», and finds none"
                remedy = f"write {flag} {shortened(' '.join(re.split(r',[ ]?', value)), 100)}"
                remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, flag, message, remedy)
                yield Remark(remark.finding, command=None)


def pools_of_workers(case: Case) -> Iterator[Remark]:
    """`--pd-disaggregation --worker-urls …` without `--prefill`: the router ends at the start."""
    for words in _others(case):
        names = {word.text.partition("=")[0] for word in words}
        if not names >= {_POOLS, _WORKERS} or names & {_PREFILL, _DISCOVERS} or any(map(_is_open, words)):
            continue
        line = next(word.line for word in words if word.text.startswith(_WORKERS))
        message = f"{case.script.where(line)}: {_POOLS} takes its prefill servers from {_PREFILL} alone, and there is "
        message += f"none: the router ends at the start, or sends nothing to those of {_WORKERS}"
        remedy = f"name each prefill server with {_PREFILL} URL and each decode server with --decode URL"
        remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, _POOLS, message, remedy)
        yield Remark(remark.finding, command=None)
        return


def _others(case: Case) -> Iterator[Sequence[Word]]:
    """The words of each command of the text, told with its first server."""
    script = case.script
    if len(script.commands) > _MOST or not is_first_server(case.commands, script):
        return
    script.budget.work(len(script.commands), "its engine commands")
    for command in script.commands:
        yield command.argv


def _values(words: Sequence[Word]) -> Iterator[tuple[str, str, int]]:
    """Each option with its first word, and the line."""
    for at, word in enumerate(words):
        flag, sign, value = word.text.partition("=")
        if flag not in _SELECTORS:
            continue
        given = value if sign else next((each.text for each in words[at + 1 : at + 2]), "")
        yield flag, given, word.line


def _is_open(word: Word) -> bool:
    """`"$@"` and the like, which may hold more options."""
    return bool(word.unresolved) and not word.text.startswith(("-", "http"))
