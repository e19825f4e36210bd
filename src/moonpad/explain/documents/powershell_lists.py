"""Commands of PowerShell whose arguments stand in a list: `$run = @("run", "--rm", …)` and `docker @run`, also
`Start-Process -FilePath $server -ArgumentList $run`."""

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
_ONE: Final = rf"(?:{_STRING}|#[^\n]*|\$\{{?[\w.:]+\}}?|[\w./:=-]+|[\s,]+)"
_LIST: Final = re.compile(rf"\$(?P<name>\w{{1,60}})[ \t]*=[ \t]*@\((?P<items>{_ONE}{{3,600}}+)\)")
_ADDED: Final = re.compile(
    rf"^[ \t]*\$(?P<name>\w{{1,60}})[ \t]*\+=[ \t]*(?:@\((?P<items>{_ONE}{{1,600}}+)\)|(?P<one>\$\w{{1,60}}))",
    re.MULTILINE,
)
_JOINED: Final = re.compile(
    rf"^[ \t]*\$(?P<name>\w{{1,60}})[ \t]*=[ \t]*Join-Path[ \t]+[^\n]{{0,200}}?(?P<value>{_STRING})[ \t]*$",
    re.MULTILINE,
)
"""The path of a program: `$exe = Join-Path $root 'build\\bin\\llama-server.exe'`."""
_STARTED: Final = (
    r"(?:\bStart-Process\b[^\n]{{0,100}}?(?:-FilePath[ \t]+)?(?P<program>\$\w+)[ \t]+[^\n]{{0,200}}?"
    r"-(?:ArgumentList|Args)[ \t]+\${name}\b|^[ \t]*&[ \t]*(?P<called>\$\w+)[ \t]+@{name}\b)"
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
            state.budget.work(len(text) // 4, "its lists")
            parts = _program(match["name"], text, values)
            if not parts:
                continue
            added = (each for each in _ADDED.finditer(text) if each["name"].casefold() == match["name"].casefold())
            whole = [match, *added]
            items = [
                _word(item, state, start + part.start(group), values)
                for part in whole
                for group in [next(name for name in ("items", "one") if part.groupdict().get(name) is not None)]
                for item in _ITEM.finditer(part[group])
            ]
            words = [word for word in items if word is not None]
            at = start + match.start()
            before = [state.text.word(part, at, at + 1) for part in parts]
            first, shell = len(state.commands), Shell(state, Source.block(state.text, start, text))
            shell.command([*before, *words])
            found = [command for command in state.commands[first:] if starts_with_options(command)]
            del state.commands[first:]
            if found:
                state.problems.items.clear()  # it was read as a shell's, which it is not for
            yield from found


def _program(name: str, text: str, values: Mapping[str, str]) -> list[str]:
    """What a list is handed to, and the first word in front of it; [] where it is handed to nothing that is known."""
    name = re.escape(name)
    if used := re.search(_USED.format(name=name), text, re.IGNORECASE):
        return [used["program"], *(used["first"] or "").split()]
    started = re.search(_STARTED.format(name=name), text, re.IGNORECASE | re.MULTILINE)
    if started is None:
        return []
    asked = (started["program"] or started["called"]).removeprefix("$").casefold()
    joined = {match["name"].casefold(): _plain(match["value"]) for match in _JOINED.finditer(text)}
    path = {**joined, **values}.get(asked, "").replace("\\", "/")
    return [re.sub(r"\.exe$", "", path, flags=re.IGNORECASE)] if path else []


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
