"""A stream has the same content as one answer."""

from itertools import takewhile

from moonpad.load.openai_schema import Message
from moonpad.values.finding import Code
from moonpad.verify.api import Api, Body
from moonpad.verify.probe import Outcome, ProbeEnded, failed, passed, probe, skipped
from moonpad.verify.probe_helpers import CALCULATION, ask, ask_streamed, completion_tokens, greedy

PARTS = ("content", "reasoning", "finish_reason")
REMEDY = "ask the engine directly, without the proxy; if it streams the same, update it: the fault is in its parsers"


@probe("streaming")
async def streaming(api: Api) -> Outcome:
    body = greedy(CALCULATION)
    whole = await ask(api, body)
    streamed = await stream(api, body)
    if lost := _lost_in_stream(whole, streamed):
        return lost
    if _different(whole, streamed):
        # A greedy answer may vary with a cache hit or the batch, as the first and the second of these do.
        again = await ask(api, body)
        if _different(again, streamed):
            if _different(whole, again):
                return skipped("greedy answers to one question differ without streaming too: a stream cannot be judged")
            return _unequal(whole, streamed)
        whole = again
    expected, count = completion_tokens(whole), completion_tokens(streamed)
    if expected is not None and count is not None and count != expected:
        return _broken(f"usage counts {count} completion tokens streamed and {expected} without, for the same text")
    content, reasoning = len(streamed.content), len(streamed.reasoning)
    return passed(f"equal: {content} characters of content, {reasoning} of reasoning; [DONE], usage")


async def stream(api: Api, body: Body) -> Message:
    """The streamed answer as one message.

    Raises:
        ProbeEnded: the stream was refused, is broken, or does not end with [DONE].
    """
    collected = await ask_streamed(api, body, REMEDY)
    if not collected.done:
        raise ProbeEnded(_broken(f"the stream ends without [DONE] after {len(collected.deltas)} events"))
    return collected.message


def _lost_in_stream(whole: Message, streamed: Message) -> Outcome | None:
    if whole.reasoning and not streamed.reasoning:
        message = f"the stream has no reasoning; without streaming it is {len(whole.reasoning)} characters"
        remedy = "start the newest release of the engine with its reasoning parser for Kimi (kimi_k2)"
        return failed(Code.REASONING_LOST, "--reasoning-parser", message, remedy)
    if whole.content and not streamed.content:
        return _broken(f"the stream has no content; without streaming it is {len(whole.content)} characters")
    if not streamed.finish_reason:
        return _broken("the stream has no finish_reason")
    if streamed.usage is None:
        return _broken("the stream has no usage, though stream_options.include_usage asked for it")
    return None


def _different(first: Message, second: Message) -> tuple[str, ...]:
    """Which parts of two answers differ."""
    return tuple(part for part in PARTS if getattr(first, part) != getattr(second, part))


def _unequal(whole: Message, streamed: Message) -> Outcome:
    part = _different(whole, streamed)[0]
    expected, got = getattr(whole, part), getattr(streamed, part)
    at = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(expected, got, strict=False)))
    around = slice(max(0, at - 20), at + 20)
    texts = f"{got[around]!r}, without streaming {expected[around]!r}"
    return _broken(f"the streamed {part} differs from character {at} on: {texts}")


def _broken(message: str) -> Outcome:
    return failed(Code.STREAM_BROKEN, "stream", message, REMEDY)
