"""The reads that make almost all of a stream, recognised at once: one HTTP chunk, one event, and in it another word.

Servers send the same JSON for each token but for its text. After one such event was parsed, a read that has the same
bytes around a plain text says nothing else than that event did, and needs no parser. Everything that is not exactly so
is for the parsers, which take anything.
"""

from __future__ import annotations

import re
from typing import Final

import orjson

from moonpad.load.chunk import Chunk, chunk_of
from moonpad.load.failure import RequestFailed

KEYS: Final = ("content", "reasoning", "reasoning_content", "text")
PLAIN: Final = re.compile(rb"[ !#-\[\]-~]+")
"""What stands in a JSON string as itself: no quote, no backslash, no control, ASCII."""
PROBE: Final = b"moonpad"
NEVER: Final = b"\n"
"""What no chunk begins with."""


class UsualRead:
    """`chunk` is what every read says for which `is_next` holds."""

    __slots__ = ("_after", "_after_bytes", "_before", "_begins", "chunk")

    def __init__(self, before: bytes, after: bytes, chunk: Chunk) -> None:
        """`before` and `after`: the payload up to its text and from its end on, quotes included."""
        self._before = b"\r\ndata: " + before
        self._after = after + b"\n\n\r\n"
        self._after_bytes = len(self._after)
        self._begins: dict[int, bytes] = {}
        self.chunk = chunk

    def is_next(self, data: bytes) -> bool:
        """Whether `data`, read where an HTTP chunk begins, is one whole chunk of one such event."""
        size = len(data)
        begin = self._begins.get(size) or self._begin_of(size)
        if not data.startswith(begin) or not data.endswith(self._after):
            return False
        return PLAIN.fullmatch(data, len(begin), size - self._after_bytes) is not None

    def is_like(self, payload: bytes) -> bool:
        """Whether the event is one of these, or looks so much like one that there is nothing to learn from it."""
        return (b"\r\ndata: " + payload).startswith(self._before) and (payload + b"\n\n\r\n").endswith(self._after)

    def _begin_of(self, size: int) -> bytes:
        """How a read of so many bytes begins, if it is one whole chunk: with its own size, less the frame."""
        digits = b"%x" % max(0, size - 4 - len(b"%x" % size))
        if 4 + len(digits) + int(digits, 16) < size:  # the size has a digit less than that of the whole read
            digits = b"%x" % (size - 4 - len(digits))
        is_one = 4 + len(digits) + int(digits, 16) == size
        begin = self._begins[size] = digits + self._before if is_one else NEVER
        return begin


def usual_after(payload: bytes, chunk: Chunk) -> UsualRead | None:
    """What the next read will look like, if it differs from this event in the text alone; None where none could."""
    if chunk.finish_reason or chunk.usage or chunk.tool_calls or chunk.content == chunk.reasoning:  # a wordless one too
        return None
    for key in KEYS:
        for opening in (b'"%s":"' % key.encode(), b'"%s": "' % key.encode()):
            before, found, rest = payload.partition(opening)
            text = PLAIN.match(rest) if found else None
            if text is None or rest[text.end() : text.end() + 1] != b'"':
                continue
            before, after = before + opening, rest[text.end() :]
            if _stands_for(before + PROBE + after, key, chunk):
                return UsualRead(before, after, chunk)
    return None


def _stands_for(payload: bytes, key: str, chunk: Chunk) -> bool:
    """Whether the text between is the one that makes it a token: another text is found where it was put."""
    try:
        document = orjson.loads(payload)
        if chunk_of(document) != chunk:
            return False
        choices = document["choices"]
    except (RequestFailed, ValueError, KeyError, TypeError, AttributeError):
        return False
    one = choices[0] if len(choices) == 1 else {}
    return PROBE.decode() in (one.get("text"), (one.get("delta") or {}).get(key))
