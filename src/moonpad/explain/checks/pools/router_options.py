"""Options of a router that its own program reads otherwise than they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Word
from moonpad.explain.documents.line_search import is_in_lines
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
_BLIND: Final = re.compile(
    r"(?P<flag>--policy|--routing-logic|routingLogic)[\"']?[ ]*[:= ,][ ]*[\"']?"
    r"(?P<policy>round_?robin|random|power_of_two)\b"
)
_AWARE: Final = re.compile(
    r"cache_aware|prefix_?aware|kv_?aware|--policy[ =]+(?:consistent_hashing|prefix_hash|manual)"
)
_TURNS: Final = re.compile(
    r"\bagents?\b|multi-?turn|\bconversations?\b|\bhistor(?:y|ies)\b|cache hit|\bturns?\b|多轮|智能体", re.IGNORECASE
)
_LONGEST: Final = 1000
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


def policy_past_caches(case: Case) -> Iterator[Remark]:
    """`--policy round_robin` and `routingLogic: roundrobin` where turns follow each other: each server has a prefix
    cache of its own."""
    script = case.script
    script.budget.once("policies of routers", len(script.lines), "the text around its engine commands")
    if not is_in_lines(_BLIND, script.lines, _LONGEST) or not is_in_lines(_TURNS, script.lines, _LONGEST):
        return
    if is_in_lines(_AWARE, script.lines, _LONGEST):
        return
    for number, line in enumerate(script.lines, 1):
        match = _BLIND.search(line[:_LONGEST])
        if match is None or line.lstrip().startswith("#"):
            continue
        message = (
            f"{script.where(number)}: by {match['policy']} each turn of a conversation goes to another server, whose "
        )
        message += "prefix cache does not have what came before: its history is computed again"
        remedy = "take a policy that knows the caches (cache_aware, prefixaware) or keeps a session on one server"
        remark = make_remark(Severity.WARNING, Code.SUBOPTIMAL, match["flag"], message, remedy)
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
