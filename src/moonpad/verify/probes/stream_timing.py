"""A stream comes as it is generated, and ends when its client leaves."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import Final

from moonpad.load.openai_schema import Broken, Delta, Event, HttpRefusal
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.probe import Outcome, ProbeEnded, failed, passed, probe, skipped
from moonpad.verify.probe_helpers import LOOK_AT_LOG, greedy, no_answer
from moonpad.verify.probes.liveness import running

STORY_TOKENS: Final = 200
LEAST_EVENTS: Final = 20
LEAST_S: Final = 0.3
LATE: Final = 0.9
"""If the first piece comes after this share of the whole time, and most others with it, the stream was buffered."""

STREAMS: Final = 4
STOPS_WITHIN_S: Final = 10.0
POLL_S: Final = 0.2


@probe("buffering")
async def buffering(api: Api) -> Outcome:
    begun_s = time.monotonic()
    arrivals: list[float] = []
    story = greedy("Tell me a story of the sea.", max_tokens=STORY_TOKENS, ignore_eos=True)
    async with aclosing(api.stream(story)) as events:
        async for event in events:
            _check(api, event)
            if isinstance(event, Delta) and (event.content or event.reasoning):
                arrivals.append(time.monotonic() - begun_s)
    return judge_arrivals(arrivals)


def _check(api: Api, event: Event) -> None:
    """
    Raises:
        ProbeEnded: the stream was refused or is broken.
    """
    if isinstance(event, HttpRefusal):
        raise ProbeEnded(no_answer(api, event.reply))
    if isinstance(event, Broken):
        raise ProbeEnded(failed(Code.STREAM_BROKEN, "stream", event.because, LOOK_AT_LOG))


def judge_arrivals(arrivals: Sequence[float]) -> Outcome:
    """By the seconds at which the pieces of a stream came."""
    if not arrivals:
        return failed(Code.STREAM_BROKEN, "stream", "the stream has no text", LOOK_AT_LOG)
    if len(arrivals) < LEAST_EVENTS:
        return skipped(f"the stream has only {len(arrivals)} pieces of text: too few to tell")
    first_s, last_s = arrivals[0], arrivals[-1]
    if last_s < LEAST_S:
        return skipped(f"the whole stream took {last_s * 1000:.0f} ms: too short to tell")
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
    async with aclosing(api.stream(body)) as events:
        async for event in events:
            _check(api, event)
            return


async def _count(api: Api) -> float | None:
    reply = await api.get_root("/metrics")
    return running(reply.text) if reply.status == 200 else None
