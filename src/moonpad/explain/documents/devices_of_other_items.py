"""Devices that an item of a list or a row of a table names for another model: `- K2.5 (8×H200): …` above a command for
Kimi-Linear."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from moonpad.explain.documents.device_mentions import Mention
from moonpad.explain.documents.spoken_models import lines_of_models

_ITEM: Final = re.compile(r"[ \t]*(?:[-*+•][ \t]|\d{1,2}[.)][ \t]|\|)")
_SHORT: Final = re.compile(r"(?<![\w./-])K[23](?:\.\d)?(?:-\w+)?(?![\w.])", re.ASCII)
"""`K2.6` in a table of the family."""
_GENERATION: Final = re.compile(r"kimi-k\d.*", re.IGNORECASE)
_OF_THE_FAMILY: Final = "kimi-k"
"""Its generations are of about one size: what is named for one may be meant for another."""
_LONGEST: Final = 500


def without_other_items(named: Sequence[Mention], lines: Sequence[str], model: str) -> Sequence[Mention]:
    """Without those of items that name other models alone; all of them where the command's model has no such name."""
    own = _models(model.rstrip("/").rpartition("/")[2])
    if not own or not named:
        return named
    return [each for each in named if not _is_of_others(lines[each.line - 1][:_LONGEST], own)]


def _is_of_others(line: str, own: frozenset[str]) -> bool:
    if _ITEM.match(line) is None:
        return False
    models = _models(line)
    return bool(models) and not models & own


@lru_cache(maxsize=4096)  # each command of a page asks for the same lines
def _models(text: str) -> frozenset[str]:
    models = {_GENERATION.sub(_OF_THE_FAMILY, name.casefold()) for name in lines_of_models(text)}
    return frozenset(models | ({_OF_THE_FAMILY} if _SHORT.search(text) else set()))
