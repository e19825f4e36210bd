"""Fences that were never closed, because an excerpt leaves out their end: `[...]` between blank lines, and sentences
behind it. The next fence opens another block then, and what stands between is no code."""

from __future__ import annotations

import re
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.explain.commands import LIST_CUT, Command
from moonpad.explain.shell.broken_off import is_half
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.values.records import replace

_FENCE: Final = re.compile(r"[ \t>]*(`{3,}|~{3,})([^`]*)")
_LEFT_OUT: Final = re.compile(r"\[(?:\.{3}|…)\][ \t]*")
_NEAR: Final = 40
_SENTENCE: Final = re.compile(
    r"(?![ \t#$/-]|\w+[:=])(?:>[ ])?[^`{}\[\]$=\\|]{0,200}?\w+(?:[,;:]?[ ]\w[\w'’-]*){3,}"
    r"[^`{}$=\\|]{0,300}[.?!:,][ \t]*"
    r"|[\w.-]{1,60} · [a-z]+(?: · \S+)?[ \t]*"
)
"""A line of a language, or the head of a comment, `name · comment · 2026-05-18`."""


def with_ends(text: str) -> str:
    """The text with a fence in the place of such a mark; all characters keep their places."""
    if "[..." not in text and "[…" not in text:
        return text
    lines = text.split("\n")
    opened = ""
    for at, line in enumerate(lines):
        fence = _FENCE.fullmatch(line)
        if fence is not None:
            closes = opened and fence[1].startswith(opened) and not fence[2].strip()
            opened = "" if closes else opened or fence[1]
        elif opened and _is_left_out(lines, at) and len(line.rstrip()) >= len(opened) and _goes_on_in_words(lines, at):
            lines[at] = opened.ljust(len(line))
            opened = ""
    return "\n".join(lines)


def _is_left_out(lines: list[str], at: int) -> bool:
    alone = _LEFT_OUT.fullmatch(lines[at]) is not None
    return alone and not lines[at - 1].strip() and at + 1 < len(lines) and not lines[at + 1].strip()


def _goes_on_in_words(lines: list[str], at: int) -> bool:
    """Whether the first line behind it is a sentence."""
    first = next((line for line in lines[at + 1 : at + 6] if line.strip()), "")
    return _SENTENCE.fullmatch(first[:1000]) is not None


def mark_cut_lists(state: ScriptState, first: int, start: int, text: str) -> None:
    """The commands from `first` on, of a manifest `text` that begins at `start`: one whose list of words goes to the
    end of a manifest that is left out from there has more of them."""
    behind = state.text.clean[start + len(text) :][:_NEAR].lstrip()
    if _LEFT_OUT.match(behind) is None:
        return
    last = state.text.place(start + len(text.rstrip()))[0]
    for at, command in enumerate(state.commands[first:], first):
        if command.argv and max(word.end_line for word in command.argv) >= last:
            state.commands[at] = _with_more(command)


def _with_more(command: Command) -> Command:
    """Without an option at the end that is there in part."""
    options = option_set(command.program)
    half = options is not None and is_half(command.argv[-1].text, options)
    argv = command.argv[:-1] if half else command.argv
    return replace(command, argv=argv, more=LIST_CUT)
