"""Recognises the typical read of a stream without parsing it: one HTTP chunk with one event that has one more token.

Servers send the same JSON for each token, except for its text, its answer's id and the second. Once one such event
was parsed, a read that differs in nothing else needs no parser. Any other read goes to the parsers, which accept all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import orjson

from moonpad.load.failure import RequestFailed
from moonpad.load.stream_chunk import Chunk, chunk_of, parse_chunk

KEYS: Final = ("content", "reasoning", "reasoning_content", "text")
PLAIN: Final = rb"[ !#-\[\]-\x7f]"
"""An ASCII character that a JSON string holds unescaped: no quote, backslash or control character."""
UTF8: Final = (
    rb"[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|\xed[\x80-\x9f][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}"
    rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}"
)
"""Characters beyond ASCII: https://www.unicode.org/versions/Unicode15.0.0/ch03.pdf, table 3-7."""
TEXT: Final = rb'(?!")%s*(?:(?:%s|\\["\\/bfnrt])%s*)*' % (PLAIN, UTF8, PLAIN)
"""A JSON string that is not empty, without its quotes."""
NUMBER: Final = rb"[1-9][0-9]*"
BEGIN: Final = re.compile(
    rb'\{"id": ?"(?P<id>%s+)", ?"object": ?"(?:chat\.completion\.chunk|text_completion)", ?'
    rb'(?:"created": ?(?P<created>%s),)?' % (PLAIN, NUMBER)
)
"""How engines begin an event: the answer's id and its second."""
PROBE: Final = b"moonpad"
NEVER: Final = b"\n"
"""No chunk begins with it."""
MOST_RESTS: Final = 32
TRIALS: Final = 16
"""Attempts to find a pattern, so that a server without one does not cost two parses per event."""


class TokenPattern:
    """`chunk` is the meaning of every read that `matches_read` accepts."""

    __slots__ = ("_begins", "_is_one", "chunk")

    def __init__(self, payload: bytes, chunk: Chunk) -> None:
        """`payload`: a regular expression."""
        self._is_one = re.compile(rb"\r\ndata: %s\n\n\r\n" % payload).fullmatch
        self._begins: dict[int, bytes] = {}
        self.chunk = chunk

    def matches_read(self, data: bytes) -> bool:
        """Whether `data`, read where an HTTP chunk begins, is one whole chunk of one such event."""
        size = len(data)
        begin = self._begins.get(size) or self._begin_of(size)
        return data.startswith(begin) and self._is_one(data, len(begin)) is not None

    def matches_event(self, payload: bytes) -> bool:
        """Whether the payload of an event has this pattern."""
        return self._is_one(b"\r\ndata: %s\n\n\r\n" % payload) is not None

    def _begin_of(self, size: int) -> bytes:
        """How a read of `size` bytes begins if it is one whole chunk: with that size less the frame, in hexadecimal."""
        digits = b"%x" % max(0, size - 4 - len(b"%x" % size))
        if 4 + len(digits) + int(digits, 16) < size:  # the size has a digit less than that of the whole read
            digits = b"%x" % (size - 4 - len(digits))
        is_one = 4 + len(digits) + int(digits, 16) == size
        begin = self._begins[size] = digits if is_one else NEVER
        return begin


class TokenPatterns:
    """The patterns learnt from the streams of one server.

    last: that of the last event with a token that was parsed; the first token of a new stream may have it too.
    """

    def __init__(self) -> None:
        self.last: TokenPattern | None = None
        self._patterns: dict[Chunk, list[TokenPattern]] = {}
        self._trials = TRIALS
        self._rests: dict[bytes, Chunk] = {}

    def chunk_of(self, payload: bytes) -> Chunk:
        """Parses the event, unless it is known from another answer: the first and last events of all answers are alike.

        Raises:
            RequestFailed: the payload is an error of the server, or not a chunk of a chat or text completion.
        """
        begin = BEGIN.match(payload)
        if begin is None:
            return parse_chunk(payload)
        rest = payload[begin.end() :]
        chunk = self._rests.get(rest)
        if chunk is None:
            chunk = parse_chunk(payload)
            if not chunk.bears_tokens and not chunk.usage and len(self._rests) < MOST_RESTS:
                self._rests[rest] = chunk
        return chunk

    def of(self, payload: bytes, chunk: Chunk) -> TokenPattern | None:
        """The pattern of the likely next read after this event; None if unknown."""
        patterns = self._patterns.get(chunk, ())
        usual = next((pattern for pattern in patterns if pattern.matches_event(payload)), None)
        if usual is None and self._trials and (usual := pattern_after(payload, chunk)) is not None:
            self._trials -= 1
            self._patterns.setdefault(chunk, []).append(usual)
        self.last = usual or self.last
        return usual


class _Span(NamedTuple):
    """A part of an event that may differ: `pattern` matches what may be there, `other` is an example."""

    start: int
    end: int
    pattern: bytes
    other: bytes


def pattern_after(payload: bytes, chunk: Chunk) -> TokenPattern | None:
    """A pattern of this event in which only text, id and second may differ; None if it cannot be told."""
    if chunk.finish_reason or chunk.usage or chunk.tool_calls or chunk.content == chunk.reasoning:  # a wordless one too
        return None
    for key in KEYS:
        match = re.search(rb'"%s": ?"(%s)"' % (key.encode(), TEXT), payload)
        if match is None:
            continue
        spans = [_Span(*match.span(1), TEXT, PROBE)]
        if (begin := BEGIN.match(payload)) and begin.end() <= match.start():
            if begin["created"]:
                spans.insert(0, _Span(*begin.span("created"), NUMBER, b"7"))
            spans.insert(0, _Span(*begin.span("id"), PLAIN + b"+", PROBE))
        if _stands_for(_with_others(payload, spans), key, chunk):
            return TokenPattern(_pattern(payload, spans), chunk)
    return None


def _with_others(payload: bytes, spans: Sequence[_Span]) -> bytes:
    for span in reversed(spans):
        payload = payload[: span.start] + span.other + payload[span.end :]
    return payload


def _pattern(payload: bytes, spans: Sequence[_Span]) -> bytes:
    pattern, at = b"", 0
    for span in spans:
        pattern += re.escape(payload[at : span.start]) + span.pattern
        at = span.end
    return pattern + re.escape(payload[at:])


def _stands_for(payload: bytes, key: str, chunk: Chunk) -> bool:
    """Whether the replaced text is the token's own: it is found where the token belongs, and the rest is unchanged."""
    try:
        document = orjson.loads(payload)
        if chunk_of(document) != chunk:
            return False
        choices = document["choices"]
    except (RequestFailed, ValueError, KeyError, TypeError, AttributeError):
        return False
    choice = choices[0] if len(choices) == 1 else {}
    return PROBE.decode() in (choice.get("text"), (choice.get("delta") or {}).get(key))
