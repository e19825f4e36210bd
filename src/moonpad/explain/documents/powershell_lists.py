"""Commands of PowerShell whose arguments stand in a list: `$run = @("run", "--rm", …)` and `docker @run`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from moonpad.explain.commands import Command, Word
from moonpad.explain.programs import starts_with_options
from moonpad.explain.shell.interpreter import ScriptState, Shell
from moonpad.explain.source_text import Source
from moonpad.values.records import replace

_STRING: Final = r"\"(?:[^\"`\n]|`.){0,2000}\"|'[^'\n]{0,2000}'"
_SET: Final = re.compile(
    r"^[ \t]*(?:\[[\w.\[\]]{1,40}\][ \t]*)?\$(?P<name>\w{1,60})[ \t]*=[ \t]*"
    rf"(?P<value>{_STRING}|\d[\d.]{{0,20}})[ \t]*,?[ \t]*(?:#.*)?$",
    re.MULTILINE,
)
"""A variable, or a parameter with its default."""
_LIST: Final = re.compile(
    r"\$(?P<name>\w{1,60})[ \t]*=[ \t]*@\("
    rf"(?P<items>(?:{_STRING}|#[^\n]*|\$\{{?[\w.:]+\}}?|[\w./:=-]+|[\s,]+){{3,600}}+)\)"
)
_ITEM: Final = re.compile(
    rf"(?P<string>{_STRING})|#[^\n]*|(?P<variable>\$\{{?(?P<name>[\w.:]+)\}}?)|(?P<bare>[\w./:=-]+)"
)
_USED: Final = r"(?:^|[\s;&|(])(?P<program>[\w./:\\-]{{2,200}})[ \t]+(?P<first>[\w-]{{1,40}}[ \t]+)?@{name}\b"
_IN_STRING: Final = re.compile(r"(?<!`)\$(?:\{(?P<braced>\w+)\}|(?P<plain>\w+))")
_ANY: Final = re.compile(r"\$\w{1,60}[ \t]*=[ \t]*@\(")
_GIVEN: Final = re.compile(r"@\w+")
_MARK: Final = "@("
_MOST: Final = 20


def powershell_lists(state: ScriptState, texts: list[tuple[int, str]]) -> Iterator[Command]:
    """Of the lists that a program is started with."""
    for start, text in texts:
        if _MARK not in text:
            continue
        state.budget.work(len(text) // 4, "its lists")
        values = {match["name"].casefold(): _plain(match["value"]) for match in _SET.finditer(text)}
        for match in islice(_LIST.finditer(text), _MOST):
            used = re.search(_USED.format(name=re.escape(match["name"])), text, re.IGNORECASE)
            if used is None:
                continue
            items = [
                _word(item, state, start + match.start("items"), values) for item in _ITEM.finditer(match["items"])
            ]
            words = [word for word in items if word is not None]
            at = start + match.start()
            parts = [used["program"], *(used["first"] or "").split()]
            before = [state.text.word(part, at, at + 1) for part in parts]
            first, shell = len(state.commands), Shell(state, Source.block(state.text, start, text))
            shell.command([*before, *words])
            found = [command for command in state.commands[first:] if starts_with_options(command)]
            del state.commands[first:]
            if found:
                state.problems.items.clear()  # it was read as a shell's, which it is not for
            yield from found


def without_lists(state: ScriptState) -> list[Command]:
    """The commands but for those that get a list: `vllm serve @arguments`."""
    if _MARK not in state.text.clean or _ANY.search(state.text.clean) is None:
        return state.commands
    return [each for each in state.commands if not any(_GIVEN.fullmatch(word.text) for word in each.argv)]


def _word(item: re.Match[str], state: ScriptState, start: int, values: Mapping[str, str]) -> Word | None:
    begin, end = start + item.start(), start + item.end()
    if item["string"] is not None:
        whole, unknown = item["string"], list[str]()
        text = _plain(whole)
        if whole.startswith('"'):
            text = _IN_STRING.sub(lambda part: _value(part, values, unknown), text)
        return replace(state.text.word(text, begin, end), unresolved=tuple(unknown))
    if item["variable"] is not None:
        name = item["name"]
        if (value := values.get(name.casefold())) is not None:
            return state.text.word(value, begin, end)
        return replace(state.text.word(f"${{{name}}}", begin, end), unresolved=(name,))
    return state.text.word(item["bare"], begin, end) if item["bare"] is not None else None


def _value(part: re.Match[str], values: Mapping[str, str], unknown: list[str]) -> str:
    name = part["braced"] or part["plain"]
    value = values.get(name.casefold())
    if value is None:
        unknown.append(name)
        return f"${{{name}}}"
    return value


def _plain(value: str) -> str:
    """Without its quotes. A backtick is PowerShell's backslash."""
    if value[:1] == '"':
        return re.sub(r"`(.)", r"\1", value[1:-1])
    return value[1:-1] if value[:1] == "'" else value
