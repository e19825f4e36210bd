"""Where an answer differs from the model's own text. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from moonpad.load.openai_schema import Message, ToolCall, Usage
from moonpad.verify.envelope import TokenLogprob
from moonpad.verify.numerics.compare import LEAST_LARGEST
from moonpad.verify.own_text.continuation import Continuation
from moonpad.verify.own_text.kimi_text import OwnAnswer
from moonpad.verify.probe_helpers import SPECIAL_TOKEN, THINK_TAG

SHOWN: Final = 70
CLEAR_MARGIN: Final = LEAST_LARGEST
"""Nats: as far as the log-probabilities of two sound engines may be apart (`verify --numerics`)."""
BROKEN: Final = "\ufffd"
"""Shown for a part of a character."""
REASONING_SLACK: Final = 2
"""Tokens: some engines count the tags of the thinking too."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One part of an answer, as the model wrote it and as the server answered it. `in_text`: another text could explain
    it, so the numbers of the engine may be why."""

    part: str
    expected: str
    got: str
    in_text: bool = True

    def against(self, source: str) -> str:
        """In a sentence; `source` is where the expected text stands."""
        return f"{self.part} is {self.got}, {source} has {self.expected}"


def differences(own: OwnAnswer, got: Message, *, calls: bool = True, most_calls: int | None = None) -> list[Difference]:
    """`calls`: False if the request forbids them; `most_calls`: 1 if it forbids several."""
    return list(_differences(own, got, calls, most_calls))


def _differences(own: OwnAnswer, got: Message, calls: bool, most_calls: int | None) -> Iterator[Difference]:
    if not _same(own.reasoning, got.reasoning, own.cut):
        yield _of_text("reasoning", own.reasoning, got.reasoning)
    if own.calls and not calls:
        return
    if own.problem and not own.cut:
        return
    whole = own.whole_calls[:most_calls]
    yield from _of_calls(whole, got.tool_calls, exact=not own.problem)
    if own.problem:
        return
    if not _same(own.content, got.content, own.cut):
        yield _of_text("content", own.content, got.content)
    allowed = {own.finish_reason, *(("tool_calls",) if own.cut and own.calls else ())}
    if got.finish_reason not in allowed:
        yield Difference("finish_reason", repr(own.finish_reason), repr(got.finish_reason), in_text=False)


def _of_calls(expected: tuple[ToolCall, ...], got: tuple[ToolCall, ...], *, exact: bool) -> Iterator[Difference]:
    """`exact`: False if the limit cut another one, which may be missing or be there in part."""
    if len(got) < len(expected) or (exact and len(got) > len(expected)):
        yield Difference("the number of calls", f"{len(expected)}{_listed(expected)}", f"{len(got)}{_listed(got)}")
        return
    for number, (own, other) in enumerate(zip(expected, got, strict=False)):
        for part in ("id", "name", "arguments"):
            ours, theirs = getattr(own, part), getattr(other, part)
            if ours != theirs:
                yield _of_text(f"{part} of call {number}", ours, theirs)


def wrong_usage(
    expected: Usage, got: Usage | None, *, completion: bool = True, exact_thinking: bool = False
) -> list[Difference]:
    """`expected` as the plain completion counts. `completion`: False if the generated tokens may differ in number.
    `exact_thinking`: the engine counts the thinking without its tags."""
    if got is None:
        return [Difference("usage", f"{expected.completion_tokens} completion tokens", "missing", in_text=False)]
    rows = [("completion_tokens", expected.completion_tokens, got.completion_tokens)] if completion else []
    if got.prompt_tokens is not None and got.completion_tokens is not None:
        rows.append(("total_tokens", got.prompt_tokens + got.completion_tokens, got.total_tokens))
    wrong = [
        Difference(f"usage.{name}", str(ours), str(theirs), in_text=False)
        for name, ours, theirs in rows
        if ours is not None and ours != theirs
    ]
    thought, counted = expected.reasoning_tokens, got.reasoning_tokens
    slack = 0 if exact_thinking else REASONING_SLACK
    if completion and thought is not None and counted is not None and abs(thought - counted) > slack:
        wrong.append(Difference("usage.reasoning_tokens", str(thought), str(counted), in_text=False))
    return wrong


def wrong_logprobs(own: Continuation, got: Sequence[TokenLogprob]) -> list[Difference]:
    """Of the answer's tokens and their rivals, by those of the plain completion. A part of a character has no one
    text."""
    if not got or not own.tokens:
        return []
    if len(got) != len(own.tokens):
        return [Difference("logprobs", f"{len(own.tokens)} tokens", f"of {len(got)} tokens", in_text=False)]
    for place, (token, row) in enumerate(zip(own.tokens, got, strict=True)):
        if not token.text or not row.text or BROKEN in token.text + row.text:
            continue
        pairs = {**row.likeliest, row.text: row.value}
        known = {text: value for text, value in token.likeliest.items() if text and BROKEN not in text}
        apart = next((text for text in known if text in pairs and _apart(known[text], pairs[text])), None)
        if row.text != token.text or apart is not None:
            ours = f"{apart or token.text!r} {known.get(apart or token.text, 0.0):.2f}"
            theirs = f"{apart or row.text!r} {pairs[apart or row.text]:.2f}"
            return [Difference(f"the log-probability at token {place}", ours, theirs, in_text=False)]
    return []


def _apart(ours: float, theirs: float) -> bool:
    """Unlikely tokens vary more."""
    return abs(ours - theirs) > CLEAR_MARGIN + 0.1 * abs(ours)


def wrong_tokens(own: Continuation) -> list[Difference]:
    """Whether the text of a plain completion is that of its own tokens: one without the other was changed on the way.
    Where a token is a part of a character, or the text ends before a stop string, nothing can be told."""
    texts = [token.text for token in own.tokens]
    joined, whole = (_without_marks(text) for text in ("".join(texts), own.text))
    counted = own.usage.completion_tokens
    if not texts or BROKEN in joined + whole:
        return []
    if joined != whole:
        return [_of_text("the text of /v1/completions", joined, whole)]
    if counted is not None and counted != len(texts):
        return [Difference("usage of /v1/completions", f"{len(texts)} tokens", str(counted), in_text=False)]
    return []


def _without_marks(text: str) -> str:
    """Some endpoints leave special tokens out."""
    return THINK_TAG.sub("", SPECIAL_TOKEN.sub("", text))


def _same(expected: str, got: str, cut: bool) -> bool:
    """Engines may strip the white space around a part; a limit may cut a character of several bytes."""
    if cut:
        expected, got = expected.rstrip(BROKEN), got.rstrip(BROKEN)
    return got in (expected, expected.strip(), expected.lstrip(), expected.rstrip())


def _of_text(part: str, expected: str, got: str) -> Difference:
    at = common_prefix(expected, got)
    start = max(0, at - SHOWN // 2)
    where = f" from character {at} on" if start else ""
    return Difference(f"{part}{where}", repr(_excerpt(expected, start)), repr(_excerpt(got, start)))


def common_prefix(first: Sequence[object], second: Sequence[object]) -> int:
    """How many characters or tokens at the beginning are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _excerpt(text: str, start: int) -> str:
    piece = text[start : start + SHOWN]
    return f"{'…' if start else ''}{piece}{'…' if start + SHOWN < len(text) else ''}"


def _listed(calls: tuple[ToolCall, ...]) -> str:
    listed = "; ".join(f"{call.id} {call.arguments[:40]}" for call in calls[:4])
    return f" ({listed})" if listed else ""
