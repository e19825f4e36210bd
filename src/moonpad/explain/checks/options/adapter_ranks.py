"""Adapters of a higher rank than the server holds room for: it stops as the first of them is loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines import library_names as library
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.whole_texts import has_all_words
from moonpad.explain.commands import whole_number
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.finding import Code, Severity

_OF_CONFIG: Final = re.compile(
    r"[\"']r[\"'][ ]*:[ ]*(?P<rank>\d{1,4})[ ]*(?:[,}]|$)|\bLoraConfig\([^()]{0,200}\br[ ]*=[ ]*(?P<call>\d{1,4})"
)
_OF_TRAINING: Final = re.compile(r"(?<![\w])(?:--)?lora[-_](?:rank|r)(?:[ ]*[=:][ ]*|[ ]+)(?P<rank>\d{1,4})(?![\w.])")
_BESIDE: Final = re.compile(r"lora_alpha|peft_type|lora_dropout|target_modules")
_OF_NAME: Final = re.compile(r"(?:^|[-_/.])(?:r|rank)[-_]?(?P<rank>\d{1,3})(?=$|[-_/.\"',}])", re.IGNORECASE)
_NEAR: Final = 12
_LONGEST: Final = 1000


def rank_of_adapter(case: Case) -> Iterator[Remark]:
    """`"r": 64` in the adapter's own file, and --max-lora-rank at its default."""
    if case.base != library.BASE or case.option(library.ADAPTERS) is None or not has_all_words(case):
        return
    place = case.option(library.ADAPTER_RANK)
    most = whole_number(str(place.value)) if place is not None else library.USUAL_RANK
    if not most or any(word.startswith("$") for word in _named(case)):
        return  # what a variable adds behind a list may be options
    lines = case.script.lines
    case.script.budget.once("ranks of adapters", 2 * len(lines), "the text around its engine commands")
    rank, line = _told_rank(lines)
    by_name = rank <= most
    if by_name:
        rank = max((_rank_of(word) for word in _named(case)), default=0)
    if rank <= most or (by_name and rank not in library.ADAPTER_RANKS):
        return
    room = next((each for each in library.ADAPTER_RANKS if each >= rank), 0)
    if not room:
        return
    told = "its name says that the adapter has" if by_name else f"{case.script.where(line)} gives the adapter"
    given = f"{place.written} is {most}" if place is not None else f"without {library.ADAPTER_RANK} {most} is the most"
    message = (
        f"{told} rank {rank}, and {given}: it is refused as it is loaded (LoRA rank is greater than max_lora_rank)"
    )
    words = (library.ADAPTER_RANK, str(room))
    edit = Edit(place.index, place.length, words) if place is not None else Edit(len(case.commands[0].argv), 0, words)
    severity = Severity.NOTE if by_name else Severity.WARNING
    at = place.index if place is not None else None
    remedy = f"{'write' if place is not None else 'add'} {' '.join(words)}"
    edits = () if by_name else (edit,)
    yield make_remark(severity, Code.INVALID_VALUE, library.ADAPTER_RANK, message, remedy, at=at, edits=edits)


def _told_rank(lines: Sequence[str]) -> tuple[int, int]:
    """The highest rank that the text gives an adapter, and its line; 0 where it gives none."""
    highest = (0, 0)
    for number, line in enumerate(lines, 1):
        text = line[:_LONGEST]
        match = _OF_CONFIG.search(text) or _OF_TRAINING.search(text)
        if match is None:
            continue
        near = lines[max(0, number - 1 - _NEAR) : number + _NEAR]
        if match.re is _OF_CONFIG and not any(_BESIDE.search(each[:_LONGEST]) for each in near):
            continue
        given = match["rank"] or match["call"]
        highest = max(highest, (int(given), number))
    return highest


def _named(case: Case) -> Iterator[str]:
    """The words behind --lora-modules."""
    place = case.option(library.ADAPTER_LIST)
    if place is not None:
        words = case.commands[0].argv[place.index : place.index + place.length]
        yield from (word.text[:_LONGEST] for word in words)


def _rank_of(word: str) -> int:
    return max((int(match["rank"]) for match in _OF_NAME.finditer(word)), default=0)
