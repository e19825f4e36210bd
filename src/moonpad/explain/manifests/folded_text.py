"""A command that YAML folds (`>`): one line, though YAML keeps the ends of lines that are indented further."""

from __future__ import annotations

import re
from typing import Final

from yaml import Node, ScalarNode

from moonpad.explain.commands import Word
from moonpad.values.records import replace

_GOES_ON: Final = re.compile(r"\s*(?:$|--?[A-Za-z]|['\"{}\[\]])")


def folded(node: Node, word: Word) -> Word:
    """`word` is the value of the node: on one line where every other line is an option, or a part of JSON."""
    lines = word.text.strip().split("\n") if isinstance(node, ScalarNode) and node.style == ">" else []
    if len(lines) < 2 or not all(map(_GOES_ON.match, lines[1:])):
        return word
    return replace(word, text=word.text.rstrip("\n").replace("\n", " "))


def unfolded(node: Node, word: Word) -> Word:
    """`Start command: vllm serve … \\` with its next lines below is prose that happens to be YAML, which puts the lines
    behind one another: the backslashes at their ends, each before a blank now, are what a shell takes out."""
    if not isinstance(node, ScalarNode) or node.style or node.start_mark.line == node.end_mark.line:
        return word
    return replace(word, text=re.sub(r"\\ (?=\S)", "  ", word.text))
