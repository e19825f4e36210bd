"""Paths that a Python program joins of parts."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from moonpad.explain.commands import Piece, Word
from moonpad.explain.python.data import Text, Value
from moonpad.values.records import replace

if TYPE_CHECKING:
    from moonpad.explain.python.values import Evaluator


def path_of(reader: Evaluator, node: ast.expr, parts: Sequence[Value]) -> Text:
    """`os.path.join(a, b)`, `Path(a) / b`: with the names in it that are not known."""
    texts = [part for part in parts if isinstance(part, Text)]
    if len(texts) < len(parts) or not any(isinstance(text.value, str) for text in texts):
        return reader.unknown(node)
    begin, end = reader.places.of(node)
    words: list[Word] = []
    for text in texts:
        text.used = True
        absolute = text.word.text.startswith("/")
        words = [text.word] if absolute else [*words, *((Word("/"),) if words else ()), text.word]
    words = [replace(word, pieces=(Piece(0, len(word.text), begin, end),)) for word in words]
    return reader.text(words, begin, end, known=all(text.known for text in texts))
