"""Requests that are none."""

import json
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from moonpad.load.wire import Message, Reply
from moonpad.values.errors import ContactLost
from moonpad.values.finding import Code, Finding, Severity
from moonpad.verify.api import Api
from moonpad.verify.common import greedy, no_answer
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, passed
from moonpad.verify.subject import made_by

WHERE: Final = "/v1/chat/completions"
WITHIN_S: Final = 1.0
TURNS: Final = 3
LIMIT_S: Final = 20.0
MEGABYTES: Final = 4
KNOWN: Final = {("sglang", "a list")}
"""What an engine is known to answer with 500 and to survive (docs/engine-findings.md)."""
HELLO: Final = [{"role": "user", "content": "Hello!"}]


def requests(model: str) -> Sequence[tuple[str, bytes]]:
    """What it is, and its bytes: each is wrong by the API's documentation, whatever the engine."""

    def body(**fields: object) -> bytes:
        return json.dumps({"model": model, "messages": HELLO, "max_tokens": 1, **fields}).encode()

    return (
        ("JSON that is cut", body()[:-12]),
        ("no JSON at all", b"hello"),
        ("an empty body", b""),
        ("a list", b"[1, 2]"),
        ("bytes that are no UTF-8", body().replace(b"Hello!", b"\xff\xfe\x80")),
        ("messages that are a text", body(messages="Hello!")),
        ("no messages", body(messages=None)),
        ("a message without a role", body(messages=[{"content": "Hello!"}])),
        ("a temperature that is a text", body(temperature="hot")),
        ("a temperature of -1", body(temperature=-1)),
        ("top_p of 7", body(top_p=7)),
        ("max_tokens of -5", body(max_tokens=-5)),
        ("tools that are a number", body(tools=7)),
        (f"{MEGABYTES} MB of text", body(messages=[{"role": "user", "content": "la " * (MEGABYTES * 350_000)}])),
    )


async def run(api: Api) -> Outcome:
    engine = await made_by(api)
    slowest, slowest_s = "", 0.0
    known: list[Finding] = []
    for what, data in requests(api.endpoint.model):
        try:
            reply, took_s = await quickest(api, data)
        except ContactLost as error:
            message = f"{what}: {error.message}"
            return failed(Code.BAD_REQUEST, WHERE, message, "look at the engine's log: moonpad logs")
        if fault := wrong(what, reply):
            if reply.status != 500 or (engine, what) not in KNOWN:
                return fault
            known += [replace(one, severity=Severity.WARNING) for one in fault.findings]
        # The large one is read and counted before it can be refused.
        if took_s > slowest_s and not what.endswith("MB of text"):
            slowest, slowest_s = what, took_s
    if slowest_s > WITHIN_S:
        message = f"{slowest} is refused after {slowest_s:.1f} s, expected within {WITHIN_S:.0f} s"
        return failed(Code.BAD_REQUEST, WHERE, message, "a busy server may be why: ask again when it is idle")
    alive = await api.chat(greedy("Hello!", max_tokens=1))
    if not isinstance(alive, Message):
        return no_answer(api, alive)
    refused = f"{len(requests('')) - len(known)} of {len(requests(''))} wrong requests are refused"
    return passed(f"{refused}, the slowest after {slowest_s * 1000:.0f} ms; alive behind all of them", *known)


async def quickest(api: Api, data: bytes) -> tuple[Reply, float]:
    """The answer and its seconds; asked again where it was late, since a busy machine may be why."""
    best_s = math.inf
    for _ in range(TURNS):
        begun_s = time.monotonic()
        reply = await api.post_bytes("/chat/completions", data, answer_s=LIMIT_S)
        best_s = min(best_s, time.monotonic() - begun_s)
        if best_s <= WITHIN_S:
            break
    return reply, best_s


def wrong(what: str, reply: Reply) -> Outcome | None:
    if 400 <= reply.status < 500:
        return None
    if reply.status == 200:
        message = f"{what} is answered as if it were right"
        return failed(Code.BAD_REQUEST, WHERE, message, "check requests in the client: this server does not")
    message = f"{what} is answered {reply.status}, expected 4xx: {reply.error_text()}"
    return failed(Code.BAD_REQUEST, WHERE, message, "update the engine; until then refuse such requests before it")


PROBE = Probe(
    id="bad_requests",
    proves="malformed and impossible requests are refused with 4xx within a second, and the server lives on",
    matters="one client's mistake must not be everybody's outage",
    mend=Mend(each="the engine's newest release; until then a gateway that refuses such requests"),
    run=run,
)
