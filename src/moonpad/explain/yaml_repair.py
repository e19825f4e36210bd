"""YAML that is not: templates before they are rendered, marks of a merge, tabs. What can be read of it is read.

Every repair keeps the length of the text, so that places hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from yaml import MarkedYAMLError

from moonpad.explain.yaml_source import YamlSource

_CONFLICT: Final = re.compile(r"^<{7}[^\n]*$|^={7}[^\n]*\n(?:(?!>{7})[^\n]*\n)*>{7}[^\n]*$|^>{7}[^\n]*$", re.MULTILINE)
_CONTROL: Final = re.compile(r"^[ \t]*\{\{-?[^{}\n]*-?\}\}[ \t]*$", re.MULTILINE)
"""A line that is nothing but a template's own."""
_TAB: Final = re.compile(r"^([ ]*)(\t+)", re.MULTILINE)
_MOST: Final = 20
"""Lines that are left out one after the other."""


def repaired(source: YamlSource) -> Iterator[tuple[int, str]]:
    """Mends the source's text in place; the offset and the message of each thing that is wrong.

    Raises MarkedYAMLError where it still is no YAML.
    """
    if match := _CONFLICT.search(source.text):
        yield match.start(), "marks of a merge are left in the file: the first of the two versions is read"
        source.replace_text(_CONFLICT.sub(_blanked, source.text))
    text = _CONTROL.sub(_blanked, source.text)
    text = _TAB.sub(lambda match: match[1] + " " * len(match[2]), text)
    source.replace_text(text.replace("{{", "<<").replace("}}", ">>"))
    for attempt in range(_MOST + 1):
        try:
            source.documents()
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            if mark is None or attempt == _MOST:
                raise
            lines = source.text.split("\n")
            number = min(mark.line, len(lines) - 1)
            while number > 0 and not lines[number].strip():
                number -= 1
            offset = sum(len(line) + 1 for line in lines[:number])
            yield offset, f"this line is not YAML ({error.problem}): the file is read without it"
            lines[number] = " " * len(lines[number])
            source.replace_text("\n".join(lines))
        else:
            return


def _blanked(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])
