"""What a remedy asks for, where it says that exactly: an option left out or put in, a value, a variable, a key of JSON.

`leave --enable-eplb out, or take a later release` is one step. What a person has to choose (`leave one of the two
out`), look up (`add --data-parallel-start-rank with the number of …`) or know (`write fa3 on Hopper`) is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, Literal

from msgspec import Struct

Kind = Literal["leave", "write", "variable", "unset", "key"]


class Step(Struct, frozen=True):
    """`leave` and `unset` take `name` out, `write` and `key` give it the value. No name: what the finding stands at.

    `at_most` and `at_least`: `value` is a bound, and a value within it stays. `of`: the option whose JSON a key is of,
    where it is not what the finding stands at.
    """

    kind: Kind
    name: str = ""
    value: str | None = None
    bound: Literal["", "least", "most"] = ""
    of: str = ""


_QUOTED: Final = r"'(?:[^'])*'"
_EXPLAINED: Final = re.compile(rf"({_QUOTED})|(?<![\"'])[;:][ ]")
_APART: Final = re.compile(rf"({_QUOTED})|,[ ]or[ ]|,[ ](?!and\b|else\b)")
_JOINED: Final = re.compile(rf"({_QUOTED})|[ ]and[ ]")
_VERB: Final = re.compile(
    r"(?:leave|write|add|set|unset|export|take|use|give|lower|raise|put|serve|draft|install|update|start|compare|try|name"
    r"|switch|run|pin|build|train|look|let|keep|merge|make|stop|count|upgrade|download|replace|convert|ask|send|pip"
    r"|halve|another|an?\b|tensor parallel|pipeline parallel|--?[a-z])"
)
"""How an alternative begins that stands by itself."""
_RELATIVE: Final = re.compile(r"(?:which|whose|another for each|the|as|until then|since|so)\b")
"""How a clause begins that adds something to what is asked for."""
_HELD: Final = re.compile(r"\b(?:where|if|unless|when)\b")
_LEAVE: Final = re.compile(r"leave (?P<things>\S+(?: -?\w+)?(?: and \S+)*) out(?: of the command)?")
_UNSET: Final = re.compile(r"unset (?P<name>it|the variable|[A-Z][A-Z0-9_]+)")
_SET: Final = re.compile(r"(?:set|export|with)? ?(?P<name>[A-Z][A-Z0-9_]{3,})=(?P<value>[\w.,:/-]+)")
_KEY: Final = re.compile(
    r"(?:write|add|set) \"(?P<name>\w+)\": (?P<value>-?\d+|true|false|\"[\w.-]+\")"
    r"(?: beside it| to it| there| in (?P<of>--[a-z][a-z-]*))?"
)
_OPTIONS: Final = re.compile(r"(?:write|add|give|take|set) (?P<options>--?[a-z].*)")
_OPTION: Final = re.compile(
    rf"(?P<name>--?[a-z][\w.-]*)(?:[ ](?P<value>{_QUOTED}|-?[\w./:*+][\w./:*+-]*))?"
    r"(?P<bound>[ ]or (?:more|less|fewer|below|lower))?(?=[ ]|$)[ ]?"
)
_VALUE: Final = re.compile(
    r"write (?P<value>-?\d[\d.]*|[a-z0-9]+(?:_[a-z0-9]+)+|[A-Z0-9_]{4,})(?P<bound> or (?:more|less|fewer))?"
)
_ON: Final = re.compile(r" on (Hopper|Blackwell|Ampere|Ada|gfx\w+|MI\d\w*)(?=$|,(?! else))")
DRAFT: Final = "the draft"
_WHOLE_EXPERTS: Final = re.compile(r"keep the experts whole(?::| by) (--[a-z][a-z-]*(?: \d{1,3})?)(?=$|,)")
_DRAFTS: Final = frozenset({"leave the draft out", "leave the drafts out"})
_IT: Final = frozenset({"it", "the variable"})
_LONGEST: Final = 400


@lru_cache(maxsize=4096)
def steps_of(remedy: str, *, any_alternative: bool, devices: frozenset[str] = frozenset()) -> tuple[Step, ...]:
    """The steps of the first alternative, or of the first that has any. () where one of them is cut short (`add
    --deepep-mode normal, or low_latency on a decode server`): it says when the other one holds. What holds `on` one of
    these devices holds."""
    said = next(iter(_parts(_WHOLE_EXPERTS.sub(r"add \1", remedy[:_LONGEST].rstrip(".")), _EXPLAINED)))
    said = _ON.sub(lambda match: "" if match[1] in devices else match[0], said)
    clauses = [_small(clause) for clause in _parts(said, _APART)]
    alternatives = [clause for clause in clauses if not _RELATIVE.match(clause)]
    if any(_HELD.search(clause) for clause in clauses if clause not in alternatives):
        return ()
    if any(not _VERB.match(clause) and not _SET.fullmatch(clause) for clause in alternatives):
        return ()
    for clause in alternatives:
        if steps := _steps(clause):
            return steps
        if not any_alternative:
            break
    return ()


def _small(clause: str) -> str:
    return clause if clause[1:2].isupper() else f"{clause[:1].lower()}{clause[1:]}"


def _steps(clause: str) -> tuple[Step, ...]:
    """All that a clause asks for; () where a part of it is not exact."""
    if whole := _left_out(clause):
        return whole
    found: list[Step] = []
    for part in _parts(clause, _JOINED):
        steps = (*_left_out(part), *_one(part if _VERB.match(part) or _SET.fullmatch(part) else f"write {part}"))
        if not steps:
            return ()
        found += steps
    return tuple(found)


def _left_out(part: str) -> tuple[Step, ...]:
    if part in _DRAFTS:
        return (Step("leave", DRAFT),)
    match = _LEAVE.fullmatch(part)
    if match is None:
        return ()
    if match["things"] in _IT:
        return (Step("leave"),)
    steps = []
    for thing in match["things"].split(" and "):
        name, _, value = thing.partition(" ")
        if not re.fullmatch(r"--?[a-z][\w.-]*|[A-Z][A-Z0-9_]+|[a-z]+(?:_[a-z0-9]+)+", name):
            return ()
        if value and not name.startswith("-"):
            return ()
        steps.append(Step("unset" if name[0].isupper() else "leave", name, value or None))
    return tuple(steps)


def _one(part: str) -> tuple[Step, ...]:
    if match := _UNSET.fullmatch(part):
        return (Step("unset", "" if match["name"] in _IT else match["name"]),)
    if match := _SET.fullmatch(part):
        return (Step("variable", match["name"], match["value"]),)
    if match := _KEY.fullmatch(part):
        return (Step("key", match["name"], match["value"], of=match["of"] or ""),)
    if match := _VALUE.fullmatch(part):
        return (Step("write", "", match["value"], _bound(match["bound"])),)
    return tuple(_options(match["options"])) if (match := _OPTIONS.fullmatch(part)) else ()


def _options(text: str) -> Iterator[Step]:
    at, found = 0, []
    while at < len(text):
        match = _OPTION.match(text, at)
        if match is None:
            return
        value = match["value"]
        found.append(Step("write", match["name"], value.strip("'") if value else None, _bound(match["bound"])))
        at = match.end()
    yield from found


def _bound(words: str | None) -> Literal["", "least", "most"]:
    if not words:
        return ""
    return "least" if words.endswith("more") else "most"


def _parts(text: str, separator: re.Pattern[str]) -> list[str]:
    """The text between separators, none of which stands within quotes."""
    parts, begin = [], 0
    for match in separator.finditer(text):
        if match[1] is None:
            parts.append(text[begin : match.start()].strip())
            begin = match.end()
    return [*parts, text[begin:].strip()]
