"""The reference of the command line, made from the program that parses it."""

from __future__ import annotations

import re

from moonpad.cli.command_line import app

HEAD = """\
# Commands

Made from the program at each build: these are the texts of `moonpad VERB --help`. Options may stand before or after
arguments, as `--on 8xH200` or `--on=8xH200`; an argument in capitals may be given by its place or by its name.
Durations are written `10s`, `500ms`, `2m`. Exit codes are in [a table of their own](exit-codes.md).

"""


def commands_page() -> str:
    """Each verb with its options, in the order of `moonpad --help`."""
    whole = app.generate_docs(output_format="markdown")
    start = whole.index("\n## moonpad ") + 1  # before it are the title and two lists of all verbs
    text = re.sub(r"\n {4,}(?=\S)", " ", whole[start:])  # an option's text that goes on in the next line
    text = re.sub(r" \*\[default: (?:False|\"\")\]\*", "", text.replace("\\[", "["))
    return HEAD + "\n".join(_line(line) for line in text.splitlines()) + "\n"


def _line(line: str) -> str:
    """An option as a term and its text; a title without the star of a list."""
    if option := re.fullmatch(r"\* (?P<names>`[^`]+`)(?:: ?(?P<text>.*))?", line):
        return f"{option['names']}\n:   {_visible(option['text'] or '')}\n"
    return _visible(line)


def _visible(text: str) -> str:
    """What Markdown would read as a tag stays as it is written."""
    pieces = text.split("`")
    pieces[::2] = [re.sub(r"<(?=\w)", "&lt;", piece) for piece in pieces[::2]]
    return "`".join(pieces)
