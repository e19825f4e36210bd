"""The name that a variable has since its engine's plugin puts a word of its own into it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_LEAST: Final = 3
"""Words behind the first: of fewer another variable may have the same."""


def with_one_word_more(name: str, declared: Iterable[str]) -> str | None:
    """The only variable that has one word more behind the first, as an engine's plugin names its own."""
    first, _, rest = name.partition("_")
    if rest.count("_") < _LEAST - 1:
        return None
    longer = re.compile(rf"{re.escape(first)}_[A-Z0-9]+_{re.escape(rest)}")
    fitting = [known for known in declared if longer.fullmatch(known)]
    return fitting[0] if len(fitting) == 1 else None
