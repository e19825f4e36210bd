"""Blocks of a document that are files: which name a line above them, or their first line, gives them."""

from __future__ import annotations

import re
import textwrap
from functools import cache, lru_cache
from typing import Final

from moonpad.engines import ENGINES
from moonpad.explain.commands import HereFile
from moonpad.explain.config_files import SEVERAL, UNNAMED
from moonpad.explain.documents.markdown import Block
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.explain.source_text import IGNORED

_YAML_FILE: Final = re.compile(r"(?<![\w/.-])[\w./-]{5,100}\.ya?ml\b")
_STEM: Final = re.compile(r"[\w-]{4,80}")
_LONGEST_TEXT: Final = 100_000
_MOST_FILES: Final = 20
_FILE_NAME: Final = re.compile(r"(?<![\w/.-])[\w./-]{1,100}\.(?:ya?ml|json)\b")
_SHOWN: Final = re.compile(r"\s*(?:\$ )?cat[ \t]+([\w./-]{1,100}\.(?:ya?ml|json))[ \t]*\n(?=[\w{-])")
_SHOWN_BETWEEN: Final = re.compile(
    r"^[ \t]*\$ cat[ \t]+(?P<name>[\w./-]{1,100}\.(?:ya?ml|json))[ \t]*\n"
    r"(?P<text>(?:(?![ \t]*\$ |[ \t]*(?:```|~~~))[^\n]{0,400}\n){1,300})(?=[ \t]*\$ )",
    re.MULTILINE,
)
"""The same at a prompt, with another prompt behind what it wrote."""
_VARIABLE_NAME: Final = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")
_OPTIONS: Final = re.compile(r"(?:[ \t\0]*(?:#.*)?\n)*[ \t\0]*[A-Za-z][\w.-]*:(?:[ \n]|$)")
"""A block of `key: value`."""


@cache
def _option_file() -> re.Pattern[str]:
    """How a heading or a line above speaks of the file that follows: by the option that takes it."""
    flags = {flag.lstrip("-") for engine in ENGINES.values() for flag in engine.command_line.option_files}
    names = "|".join(re.sub(r"[-_]", "[-_]", name) for name in sorted(flags - {"config"}))
    return re.compile(rf"(?<![\w-])(?:--)?(?:{names})(?![\w-])|(?<![\w-])--config(?![\w-])")


@lru_cache(maxsize=2)  # each block of a text asks
def _files_named(text: str) -> tuple[str, ...]:
    """Files of YAML that a text names, whose content a line may speak of without their ending."""
    return tuple(dict.fromkeys(_YAML_FILE.findall(text[:_LONGEST_TEXT])))[:_MOST_FILES]


def name_file(block: Block, state: ScriptState) -> None:
    """A block whose first line, or the line above it, names a file is that file: `config.yaml:`, or its variable."""
    first = block.text.lstrip("\0 \t\n").partition("\n")[0]
    above = (block.intro or "", block.heading or "", first if first.startswith("#") else "")
    names = [name for text in above for name in _FILE_NAME.findall(text[:200])]
    if block.intro and _OPTIONS.match(block.text):
        names += [spelled for name in _VARIABLE_NAME.findall(block.intro) for spelled in (f"${{{name}}}", f"${name}")]
    if block.intro and not names and _OPTIONS.match(block.text):
        words = {*_STEM.findall(block.intro[:200])}
        names += [
            name for name in _files_named(state.text.clean) if name.rpartition("/")[2].rpartition(".")[0] in words
        ]
    line = state.text.place(block.start)[0]
    text = block.text.replace(IGNORED, " ")
    if shown := _SHOWN.match(text):  # `cat config.yaml` and what it wrote
        names.append(shown[1])
        text, line = text[shown.end() :], line + shown[0].count("\n")
    if not names and _OPTIONS.match(block.text) and _option_file().search(f"{above[1]} {above[0]}"):
        names, text = [UNNAMED if UNNAMED not in state.files else SEVERAL], textwrap.dedent(text)
    for name in names:
        state.files.setdefault(name, HereFile(name, text, line))


def hold_shown(text: str, start: int, state: ScriptState) -> None:
    """Files that a session at a terminal shows between two prompts: `$ cat options.yaml`."""
    if "$ cat " in text:
        for shown in _SHOWN_BETWEEN.finditer(text):
            line = state.text.place(start + shown.start("text"))[0]
            state.files.setdefault(shown["name"], HereFile(shown["name"], shown["text"], line))
