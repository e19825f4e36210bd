"""What a script lets its user set (`PORT="${PORT:-8000}"`, `--port "${PORT:-8000}"`) stays a variable in the corrected
command, with the value that it has where nothing else is said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from moonpad.explain.commands import Command, Script
from moonpad.explain.kept_ranks import Kept, source_of, with_kept
from moonpad.explain.keys_by_name import takes_key
from moonpad.explain.results import Judged
from moonpad.values.records import replace

_USED: Final = re.compile(
    r"[\"']?\$(?:(?P<bare>[A-Za-z_]\w{0,60})|\{(?P<name>[A-Za-z_]\w{0,60})(?P<default>:?-[\w./:@+-]{1,200})?\})[\"']?",
    re.ASCII,
)
"""A word that is one variable."""
_SET: Final = re.compile(
    r"[ \t]*(?:(?:export|local|readonly|declare)[ \t]+)?(?P<name>[A-Za-z_]\w{0,60})=(?P<value>\S{0,300})", re.ASCII
)
_OWN: Final = re.compile(r"[\"']?\$\{(?P<name>[A-Za-z_]\w{0,60})(?P<default>:?-[\w./:@+-]{1,200})\}[\"']?;?", re.ASCII)
_FALLBACK: Final = re.compile(
    r"[ \t]*:[ \t]+[\"']?\$\{(?P<name>[A-Za-z_]\w{0,60}):?=(?P<default>[\w./:@+-]{1,200})\}", re.ASCII
)
"""`: "${PORT:=8000}"`."""
_LONGEST: Final = 400
"""A longer line is data."""

Settable = Mapping[str, str]
"""Variables that are set to themselves or to a default, each with the default; "" for one that is set otherwise."""


def with_own_defaults(judged: Judged, commands: Sequence[Command], script: Script) -> Judged:
    """Where a correction is shown that leaves the values as they are. In a manifest its own reader fills them in."""
    if not judged.corrected or judged.corrected == judged.commands or len(judged.corrected) != len(commands):
        return judged
    pairs = zip(judged.corrected, commands, strict=True)
    return replace(judged, corrected=tuple(with_kept(line, (*_options(each, script),), ()) for line, each in pairs))


def _options(command: Command, script: Script) -> Iterator[Kept]:
    in_manifest = any(first <= command.line <= last for first, last in script.objects)
    used = [] if in_manifest else [*_used(command, script)]
    if not used:
        return
    script.budget.work(command.line // 4 + 1, "the variables of its engine commands")
    settable = _settable(script.lines[: max(0, command.line - 1)])
    for before, value, match in used:
        name = match["name"] or match["bare"]
        default = match["default"] or settable.get(name, "")
        if takes_key(before):
            continue
        if default and default.lstrip(":").removeprefix("-") == value:
            written = f"${{{name}:-{value}}}"
            yield Kept(before, value, written, written)


def _used(command: Command, script: Script) -> Iterator[tuple[str, str, re.Match[str]]]:
    """Each word that is one variable, with the word or the name in front of it and its value."""
    for before, word in pairwise((*command.prefix[-1:], *command.argv)):
        is_option = word.text.startswith("-")
        if word.unresolved or not word.text or (is_option and "=" not in word.text):
            continue
        source, name, value = source_of(word, script), before.text, word.text
        if is_option:
            name, _, value = word.text.partition("=")
            source = source.partition("=")[2]
        if "$" in source and (match := _USED.fullmatch(source)) is not None:
            yield name, value, match


def _settable(above: Sequence[str]) -> Settable:
    found: dict[str, str] = {}
    for line in above:
        if len(line) > _LONGEST or ("=" not in line):
            continue
        if (match := _FALLBACK.match(line)) is not None:
            found.setdefault(match["name"], f"-{match['default']}")
        elif (match := _SET.match(line)) is not None:
            own = _OWN.fullmatch(match["value"])
            is_own = own is not None and own["name"] == match["name"]
            found[match["name"]] = own["default"] if own is not None and is_own else ""
    return found
