"""Cells of a notebook of Jupyter: what of them a shell reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.commands import Word, concatenated
from moonpad.explain.manifests.yaml_source import Fields, YamlSource, items
from moonpad.explain.programs import names_engine_command
from moonpad.explain.python.commands import fences
from moonpad.explain.python.programs import read_cell
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.values.records import replace

CODE: Final = "code"
CELLS: Final = (CODE, "markdown")
_FOR_SHELL: Final = re.compile(r"^%%\w+.*$|^[ \t]*[!%]", re.MULTILINE)


def shell_texts(fields: Fields, kind: str, source: YamlSource, state: ScriptState) -> Iterator[Word]:
    """Of code the lines behind `!`, or a whole cell behind `%%bash`; of Markdown its fences. What it starts by Python
    is read here."""
    if "source" not in fields:
        return
    lines = [source.word(line) for line in items(fields["source"])] or [source.word(fields["source"])]
    whole = concatenated(lines, lines[0])
    if kind != CODE:
        yield from (fence for fence in fences(whole) if names_engine_command(fence.text))
    elif read_cell(whole, state) and names_engine_command(whole.text):
        yield replace(whole, text=_FOR_SHELL.sub(lambda mark: " " * len(mark[0]), whole.text))
