"""Which of the releases that a text names it does not speak of as its own."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from moonpad.explain.documents.avoided_releases import is_faulty, is_of_other_build, is_refused, says_what_runs
from moonpad.explain.documents.former_releases import beside_another, is_about_a_change, is_marked_well, was_well
from moonpad.explain.documents.quoted_results import is_of_a_result


class VersionMention(Struct, frozen=True):
    """`exact`: a pin or an image's tag, no prose. `image`: the image with its tag, "" where it is none. `least`: it is
    the lowest, or the first that has something, and a later one may be in use."""

    line: int
    engine: str
    version: str
    exact: bool
    image: str
    least: bool


Named = tuple[bool, int, int, VersionMention]
"""Whether it is prose, its line, where it begins there, and the mention."""


def without_others(named: list[Named], lines: Sequence[str]) -> list[Named]:
    """Without releases with which all was well, where another one is named; of those in prose, also where an upgrade
    is spoken of. Without those that are avoided, where the text says what is run in their place."""
    named = _without_results(_without_avoided(named, lines), lines)

    def is_former(in_prose: bool, number: int, start: int, mention: VersionMention) -> bool:
        line = lines[number - 1]
        end = line.find(mention.version, start) + len(mention.version)
        if end <= start:
            return False
        if mention.image and is_marked_well(line, end):
            return True
        return (in_prose or bool(mention.image)) and was_well(line, start, end)

    former = [each for each in named if is_former(*each)]
    if not former:
        return named
    left = [each for each in named if each not in former]
    others = {(each.engine, each.version) for *_, each in left}
    changed = is_about_a_change(lines)

    def is_replaced(number: int, mention: VersionMention) -> bool:
        named_too = any(name == mention.engine and at != mention.version for name, at in others)
        return named_too or (not mention.image and (changed or beside_another(lines[number - 1], mention.version)))

    return [each for each in named if each not in former or not is_replaced(each[1], each[3])]


def _without_results(named: list[Named], lines: Sequence[str]) -> list[Named]:
    """Without releases of results that are quoted, where the text names another one for what it is about."""
    ends = [lines[number - 1].find(each.version, start) + len(each.version) for _, number, start, each in named]
    quoted = [
        end > start and is_of_a_result(lines[number - 1], start, end)
        for (_, number, start, _), end in zip(named, ends, strict=True)
    ]
    others = {each.engine for (*_, each), of_it in zip(named, quoted, strict=True) if not of_it and not each.least}
    return [each for each, of_it in zip(named, quoted, strict=True) if not of_it or each[3].engine not in others]


def _without_avoided(named: list[Named], lines: Sequence[str]) -> list[Named]:
    refused: list[int] = []
    faulty: list[int] = []
    for at, (_, number, start, mention) in enumerate(named):
        line = lines[number - 1]
        end = line.find(mention.version, start) + len(mention.version)
        if end <= start:
            continue
        if is_refused(line, start, end):
            refused.append(at)
        elif not mention.image and is_faulty(line, end):
            faulty.append(at)
    gone = {*faulty} if faulty and says_what_runs(lines) else set()
    left = [each[3] for at, each in enumerate(named) if at not in gone and at not in refused]
    avoided = {named[at][3].engine for at in refused}
    if refused and (any(each.engine in avoided for each in left) or is_of_other_build(lines)):
        gone.update(refused)
    return [each for at, each in enumerate(named) if at not in gone]
