"""What a script lets its user set (`PORT="${PORT:-8000}"`, `--port "${PORT:-8000}"`) stays a variable in the corrected
command, with the value that it has where nothing else is said. What its user has to set (`CACHE="${CACHE:-}"`) stays as
it is written: the empty value that it has until then is never meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from moonpad.explain.commands import Command, Script
from moonpad.explain.kept_ranks import Kept, source_of, with_kept
from moonpad.explain.keys_by_name import takes_key
from moonpad.explain.results import Judged, Line
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
_NAMES: Final = re.compile(r"\$\{?(?P<name>[A-Za-z_]\w{0,60})", re.ASCII)
_MADE: Final = re.compile(r"[ \t]*:[ \t]+[\"']?\$\{(?P<name>[A-Za-z_]\w{0,60}):?=(?P<value>[^\n]{0,300})\}", re.ASCII)
"""`: "${CACHE:=$BASE/cache}"`."""
_EMPTY: Final = re.compile(r"\$\{(?P<name>[A-Za-z_]\w{0,60}):?[-=](?:\"\"|'')?\}", re.ASCII)
"""`${CACHE:-}`: nothing, so that `set -u` does not end the script."""
_WHOLE: Final = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_]\w{0,60})\}|(?P<bare>[A-Za-z_]\w{0,60}))", re.ASCII)
_SEVERAL: Final = re.compile(rf"(?<=\s){_WHOLE.pattern}(?=\s|$)", re.ASCII)
"""Without quotes: words that are there once somebody sets it."""
_LEADS_ON: Final = re.compile(r"[<>|&]$")
_LONGEST: Final = 400
"""A longer line is data."""

Settable = Mapping[str, str]
"""Variables that are set to themselves or to a default, each with the default; "" for one that is set otherwise."""


def with_own_defaults(judged: Judged, commands: Sequence[Command], script: Script) -> Judged:
    """Where a correction is shown that leaves the values as they are. In a manifest its own reader fills them in."""
    if not judged.corrected or judged.corrected == judged.commands or len(judged.corrected) != len(commands):
        return judged
    pairs = zip(judged.corrected, commands, strict=True)
    return replace(judged, corrected=tuple(_with_both(line, each, script) for line, each in pairs))


def _with_both(line: Line, command: Command, script: Script) -> Line:
    """The last word first: each is known by the word in front of it as the command has it."""
    options, variables, several = _left_to_the_user(command, script)
    for variable, before in several.items():
        at = line.argv.index(before) + 1 if before.startswith("-") and before in line.argv else len(line.argv)
        argv = (*line.argv[:at], variable, *line.argv[at:])
        line = replace(line, argv=argv, unresolved=line.unresolved | {variable})
    if options or variables:
        names = {match["name"] for each in (*options, *variables) for match in _NAMES.finditer(each.written)}
        line = with_kept(line, options[::-1], variables)
        line = replace(line, unresolved=line.unresolved | names)
    return with_kept(line, (*_options(command, script),), ())


def _left_to_the_user(command: Command, script: Script) -> tuple[list[Kept], list[Kept], dict[str, str]]:
    """Words and exported variables whose value has a variable that is empty until somebody sets it, and such variables
    as stand for words, each with the word in front of it."""
    words, in_manifest = (*command.prefix, *command.argv), _is_in_manifest(command, script)
    sources = [source_of(word, script) for word in (*words, *command.env.values())]
    lines = [] if in_manifest else [*_lines_of(command, script.lines)]
    if not any("$" in text for text in (*lines, *sources)):
        return [], [], {}
    script.budget.work(command.line // 4 + 1, "the variables of its engine commands")
    empty = _empty_until_set(script.lines[: max(0, command.line - 1)])
    pairs = zip(("", *(word.text for word in words)), words, sources, strict=False)
    options = [
        Kept(before, word.text, written, word.text)
        for before, word, source in pairs
        if not word.unresolved and (written := _as_written(source, empty))
    ]
    exported = zip(command.env.items(), sources[len(words) :], strict=True)
    variables = [
        Kept(name, word.text.removeprefix(f"{name}="), written, name)
        for (name, word), source in exported
        if not word.unresolved and (written := empty.get(name) or _as_written(source.partition("=")[2], empty))
    ]
    several = {
        match[0]: (text[: match.start()].split() or [""])[-1]
        for text in lines
        for match in _SEVERAL.finditer(text)
        if empty.get(_name(match)) == ""
    }
    return options, variables, {name: before for name, before in several.items() if not _LEADS_ON.search(before)}


def _lines_of(command: Command, lines: Sequence[str]) -> Iterator[str]:
    """To the end of its last word, and those that it goes on in behind a backslash."""
    last = max((word.end_line for word in command.argv), default=command.line)
    for number, text in enumerate(lines[command.line - 1 :], command.line):
        yield text[:_LONGEST].partition(" #")[0]
        if number >= last and not text.rstrip().endswith("\\"):
            return


def _name(match: re.Match[str]) -> str:
    return match["braced"] or match["bare"]


def _as_written(source: str, empty: Mapping[str, str]) -> str:
    """ "" where no variable of it is empty."""
    names = {match["name"] for match in _NAMES.finditer(source)}
    whole = source.count("{") == source.count("}")  # else it is a part of `: "${CACHE:=$HOME/cache}"`
    return _by_the_users(source, empty) if whole and (names & empty.keys() or _EMPTY.search(source)) else ""


def _by_the_users(text: str, empty: Mapping[str, str]) -> str:
    """With what the script makes of its user's variables written out, where that has no default of its own."""
    written = _WHOLE.sub(lambda match: empty.get(_name(match)) or match[0], text.replace('"', ""))
    return written if ":-" not in written or ":-" in text else text.replace('"', "")


def _empty_until_set(above: Sequence[str]) -> dict[str, str]:
    """By name what each is made of, "" for one that its user sets."""
    found: dict[str, str] = {}
    for line in above:
        match = None if len(line) > _LONGEST or "=" not in line else _SET.match(line) or _MADE.match(line)
        if match is None:
            continue
        own = _EMPTY.search(match["value"])
        names = {each["name"] for each in _NAMES.finditer(match["value"])}
        if own is not None and own["name"] == match["name"]:
            found[match["name"]] = ""
        elif names & found.keys():
            found[match["name"]] = "" if match["name"] in names else _by_the_users(match["value"], found)
        elif match["name"] not in names:
            found.pop(match["name"], None)
    return found


def _is_in_manifest(command: Command, script: Script) -> bool:
    return any(first <= command.line <= last for first, last in script.objects)


def _options(command: Command, script: Script) -> Iterator[Kept]:
    used = [] if _is_in_manifest(command, script) else [*_used(command, script)]
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
