"""Lines without a backslash behind which the image or the model of the same command follows, as they were meant: of the
same length, so that places hold. Flags that follow so are the lexer's business; a command of many such lines is told
once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from moonpad.engines.foreign_names import STARTS
from moonpad.explain.commands import Problem
from moonpad.explain.shell.joined_blocks import FOLDED
from moonpad.explain.source_text import Problems
from moonpad.values.records import replace

_LOST: Final = "missing-backslash"
_COMMENT: Final = "comment-in-command"
_MOST_BETWEEN: Final = 200
_LONGEST: Final = 2000
_RUN: Final = re.compile(r"\b(?:docker|podman|nerdctl)[ \t]+run\b")
_SWITCH: Final = re.compile(r"-[ditP]{1,4}|--(?:rm|detach|interactive|tty|privileged|init|read-only|publish-all)")
_IMAGE: Final = r"(?:[a-z0-9][\w.-]*(?::\d{2,5})?/)*[a-z0-9][\w.-]*(?::\w[\w.-]*|@sha256:[0-9a-f]{8,64})?"
_HAS_IMAGE: Final = re.compile(_IMAGE)
_IMAGE_FIRST: Final = re.compile(rf"[ \t]+(?=\S*[/:])(?:{_IMAGE})(?=\s|\\|$)")
_MODEL_FIRST: Final = re.compile(r"[ \t]+(?:/[\w.-]+|[\w.-]+)(?:/[\w.-]+)+(?=\s|\\|$)")


def with_images(text: str, start: int, problems: Problems) -> str:
    """`text` begins at the offset `start` of the whole text. The newline of such a line becomes a blank."""
    if "serve" not in text and not _RUN.search(text):
        return text
    joined, offset, inside, has_image = list(text), 0, False, False
    folded: int | None = None  # how far the key is indented whose lines YAML joins
    for line, below in pairwise(text.split("\n")):
        at, whole = offset + len(line), line[:_LONGEST]
        offset = at + 1
        if folded is not None and whole.strip() and len(line) - len(line.lstrip()) <= folded:
            folded = None
        if ">" in whole and FOLDED.fullmatch(whole):
            folded = len(line) - len(line.lstrip())
        if match := _RUN.search(whole):
            inside, has_image = not whole.lstrip().startswith("#"), False
            whole = whole[match.end() :]
        has_image = has_image or (inside and _names_image(whole))
        if whole.rstrip().endswith("\\"):
            continue
        starts = STARTS.search(line[:_LONGEST].rstrip())
        alone = starts is not None and not line.lstrip().startswith("#")
        lost = inside and not has_image and _IMAGE_FIRST.match(below[:_LONGEST])
        if lost or (alone and _MODEL_FIRST.match(below[:_LONGEST])):
            message = "this line does not end with a backslash, so the shell ends the command here"
            if folded is None:
                problems.add(_LOST, start + at - 1, start + at, message, "end the line with a backslash")
            joined[at] = " "
        elif not below.lstrip().startswith("-"):
            inside = False
    return "".join(joined)


def _names_image(words: str) -> bool:
    """Whether a word is an image by its look, or may be one and is not the value of an option."""
    before = ""
    for match in re.finditer(r"\S+", words):
        word = match.group()
        is_value = before.startswith("-") and "=" not in before and not _SWITCH.fullmatch(before)
        if "$" in word and not is_value and not word.startswith("-"):
            return True
        if _HAS_IMAGE.fullmatch(word) and not word.startswith("-") and ("/" in word or not is_value):
            return True
        before = word
    return False


def once_a_command(problems: Iterable[Problem], lines: Sequence[str] = ()) -> list[Problem]:
    """`problems` in the order of their `lines`. Where lines below each other lack the backslash, the first stands for
    all: a command without any would say the same at each of them; so does the first comment inside of a command."""
    told: list[Problem] = []
    first = Problem("", 0, 0, 0, "")
    last = 0
    comment = first
    for problem in sorted(problems, key=lambda problem: (problem.line, problem.column)):
        if problem.code == _COMMENT:
            if problem.message == comment.message and _are_joined(lines[comment.line : problem.line - 1]):
                several = "move the comments above the command"
                told = [replace(each, remedy=several) if each is comment else each for each in told]
                comment = next(each for each in told if each.line == comment.line and each.code == _COMMENT)
                continue
            comment = problem
        if problem.code != _LOST or problem.message != first.message or problem.line != last + 1:
            first, last = problem, problem.line
            told.append(problem)
            continue
        last = problem.line
        message = first.message.replace("this line does not end", f"none of the lines {first.line} to {last} ends")
        told[-1] = replace(first, message=message, remedy="end each of them with a backslash")
    return told


def _are_joined(between: Sequence[str]) -> bool:
    """Whether lines are of one command: each ends with a backslash or is a comment."""
    return bool(between) and all(
        line.rstrip().endswith("\\") or line.lstrip().startswith("#") for line in between[:_MOST_BETWEEN]
    )
