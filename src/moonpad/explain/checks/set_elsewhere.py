"""Variables that a command may have although none of its own lines sets them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.shell.own_lines import numbered

_NEAR: Final = 40
"""Lines above the command in which a file is read or a template is filled in for it."""
_BRINGS: Final = re.compile(
    r"[ \t]*(?:\{\{[^{}\n]{1,80}\}\}|(?:source|\.)[ \t]+(?P<file>[^\s;&|]{1,200}))[ \t]*(?:#.*)?$"
)
_LONGEST: Final = 500
_OF_THE_SYSTEM: Final = re.compile(r"/Ascend/|/intel/|/conda|bin/activate|bashrc|profile")
"""Files that are read for paths and for Python, and say nothing to an engine."""


def may_be_set(case: Case, names: Iterable[str]) -> bool:
    """Whether one of these may be set: by a line that stands for others, or in an earlier part of a guide.

    A line of a template (`{{settings}}`) and a file that the script reads (`source settings.sh`) may set all. A guide
    may export a variable once, in a part of its own.
    """
    script, line = case.script, case.commands[0].line
    if any(_brings_settings(text) for _, text in numbered(script, max(1, line - _NEAR), line - 1)):
        return True
    command = case.commands[0]
    if command.custom and not command.env:
        # Options of a file, whose variables stand in another document beside it.
        key = re.compile(rf"[ \t-]*(?:name:[ \t]*)?[\"']?(?:{'|'.join(map(re.escape, names))})[\"']?[ \t]*(?::|$)")
        return is_in_lines(key, script.lines, _LONGEST)
    if not script.markdown:
        return False
    exported = re.compile(rf"[ \t$#>]*export[ \t]+(?:{'|'.join(map(re.escape, names))})=")
    return any(exported.match(text) for _, text in numbered(script, 1, line - 1))


def _brings_settings(line: str) -> bool:
    match = _BRINGS.match(line)
    return match is not None and _OF_THE_SYSTEM.search(match["file"] or "") is None
