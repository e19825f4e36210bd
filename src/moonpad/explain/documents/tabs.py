"""The tabs of a guide: each says for which device, release or way its commands are, and its neighbours say others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

_LABEL: Final = re.compile(
    r"""(?P<indent>[ \t]*)(?:
        ===[!+]?[ ]["'](?P<mkdocs>[^"']+)["'] |
        (?P<fence>:{3,})\{tab-item\}[ ]*(?P<myst>\S.*) |
        \.\.[ ]tab(?:-item)?::[ ]*(?P<sphinx>\S.*) |
        <Tab(?:Item)?\b[^>]*\b(?:title|label)=["'](?P<tag>[^"']+)["'][^>]*>
    )[ \t]*$""",
    re.VERBOSE,
)
_HEADING: Final = re.compile(r"\#{2,6}[ ]")
"""One of a single # may be a comment of a tab's code."""
_END_OF_TAG: Final = re.compile(r"[ \t]*</Tab(?:Item)?>")
_LONGEST: Final = 300
_MOST: Final = 200
"""Lines from a tab's label to its command, and to the labels of its neighbours."""


def tab_labels(lines: Sequence[str], line: int) -> tuple[str, Sequence[str]]:
    """The label of the tab that holds the line, and those of its neighbours; ("", ()) outside of tabs."""
    at, own = next(_open_above(lines, line), (0, None))
    if own is None:
        return "", ()
    others = [
        _text(match)
        for number in range(max(0, at - _MOST), min(len(lines), line + _MOST))
        if number != at
        and (match := _match(lines[number])) is not None
        and (match["indent"], match["fence"]) == (own["indent"], own["fence"])
        and not _parted(lines, min(at, number), max(at, number))
    ]
    return _text(own), others


def _open_above(lines: Sequence[str], line: int) -> Iterator[tuple[int, re.Match[str]]]:
    """From the nearest label outward."""
    for number in range(min(line, len(lines)) - 2, max(-1, line - _MOST), -1):
        match = _match(lines[number])
        if match is not None and not _ended(match, lines[number + 1 : line]):
            yield number, match
        if _HEADING.match(lines[number][:_LONGEST]) and match is None:
            return


def _ended(label: re.Match[str], between: Sequence[str]) -> bool:
    """Whether the tab is closed in these lines; without a closing line, by a line that stands no deeper."""
    if label["fence"] is not None:
        return any(text.strip() == label["fence"] for text in between)
    if label["tag"] is not None:
        return any(_END_OF_TAG.match(text) for text in between)
    own = len(label["indent"])
    return any(text.strip() and len(text) - len(text.lstrip()) <= own for text in between)


def _parted(lines: Sequence[str], first: int, last: int) -> bool:
    """Whether a heading stands between two labels."""
    return any(_HEADING.match(lines[number][:_LONGEST]) for number in range(first, last))


def _match(text: str) -> re.Match[str] | None:
    return _LABEL.match(text) if len(text) < _LONGEST else None


def _text(match: re.Match[str]) -> str:
    return next(match[name] for name in ("mkdocs", "myst", "sphinx", "tag") if match[name] is not None).strip()
