"""An error that a text quotes beside its commands, and that other releases than the named one have: `known bug in
0.12.0`, in a guide that pins 0.11.2."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from moonpad.catalog.known_reports import reports_of
from moonpad.catalog.mended_faults import mended_faults
from moonpad.catalog.toml_rows import pattern_of
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.command_traits import model_names
from moonpad.explain.checks.releases.error_agreement import pairs_of, shared_pairs
from moonpad.explain.commands import Script
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import order, release_of

_QUOTED: Final = re.compile(r"`[^`\n]{12,300}`|\"[^\"\n]{12,300}\"|“[^”\n]{12,300}”")
_NAME: Final = re.compile(r"\b(?=\w{8,60}\b)(?!__)[A-Za-z]\w*(?:_\w+|[a-z][A-Z]\w*)\b", re.ASCII)
"""`indexer_rotary_emb`, `MLAModules`: a name in a source, which both have to tell."""
_FAILS: Final = re.compile(r"error|missing|unexpected|not |fail|assert|invalid|exception|no attribute", re.IGNORECASE)
_LONGEST: Final = 2000
_MOST: Final = 20


def quoted_error(case: Case) -> Iterator[Remark]:
    """A note that the release which is named does not have it. Errors of the author's own are for other checks."""
    at = release_of(case.version) or case.version
    if not at or case.script.error_lines or case.again or case.commands[0].fork or not at[:1].isdigit():
        return
    quotes = _quotes(case.script)
    if not quotes:
        return
    case.script.budget.work(60 * len(quotes), "the errors that it quotes")
    names = [name.casefold() for name in model_names(case, True)]
    for quote in quotes:
        pairs, written = pairs_of(quote), {*_NAME.findall(quote)}
        for name, since, last, fault in _faults(case.engine.name):
            if not written & name or shared_pairs(fault[0], pairs) < 2 or not _is_of(fault[1], names):
                continue
            if order(since or "0") <= order(at) and (not last[0] or order(at) < order(last[0])):
                return  # told as a fault of this release
            ends = f"from {since} on, mended in {last[0]}" if not last[1] else f"{since} to {last[1]}"
            ends = since if since == last[1] else ends
            message = (
                f"the text quotes an error of {case.engine.facts.title} {ends}: {fault[0].format(model='the model')}: "
                f"{case.version} does not have it"
            )
            remedy = f"stay with {case.version}, or take a release that does not have it"
            yield make_remark(Severity.NOTE, Code.KNOWN_REPORT, "engine", message, remedy)
            return


def _is_of(models: tuple[str, ...], names: list[str]) -> bool:
    return any(pattern_of(part).search(name) for part in models for name in names)


@lru_cache(maxsize=8)
def _faults(
    engine: str,
) -> tuple[tuple[frozenset[str], str, tuple[str, str], tuple[str, tuple[str, ...]]], ...]:
    """Of each about a model of its own that tells a name: the names, its first release, the one that mended it and the
    last that has it, and the words with the parts of models' names."""
    rows = [
        (row.since, (row.mended_in, ""), (row.fault, tuple(re.escape(part) for part in row.models)))
        for row in mended_faults(engine)
        if row.by_name
    ]
    rows += [
        (row.since, (row.until, row.last), (row.message, (row.models,)))
        for row in reports_of(engine)
        if row.models and (row.until or row.last) and {*re.findall(r"\{\w+\}", row.message)} <= {"{model}"}
    ]
    named = ((frozenset(_NAME.findall(fault[0])), since, last, fault) for since, last, fault in rows)
    return tuple(each for each in named if each[0])


def _quotes(script: Script) -> tuple[str, ...]:
    script.budget.once("errors that it quotes", len(script.lines), "the errors that it quotes")
    return _of_lines(script.lines)


@lru_cache(maxsize=2)  # each engine command of a text asks
def _of_lines(lines: tuple[str, ...]) -> tuple[str, ...]:
    fenced, found = False, list[str]()
    for line in lines:
        if line.lstrip(" >").startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and _FAILS.search(line[:_LONGEST]):
            quotes = (match[0] for match in _QUOTED.finditer(line[:_LONGEST]))
            found += [quote for quote in quotes if _FAILS.search(quote) and _NAME.search(quote)]
    return tuple(found[:_MOST])
