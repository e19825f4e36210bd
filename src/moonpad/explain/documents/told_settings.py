"""Variables of a script that the text around it sets: `MAMBA_RATIO=0.60` in a sentence, `EXTRA="--dcp-size 8" bash
serve.sh` in a block of its own.

What is told with one value, not as advice, and read by one script of the text alone, is what that script runs with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from moonpad.explain.documents.table_columns import give_columns

if TYPE_CHECKING:
    from moonpad.explain.documents.markdown import Block
    from moonpad.explain.shell.interpreter import ScriptState
    from moonpad.explain.shell.scope import Scope

_LONGEST: Final = 2000
"""A longer line is data, not prose."""
_MOST: Final = 200
_MOST_BLOCKS: Final = 200
_FENCE: Final = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_HEADING: Final = re.compile(r"[ ]{0,3}#{1,6}[ \t]")
"""A title names what its section is about, `(TP=8, MTP=3)`, and sets nothing."""
_VALUE: Final = r"(?:\"[^\"`$<>\n]{0,400}\"|'[^'`$<>\n]{0,400}'|[^\s`\"'$<>|;&(){}\[\],，。；：、]+)"
_SET: Final = re.compile(rf"(?<![\w$./{{-])([A-Z][A-Z0-9_]{{2,40}})=({_VALUE})(?![\w$<{{(])")
_RUN: Final = re.compile(
    rf"[ \t]*(?:\$ )?(?:export[ ])?(?:[A-Z][A-Z0-9_]{{1,40}}={_VALUE}[ \t]+)+"
    r"(?:(?:bash|sh|source|\.)[ ]+)?\S*\.sh(?:[ \t].*)?"
)
"""A command that runs a script with variables."""
_RUN_ALONE: Final = re.compile(r"[ \t]*(?:\$ )?(?:(?:bash|sh|source|\.)[ ]+)?(?!-)\S*\.sh(?:[ \t].*)?")
ADVISES: Final = re.compile(
    r"\b(?:if|when(?:ever)?|unless|try|default\w*|e\.g\.|example|such as|optional\w*|overrid\w*|overwrit\w*|can|may"
    r"|might|should|must|instead|either|or|vs\.?|versus|recommend\w*|prefer\w*|adjust|change[sd]?|avoid|remove|unset|without"
    r"|not|never|needs?|requires?|then"
    r"|to (?:enable|use|run|get|select|choose|turn|disable|switch|make|force|avoid|reduce))\b"
    r"|(?:^|[.:;!?] |\*\*|- )[ ]?(?:Set|Use|Add|Export|Pass|Put)\b"
    r"|如果|若|默认|可选|例如|比如|可以|应该|建议|覆盖|改成|改为|或者|或|不要|需要|设置|设为|对比|相比|当",
    re.IGNORECASE,
)
"""Words of a line that tells what may be set, and not what was."""
_ANY: Final = re.compile(r"\.\.\.|…|^[A-Z]$|^(?:value|xxx*|true\|false)$", re.IGNORECASE)


_USED: Final = re.compile(r"\$\{?([A-Z][A-Z0-9_]{1,40})")
_ASSIGNED: Final = re.compile(
    r"(?:^|[;&|(]|\bthen|\bexport|\blocal|\bdo)[ \t\0]*([A-Z][A-Z0-9_]{1,40})\+?=(?![\"']?\$\{\1:?[-?])", re.MULTILINE
)
"""`NAME=value`; not `NAME=${NAME:-value}`, which gives a value for where it lacks."""
_OF_LOOP: Final = re.compile(r"\b(?:for|read)[ ]+(?:-r[ ]+)?([A-Z][A-Z0-9_]{1,40})\b")
_CELLS: Final = re.compile(
    r"[ \t]*\|[ \t*]*`?(?P<name>[A-Z][A-Z0-9_]{1,40})`?[ \t*]*\|[ \t*]*`?(?P<value>[^\s`|$<>*]{1,100})`?[ \t*]*\|.*"
)
"""`| OFFLOADING | cpu |`."""
_OF_VALUES: Final = re.compile(
    r"[ \t]*\|[^|]{0,60}\|[ \t*]*(?:value|set to|setting|used|this run|值|取值|本次)[ \t*]*\|(?!.*default).*",
    re.IGNORECASE,
)
"""The head of such a table."""
_RULE: Final = re.compile(r"[ \t]*\|[ \t:|-]+")


class Told(Struct, frozen=True):
    """One variable that is set outside of the scripts: its place in the text, whether that is told as what ran, and
    whether a command that runs a script says so."""

    name: str
    value: str
    start: int
    end: int
    line: int
    sure: bool
    in_run: bool


class _Texts(Struct, frozen=True):
    told: tuple[Told, ...]
    readers: Mapping[str, int]
    """Of each variable how many texts between fences take it from outside."""
    runs_alone: bool
    """A script is also run with no variable."""


def give_told(scope: Scope, part: Block, state: ScriptState) -> None:
    """Puts what the text sets for this script into its shell, where nothing in its blocks has set it: in words, else by
    the column of a table."""
    _give_said(scope, part.text, state)
    give_columns(scope, part.text, part, state)


def _give_said(scope: Scope, block: str, state: ScriptState) -> None:
    if "$" not in block:
        return
    texts = _texts(state.text.clean)
    state.budget.work(len(texts.told) + len(block) // 100, "what its sentences set")
    taken = _taken(block) if texts.told else frozenset()
    for name in dict.fromkeys(each.name for each in texts.told if each.name in taken):
        if name not in scope.variables and name not in scope.exports and (told := _surely(name, texts)):
            scope.set(name, state.text.word(told.value, told.start, told.end))
            scope.given |= {name}


def told_beside(text: str, block: str) -> Iterator[Told]:
    """What the text sets of the variables that a script reads, not as advice, and of which it is not sure that it is
    meant."""
    texts = _texts(text) if "$" in block else _NONE
    taken = _taken(block) if texts.told else frozenset()
    for name in dict.fromkeys(each.name for each in texts.told if each.name in taken):
        if not _surely(name, texts):
            yield from (each for each in texts.told if each.name == name and each.sure)


def _surely(name: str, texts: _Texts) -> Told | None:
    told = [each for each in texts.told if each.name == name]
    if not told or texts.readers[name] != 1 or len({each.value for each in told}) > 1:
        return None
    with_others = texts.runs_alone and any(each.in_run for each in told)
    return told[0] if all(each.sure for each in told) and not with_others else None


@lru_cache(maxsize=512)
def _taken(block: str) -> frozenset[str]:
    """The variables that a script takes from where it is started: it sets none but a value for where they lack."""
    return frozenset({*_USED.findall(block)} - {*_ASSIGNED.findall(block)} - {*_OF_LOOP.findall(block)})


@lru_cache(maxsize=2)  # each block of a text asks
def _texts(text: str) -> _Texts:
    told: list[Told] = []
    blocks: list[str] = []
    begun: list[tuple[int, int, str]] | None = None
    start, fence, alone, above, of_values = 0, "", False, "", False
    for number, line in enumerate(text.split("\n"), 1):
        mark = _FENCE.match(line)
        if mark is not None and (begun is None or mark[1].startswith(fence)):
            if begun is None:
                begun, fence = [], mark[1]
            else:
                blocks.append("\n".join(each for _, _, each in begun))
                runs = [
                    each for each in begun if each[2].strip(" \t\0") and not each[2].lstrip(" \t\0").startswith("#")
                ]
                if runs and all(_RUN.fullmatch(each[2]) or _RUN_ALONE.fullmatch(each[2]) for each in runs):
                    alone |= any(not _RUN.fullmatch(each[2]) for each in runs)
                    told += (each for at, row, run in runs for each in _in_line(run, at, row, sure=True, in_run=True))
                begun = None
        elif begun is not None:
            begun.append((start, number, line))
        elif "=" in line and len(told) < _MOST and not _HEADING.match(line):
            told += _in_line(line, start, number, sure=ADVISES.search(line[:_LONGEST]) is None, in_run=False)
        if begun is None and "|" in line:
            of_values = _OF_VALUES.fullmatch(above[:_LONGEST]) is not None if _RULE.fullmatch(line) else of_values
            if of_values and len(told) < _MOST and (cells := _CELLS.fullmatch(line[:_LONGEST])) is not None:
                place = start + cells.start("name"), start + cells.end("value")
                told.append(Told(cells["name"], cells["value"], *place, number, True, False))
        else:
            of_values = False
        above = line
        start += len(line) + 1
    told, blocks = told[:_MOST], blocks[:_MOST_BLOCKS]
    taken = [_taken(block) for block in blocks] if told else []
    readers = {name: sum(name in names for names in taken) for name in {each.name for each in told}}
    return _Texts(tuple(told), readers, alone)


def _in_line(line: str, start: int, number: int, *, sure: bool, in_run: bool) -> Iterator[Told]:
    for match in _SET.finditer(line[:_LONGEST]):
        value = match[2].rstrip(".:") if match[2][0] not in "\"'" else match[2][1:-1]
        if value and not _ANY.search(value):
            yield Told(match[1], value, start + match.start(), start + match.end(), number, sure, in_run)


_NONE: Final = _Texts((), {}, False)
