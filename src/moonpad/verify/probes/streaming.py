"""A stream has the same content as one answer, comes as it is generated, and ends when its client leaves."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing
from itertools import takewhile
from typing import Final

from moonpad.load.loop_lag import watch_lag
from moonpad.load.openai_schema import Delta, Done, Message, join
from moonpad.values.finding import Code
from moonpad.verify.api import Api, Body
from moonpad.verify.probe import Outcome, ProbeEnded, Status, failed, passed, probe, skipped
from moonpad.verify.probe_helpers import CALCULATION, LOOK_AT_LOG, ask, completion_tokens, events_of, greedy
from moonpad.verify.probes.liveness import running

STORY_TOKENS: Final = 200
LEAST_EVENTS: Final = 20
LEAST_S: Final = 0.3
SHORT_S: Final = 5.0
LONGER: Final = 4
LATE: Final = 0.9
"""If the first piece comes after this share of the whole time, and most others with it, the stream was buffered."""

STREAMS: Final = 4
STOPS_WITHIN_S: Final = 10.0
POLL_S: Final = 0.2

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
    events = [event async for event in events_of(api, body, REMEDY)]
    if Done() not in events:
        raise ProbeEnded(_broken(f"the stream ends without [DONE] after {len(events)} events"))
    return join(event for event in events if isinstance(event, Delta))


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


@probe("buffering")
async def buffering(api: Api) -> Outcome:
    return await judge_buffering(api)


async def judge_buffering(api: Api) -> Outcome:
    outcome, whole_s = await _story(api, STORY_TOKENS)
    if outcome.status is Status.PASS:
        return outcome
    # This client, or whoever passes a short stream on, may have stood still for as long as it took: one that buffers
    # does so with a long one too.
    outcome, _ = await _story(api, STORY_TOKENS * (LONGER if whole_s < SHORT_S else 1))
    return outcome


async def _story(api: Api, tokens: int) -> tuple[Outcome, float]:
    """Whether its pieces come as they are written, and the seconds until the last."""
    begun_s = time.monotonic()
    arrivals: list[float] = []
    story = greedy("Tell me a story of the sea.", max_tokens=tokens, ignore_eos=True)
    async with watch_lag(time.monotonic) as lag, aclosing(events_of(api, story, LOOK_AT_LOG)) as events:
        async for event in events:
            if isinstance(event, Delta) and (event.content or event.reasoning):
                arrivals.append(time.monotonic() - begun_s)
    return timely(arrivals, lag.longest_s), arrivals[-1] if arrivals else 0.0


def timely(arrivals: Sequence[float], client_late_s: float) -> Outcome:
    """By the seconds at which the pieces of a stream came, and how long the client itself stood still."""
    if not arrivals:
        return failed(Code.STREAM_BROKEN, "stream", "the stream has no text", LOOK_AT_LOG)
    if len(arrivals) < LEAST_EVENTS:
        return skipped(f"the stream has only {len(arrivals)} pieces of text: too few to tell")
    first_s, last_s = arrivals[0], arrivals[-1]
    if last_s < LEAST_S:
        return skipped(f"the whole stream took {last_s * 1000:.0f} ms: too short to tell")
    if first_s > LATE * last_s >= first_s - client_late_s:
        return skipped(f"this client stood still for {client_late_s:.1f} s: what came late may be its own fault")
    if first_s > LATE * last_s:
        message = f"nothing comes for {first_s:.1f} s, then {len(arrivals)} pieces within {last_s - first_s:.2f} s"
        remedy = "turn the proxy's buffering off (nginx: proxy_buffering off, or X-Accel-Buffering: no)"
        return failed(Code.STREAM_BROKEN, "stream", message, remedy)
    return passed(f"{len(arrivals)} pieces over {last_s:.1f} s, the first after {first_s:.2f} s")


@probe("cancellation")
async def cancellation(api: Api) -> Outcome:
    before = await _count(api)
    if before is None:
        return skipped("no /metrics reports how many requests run, so it cannot be seen whether one stopped")
    await asyncio.gather(*(_leave(api) for _ in range(STREAMS)))
    left_s = time.monotonic()
    while (now := await _count(api)) is not None and now > before:
        if time.monotonic() - left_s > STOPS_WITHIN_S:
            count = f"{now - before:.0f} of {STREAMS} requests"
            message = f"{count} still run {STOPS_WITHIN_S:.0f} s after their clients disconnected"
            remedy = "update the engine; let the proxy close its connection when the client does"
            return failed(Code.STREAM_BROKEN, "stream", message, remedy)
        await asyncio.sleep(POLL_S)
    return passed(f"{STREAMS} abandoned streams had stopped after {time.monotonic() - left_s:.1f} s")


async def _leave(api: Api) -> None:
    """Starts a long stream and disconnects at its first event."""
    body = greedy("Count from one to ten thousand.", max_tokens=1500, ignore_eos=True)
    async with aclosing(events_of(api, body, LOOK_AT_LOG)) as events:
        await anext(events, None)


async def _count(api: Api) -> float | None:
    reply = await api.get_root("/metrics")
    return running(reply.text) if reply.status == 200 else None
