"""Tokens as they are made."""

import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import Final

from moonpad.load.wire import Broken, Delta, Refused
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import greedy, no_answer
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, passed, skipped

LIMIT: Final = 200
LEAST_EVENTS: Final = 20
LEAST_S: Final = 0.3
LATE: Final = 0.9
"""The share of the whole time after which the first piece counts as held back, where most of them come with it."""


async def run(api: Api) -> Outcome:
    begun_s = time.monotonic()
    arrivals: list[float] = []
    async with aclosing(api.stream(greedy("Tell me a story of the sea.", max_tokens=LIMIT, ignore_eos=True))) as events:
        async for event in events:
            if isinstance(event, Refused):
                return no_answer(api, event.reply)
            if isinstance(event, Broken):
                return failed(Code.STREAM_BROKEN, "stream", event.because, "look at the engine's log: moonpad logs")
            if isinstance(event, Delta) and (event.content or event.reasoning):
                arrivals.append(time.monotonic() - begun_s)
    return judge(arrivals)


def judge(arrivals: Sequence[float]) -> Outcome:
    """By the seconds at which the pieces of a stream came."""
    if len(arrivals) < LEAST_EVENTS:
        return few(arrivals)
    first_s, last_s = arrivals[0], arrivals[-1]
    if last_s < LEAST_S:
        return skipped(f"the whole stream took {last_s * 1000:.0f} ms, too short to tell")
    if first_s > LATE * last_s:
        message = f"nothing comes for {first_s:.1f} s, then {len(arrivals)} pieces within {last_s - first_s:.2f} s"
        remedy = "turn the proxy's buffering off (nginx: proxy_buffering off, X-Accel-Buffering: no; litellm#26102)"
        return failed(Code.STREAM_BROKEN, "stream", message, remedy)
    return passed(f"{len(arrivals)} pieces over {last_s:.1f} s, the first after {first_s:.2f} s")


def few(arrivals: Sequence[float]) -> Outcome:
    if not arrivals:
        return failed(
            Code.STREAM_BROKEN, "stream", "a stream without any text", "look at the engine's log: moonpad logs"
        )
    return skipped(f"the stream has {len(arrivals)} pieces of text, too few to tell")


PROBE = Probe(
    id="buffering",
    proves="the pieces of a stream come as they are made, not together at its end",
    matters="a proxy that buffers turns a time to first token into that of the last",
    mend=Mend(
        vllm="leave --stream-interval out",
        sglang="leave --stream-interval out",
        gateway="nginx: proxy_buffering off; Kubernetes' nginx ingress: its annotation proxy-buffering off",
    ),
    known=("litellm#26102",),
    run=run,
)
