"""Rows of a table, or items of a list, that compare devices: of those that one of them recommends, or says to be the
own, the others are none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from moonpad.explain.documents.device_mentions import Mention, cluster_named

_LONGEST: Final = 2000
_ROW: Final = re.compile(r"[ \t>]*(?:\||[-*+•][ ]|\d{1,2}[.)][ ])")
_MEANT: Final = re.compile(
    r"\b(?:recommended|preferred|used[ ]here|this[ ](?:guide|setup|run|test|script)|our[ ](?:setup|choice|machine))\b"
    r"|推荐|本次(?:使用|部署|测试)?|本文|本机|当前使用|采用",
    re.IGNORECASE,
)
_NOT: Final = re.compile(
    r"\b(?:not|never|isn['’]t)[ ](?:\w+[ ])?recommended|不(?:太|再)?推荐|最低推荐|推荐最低", re.IGNORECASE
)


def as_recommended(named: Sequence[Mention], lines: tuple[str, ...], line: int, devices: int) -> Sequence[Mention]:
    """Without those of other rows of such a block, and of their kinds what has no number; all where the command stands
    in the block, where several kinds are recommended, or only another row has so many `devices` as the command."""
    blocks = _blocks(lines)
    for block in sorted({blocks[each.line] for each in named if each.line in blocks}):
        inside = [each for each in named if blocks.get(each.line) == block]
        meant = [each for each in inside if is_recommended(lines[each.line - 1])]
        rest = [each for each in inside if each not in meant]
        own = {each.kind for each in meant}
        if len(own) != 1 or not rest or blocks.get(line) == block:
            continue
        if not any(_has(each, devices) for each in meant) and any(
            each.machine and _has(each, devices) for each in rest
        ):
            continue
        others = {each.kind for each in rest} - own
        named = [each for each in named if each not in rest and (each.machine is not None or each.kind not in others)]
    return named


def is_recommended(text: str) -> bool:
    return _MEANT.search(text[:_LONGEST]) is not None and _NOT.search(text[:_LONGEST]) is None


def _has(each: Mention, devices: int) -> bool:
    """Whether so many of them are counted there, or none."""
    machine = cluster_named(each.machine) if each.machine is not None else None
    return machine is None or machine.devices == devices


@lru_cache(maxsize=2)
def _blocks(lines: tuple[str, ...]) -> Mapping[int, int]:
    """A line of several rows → the first of them."""
    found: dict[int, int] = {}
    for number, text in enumerate(lines, 1):
        if _ROW.match(text[:_LONGEST]):
            found[number] = found.get(number - 1, number)
    return found
