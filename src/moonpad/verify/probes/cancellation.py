"""Clients that go away."""

import asyncio
import time
from contextlib import aclosing
from typing import Final

from moonpad.load.wire import Broken, Refused
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import greedy, no_answer
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, passed, skipped
from moonpad.verify.probes.metrics import running

STREAMS: Final = 4
WITHIN_S: Final = 10.0
LOOK_S: Final = 0.2


async def run(api: Api) -> Outcome:
    before = await count(api)
    if before is None:
        return skipped("no /metrics says how many requests run, so nobody can tell whether one was let go")
    outcomes = await asyncio.gather(*(leave(api) for _ in range(STREAMS)))
    if fault := next((one for one in outcomes if one is not None), None):
        return fault
    left_s = time.monotonic()
    now = await count(api)
    while now is not None and now > before:
        if time.monotonic() - left_s > WITHIN_S:
            message = f"{now - before:.0f} of {STREAMS} requests still run {WITHIN_S:.0f} s after their clients left"
            remedy = "update the engine; let the proxy close its connection when the client does"
            return failed(Code.STREAM_BROKEN, "stream", message, remedy)
        await asyncio.sleep(LOOK_S)
        now = await count(api)
    return passed(f"{STREAMS} streams that were left ran no longer {time.monotonic() - left_s:.1f} s later")


async def leave(api: Api) -> Outcome | None:
    """Begins a stream that would go on for long, and goes at its first token."""
    body = greedy("Count from one to ten thousand.", max_tokens=1500, ignore_eos=True)
    async with aclosing(api.stream(body)) as events:
        async for event in events:
            if isinstance(event, Refused):
                return no_answer(api, event.reply)
            if isinstance(event, Broken):
                return failed(Code.STREAM_BROKEN, "stream", event.because, "look at the engine's log: moonpad logs")
            return None
    return None


async def count(api: Api) -> float | None:
    reply = await api.get_root("/metrics")
    return running(reply.text) if reply.status == 200 else None


PROBE = Probe(
    id="cancellation",
    proves="requests whose clients went away stop within ten seconds",
    matters="abandoned answers that run on take the slots of those who wait",
    mend=Mend(each="the engine's newest release", gateway="close the connection behind it when the client does"),
    run=run,
)
