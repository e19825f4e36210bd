"""What the program's own reader makes of one flag, in few words for tables."""

from __future__ import annotations

from dataclasses import dataclass

from moonpad.catalog.options import OptionSet, option_set
from moonpad.engines.option_grammar import Grammar


def options(program: str, version: str | None = None) -> OptionSet:
    recorded = option_set(program, version)
    assert recorded is not None
    return recorded


@dataclass(frozen=True)
class Resolved:
    """`name` is the full spelling where the word is a beginning, else the option's first long one."""

    how: str
    name: str = ""
    negated: bool = False
    candidates: tuple[str, ...] = ()


def resolve(options: OptionSet, flag: str) -> Resolved:
    match = Grammar(options).find(flag)
    if match is None or match.problem == "unknown":
        return Resolved("unknown")
    if match.flag is None:
        return Resolved("ambiguous", candidates=match.matches)
    if match.problem == "prefix":
        return Resolved("prefix", match.matches[0])
    glued = match.attached is not None and "=" not in flag
    written = flag.partition("=")[0]
    how = "dotted" if match.path else "attached" if glued else "exact"
    if how == "exact" and options.named(written) is None:
        how = "rewritten" if written in options.rewritten else "underscores"
    return Resolved(how, match.flag, match.negated)
