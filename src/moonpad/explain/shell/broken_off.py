"""A text that breaks off inside of a command: a page whose beginning alone is shown, an excerpt before `[...]`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from moonpad.catalog.options import OptionSet, option_set
from moonpad.explain.commands import Command, Word
from moonpad.explain.flag_lists import serving_programs
from moonpad.explain.shell.cut_commands import BROKEN_OFF
from moonpad.explain.source_text import InputText, Problems
from moonpad.values.records import replace

_MARK: Final = re.compile(
    r"^[ \t\0>]{0,12}(?:\[(?:\.{3}|…|snip(?:ped)?|truncated|cut)\]|<snip>|\(truncated\))[ \t\0]*$", re.MULTILINE
)
_FENCE: Final = re.compile(r"^[ \t\0>]{0,12}(?P<fence>`{3,12}|~{3,12})(?P<info>[^\n`]*)$", re.MULTILINE)
_NOTHING: Final = re.compile(r"[\s\0>\"'\\]*")
_SENTENCE: Final = re.compile(
    r"^(?=[A-Z]|[^\n]{0,400}[.:?!][ \t]*$)(?!export\b)[^\n=|;&\\$\"'<>{}#-]{0,200}?\b(?:[^\W\d_]{2,30},? ){3}"
    r"[^\n=|;&\\$<>{}]*$|[\u3040-\u30ff\u4e00-\u9fff]{4}",
    re.MULTILINE,
)
"""A line of prose, so that the text is no script."""
_HUNK: Final = re.compile(r"^@@ -\d", re.MULTILINE)
_SHORTEST: Final = 2
"""Characters of `--` alone."""
_MOST: Final = 200


class _Break(Struct, frozen=True):
    """Where the text stops. `sure`: it says so, or a fence is still open; `hunk`: a part of a diff ends there."""

    at: int
    sure: bool = False
    hunk: bool = False


def with_broken_off(commands: Sequence[Command], text: InputText, problems: Problems) -> list[Command]:
    """The commands; those in which the text breaks off are open, and have no option of which only the beginning is
    there, or that has no value yet. Nobody is told of a quote that the rest of the text would close."""
    breaks = list(islice(_breaks(text.clean), _MOST))
    text.budget.work(len(breaks) * len(commands) // 10, "where it breaks off")
    made = [_broken(command, breaks, text, problems) for command in commands]
    for each in breaks:
        shown = text.clean[: each.at].rstrip() if each.sure else ""
        if shown and not shown.endswith(("```", "~~~")):
            paragraph = max(shown.rfind("\n\n"), 0)
            _forget(text.place(paragraph)[0], text.place(each.at)[0], problems)
    return made


def _breaks(text: str) -> Iterator[_Break]:
    for mark in _MARK.finditer(text):
        yield _Break(mark.start(), sure=True)
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence["fence"].startswith(opened["fence"]) and not fence["info"].strip():
            if _HUNK.search(text, opened.end(), fence.start()):
                yield _Break(fence.start(), hunk=True)
            opened = None
    if opened is not None or _SENTENCE.search(text):
        yield _Break(len(text), sure=opened is not None)


def _broken(command: Command, breaks: Sequence[_Break], text: InputText, problems: Problems) -> Command:
    line = serving_programs().get(command.program)
    options = option_set(command.program)
    if line is None or options is None or not command.argv or command.more or command.embedded:
        return command
    end = _end(command, text)
    at = next((each for each in breaks if end <= each.at and _NOTHING.fullmatch(text.clean, end, each.at)), None)
    if at is None:
        return command
    last = command.argv[-1]
    open_quote = _open_at(last, problems)
    if is_half(last.text, options) or (at.sure and open_quote):
        _forget(command.line, last.end_line, problems)
        argv = command.argv[:-1]
        if open_quote and argv and (option := options.named(argv[-1].text)) is not None and option.takes_value:
            argv = argv[:-1]
        return replace(command, argv=argv, more=BROKEN_OFF)
    if at.hunk:
        return replace(command, more=BROKEN_OFF) if "\\" in text.clean[end : at.at] else command
    sized = {line.options[size] for size in ("tp", "pp", "dp") if size in line.options}
    has_size = any(_is_of(word.text.partition("=")[0], sized, options) for word in command.argv)
    return replace(command, more=BROKEN_OFF) if at.sure and not has_size else command


def _end(command: Command, text: InputText) -> int:
    last = max(command.argv, key=lambda word: (word.end_line, word.end_column))
    return text.offset(last.end_line - 1) + last.end_column if last.end_line else len(text.clean) + 1


def is_half(written: str, options: OptionSet) -> bool:
    """`--cu`, `--enable-expert-paralle`, or an option whose value is not there."""
    if not written.startswith("-") or "=" in written:
        return False
    name = written.replace("_", "-") if options.underscores else written
    known = options.named(written) or options.named(name)
    if known is not None:
        return known.takes_value
    beginning = name.startswith("--") and len(name) > _SHORTEST
    return name in ("-", "--") or (beginning and any(each.startswith(name) for each in options.by_name))


def _is_of(written: str, names: set[str], options: OptionSet) -> bool:
    known = options.named(written.replace("_", "-") if options.underscores else written)
    return written in names or (known is not None and not names.isdisjoint(known.names))


def _open_at(word: Word, problems: Problems) -> bool:
    return any(
        each.code == "unclosed" and each.line == word.line and word.column <= each.column < max(word.end_column, 1)
        for each in problems.items
    )


def _forget(first: int, last: int, problems: Problems) -> None:
    """What the rest of the text would have closed, in these lines."""
    problems.items[:] = [each for each in problems.items if each.code != "unclosed" or not first <= each.line <= last]
