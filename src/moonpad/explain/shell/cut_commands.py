"""A command that the text cuts off: behind its last line stands a backslash, and nothing more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Command, Wrapper
from moonpad.explain.source_text import InputText
from moonpad.values.records import replace

CUT_OFF: Final = "the rest of the command, which is cut off behind a backslash,"
BROKEN_OFF: Final = "the rest of the command, in which the text breaks off,"
LEFT_OUT: Final = "the rest of the command, which the text leaves out,"
SENTENCE: Final = "the layout, which this sentence leaves out,"
CUT: Final = frozenset({CUT_OFF, BROKEN_OFF})
AS_LABELLED: Final = "the rest of the command, of which the text tells the layout,"
DRAFT_TOLD: Final = "the options of the draft model, which the text only names,"
_RANKS: Final = ("-n", "-np", "--n", "--np")
_LAUNCHED: Final = re.compile(r"\b(?:mpirun|mpiexec)[^`|;&]{0,200}?[ ]--?np?[ ]([0-9]{1,4})\b")
_TAIL: Final = re.compile(r"[ \t\0]*+\\[\s\0]*\Z")
_CLOSED: Final = re.compile(r"[ \t\0]*+\\[ \t\0]*+\n[ \t\0>]*+(?:```|~~~)[\s\0]*\Z")
_SIZE: Final = re.compile(
    r"--?(?:tp|pp|dp|(?:tensor|pipeline|data)[-_]parallel)(?:[-_]size)?(?:=.*)?|-ngl|--n-gpu-layers", re.DOTALL
)
_SAID: Final = re.compile(
    r"[ \t\0>]*+\n?+[ \t\0>]*+(?:```|~~~)?+[\s\0>]{0,8}(?:\.{3}[ ]?)?[(\[*_]{0,3}(?:\.{3}[ ]?)?(?:"
    r"(?:is |was )?(?:cut(?: off)?|truncated|shortened)(?: here)?\b(?! command)"
    r"|(?:the )?rest (?:of (?:it|the command|the line) )?(?:is |was )?(?:cut|left out|omitted|missing)|[以后]下?省略)",
    re.IGNORECASE,
)
"""`(cut here: the page shows no more)` right behind a command."""
_LONGEST: Final = 200
"""Characters behind the last word of a command in which the text ends."""


def with_rest_cut_off(commands: Sequence[Command], text: InputText) -> list[Command]:
    """With what is not there for the command at the end of the text. A fence that is closed behind the backslash holds
    a whole command with a slip, where that has a layout."""
    end = text.clean.rstrip("\n\t \0`")
    if not end.endswith("\\"):
        return [_as_said(command, text) for command in commands]
    return [_marked(command, text) for command in commands]


def without_its_layout(command: Command, before: str = "") -> Command:
    """Code in a sentence is seldom whole: where it starts several ranks and gives no size, the layout stands elsewhere.

    `before` is the code that leads up to the command, where its launcher may stand.
    """
    if command.more or any(_SIZE.fullmatch(word.text.replace("_", "-")) for word in command.argv):
        return command
    counts = [_ranks(wrapper) for wrapper in command.wrappers if wrapper.kind == "mpirun"]
    counts += [int(match[1]) for match in _LAUNCHED.finditer(before)]
    return replace(command, more=SENTENCE) if max(counts, default=1) > 1 else command


def _ranks(wrapper: Wrapper) -> int:
    counts = [int(value) for name in _RANKS if (value := wrapper.value(name)) is not None and value.isdigit()]
    return max(counts, default=1)


def _as_said(command: Command, text: InputText) -> Command:
    """A sentence behind it says that it goes on."""
    if command.program == "other" or not command.argv or command.more:
        return command
    last = max(command.argv, key=lambda word: (word.end_line, word.end_column))
    if not last.end_line:
        return command
    begin = text.offset(last.end_line - 1) + last.end_column
    return replace(command, more=LEFT_OUT) if _SAID.match(text.clean[begin : begin + _LONGEST]) else command


def _marked(command: Command, text: InputText) -> Command:
    if command.program == "other" or not command.argv or command.more:
        return command
    last = max(command.argv, key=lambda word: (word.end_line, word.end_column))
    if not last.end_line:
        return command
    begin = text.offset(last.end_line - 1) + last.end_column
    tail = text.clean[begin : begin + _LONGEST]
    closed = _CLOSED.match(tail) and not any(_SIZE.fullmatch(word.text) for word in command.argv)
    ends = begin + _LONGEST >= len(text.clean)
    return replace(command, more=CUT_OFF) if ends and (_TAIL.match(tail) or closed) else command
