"""A command whose lines a post has joined, with the backslashes that ended them and comments in between, as it was
meant: of the same length, so that places hold."""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.source_text import IGNORED, Problems

_MESSAGE: Final = "inside a line a backslash takes the blank behind it into the next word"
_REMEDY: Final = "take the backslashes out, or end the lines there"
_JOINED: Final = re.compile(r"^(?=.* \\[ \t]+-)(?:(?:(?! \\[ \t]+[-#]).)* \\[ \t]+[-#]){2,}.*$", re.MULTILINE)
_ONE: Final = re.compile(
    r"^[ \t]*[A-Za-z_]\w{0,60}=\S{0,200}(?:[ \t]+[A-Za-z_]\w{0,60}=\S{0,200}){0,20}[ \t]+(?P<set>\\)"
    r"(?=[ \t]+[A-Za-z])"
    r"|(?<=[ \t])(?P<other>\\)(?=[ \t]+(?:--?[A-Za-z]|python[\d.]*[ \t]"
    r"|[\w.-]{1,60}(?:/[\w.-]{1,60}){1,3}(?::[\w.-]{1,60})?[ \t]))",
    re.MULTILINE | re.ASCII,
)
"""One alone, behind variables and in front of a program, or in front of an option, an image or Python."""
_COMMENT: Final = re.compile(r"\\[ \t]+#(?P<said>.*?)(?=[ \t]--?[A-Za-z][\w-]*(?:[ \t=]|$)|[ \t]\\[ \t]|$)")
"""Up to the next option, or the next backslash."""
_BROKEN_OFF: Final = re.compile(r"\\(?=[ \t]+-)")
_BEHIND_ALL: Final = re.compile(r"[ \t]\\(?:[ \t]+(?![-#<$\"']|/\S)[^\s\\]+){3,}[ \t]*$")
"""Words behind the last backslash, none of which is an option: what the post says below the command."""


def with_lines_apart(text: str, start: int, problems: Problems) -> str:
    """`text` begins at the offset `start` of the whole text."""
    if " \\" not in text:
        return text
    text = _JOINED.sub(lambda line: _apart(line, start, problems), text)
    return _ONE.sub(lambda found: _without(found, start, problems), text)


def _without(found: re.Match[str], start: int, problems: Problems) -> str:
    at = found.start("set") if found["set"] else found.start("other")
    problems.add("space-after-backslash", start + at, start + at + 1, _MESSAGE, _REMEDY)
    return found[0][: at - found.start()] + " " + found[0][at - found.start() + 1 :]


def _apart(match: re.Match[str], start: int, problems: Problems) -> str:
    line = match[0]
    at = start + match.start() + line.index(" \\") + 1
    message, remedy = f"{_MESSAGE}, which is then no option", _REMEDY
    if comments := [comment["said"] for comment in _COMMENT.finditer(line)]:
        message += "; a # behind one blank begins no comment there, so that its words are arguments"
        message += " and its apostrophe opens a quote" if any(said.count("'") % 2 for said in comments) else ""
        remedy = "end the lines there, and put the comments above the command"
    problems.add("space-after-backslash", at, at + 1, message, remedy)
    line = _COMMENT.sub(lambda comment: " " * len(comment[0]), line)
    line = _BEHIND_ALL.sub(lambda said: IGNORED * len(said[0]), line)
    return _BROKEN_OFF.sub(" ", line)
