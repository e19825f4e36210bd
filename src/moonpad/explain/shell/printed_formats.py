"""What `printf` makes of its format and its arguments, `printf '{"model":"%s"}' "$MODEL"`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Word
from moonpad.explain.shell.ansi_c import unescaped
from moonpad.values.records import replace

_PLACE: Final = re.compile(r"%(?:%|[sdi])|(?P<other>%)|(?P<escape>\\.)", re.S)
_MOST: Final = 40
_LONGEST: Final = 20_000


def formatted(words: Sequence[Word]) -> Word | None:
    """The text of a format and its arguments; None where it asks for more than texts and whole numbers, is not known
    itself, or is used more than once."""
    if not words or words[0].unresolved or len(words) > _MOST or sum(len(word.text) for word in words) > _LONGEST:
        return None
    form, given = words[0].text, iter(words[1:])
    parts: list[str] = []
    open_names: list[str] = []
    at = 0
    for match in _PLACE.finditer(form):
        if match["other"]:
            return None
        parts.append(form[at : match.start()])
        at = match.end()
        if match["escape"]:
            parts.append(unescaped(match["escape"]))
        elif match.group() == "%%":
            parts.append("%")
        else:
            word = next(given, Word(""))
            parts.append(word.text)
            open_names += word.unresolved
    if next(given, None) is not None:
        return None
    return replace(words[0], text="".join([*parts, form[at:]]), unresolved=tuple(dict.fromkeys(open_names)), pieces=())
