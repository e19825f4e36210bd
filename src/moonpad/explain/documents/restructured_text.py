"""The blocks of a document in reStructuredText that are commands or files."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from moonpad.explain.documents.markdown import Block, is_other_language
from moonpad.explain.shell.terminal_session import without_session

_DIRECTIVE: Final = re.compile(
    r"^([ ]*)\.\. (?:code-block|code|sourcecode|parsed-literal)::[ ]*([\w-]*)[ ]*$", re.MULTILINE
)
_UNDERLINE: Final = re.compile(r"^(?P<title>[^\s.].{1,200})\n(?P<line>[=\-~^\"'#*+])(?P=line){2,}[ ]*$", re.MULTILINE)
_FIRST_LINES: Final = 8
"""Where options of a directive may stand."""
_OPTION: Final = re.compile(r"[ ]*:[\w-]+:.*")


def is_restructured_text(text: str) -> bool:
    return bool(_DIRECTIVE.search(text)) and not text.startswith("#!")


def blocks_of(text: str, start: int = 0) -> Iterator[Block]:
    """In the order of the document, which begins at the offset `start` of the whole text."""
    headings = [(match.start(), match["title"].strip()) for match in _UNDERLINE.finditer(text)]
    for directive in _DIRECTIVE.finditer(text):
        indent, language = len(directive[1]), directive[2].lower()
        begin = position = min(directive.end() + 1, len(text))
        taken: list[str] = []
        while position < len(text):
            behind = text.find("\n", position)
            line = text[position : behind if behind >= 0 else len(text)]
            if line.strip() and len(line) - len(line.lstrip(" ")) <= indent:
                break
            is_option = len(taken) < _FIRST_LINES and not any(row.strip() for row in taken) and _OPTION.fullmatch(line)
            taken.append(" " * len(line) if is_option else line)
            position += len(line) + 1
        above = bisect_left(headings, (directive.start(), ""))
        heading = headings[above - 1][1] if above else None
        other = is_other_language(language)
        lines = taken if other else without_session(taken, language)
        yield Block(begin, "\n".join(lines), heading, None, indent, other=other)
