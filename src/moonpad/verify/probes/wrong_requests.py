"""Requests that must be refused: a model that is not served, and bodies that are wrong."""

import json
import math
import time
from collections.abc import Mapping
from typing import Final

from moonpad.load.openai_schema import Reply
from moonpad.values.errors import ContactLost
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace
from moonpad.verify.api import Api
from moonpad.verify.judged_model import served_by
from moonpad.verify.probe import Outcome, failed, passed, probe, skipped
from moonpad.verify.probe_helpers import LOOK_AT_LOG, ask, greedy, no_answer

WHERE: Final = "/v1/chat/completions"
NO_MODEL: Final = "moonpad-no-such-model"

WITHIN_S: Final = 1.0
ATTEMPTS: Final = 3
LIMIT_S: Final = 20.0
LARGE_LIMIT_S: Final = 60.0
"""The large one is read and counted before it can be refused: SGLang takes 6 s on two idle cores, 36 s on busy ones."""
BUSY: Final = 2.0
"""Times the answer to a right request, asked just after."""
LARGE: Final = "4 MB of text"
HELLO: Final = [{"role": "user", "content": "Hello!"}]


@probe("wrong_model")
async def wrong_model(api: Api) -> Outcome:
    reply = await api.post("/chat/completions", greedy("Hello!", model=NO_MODEL, max_tokens=1))
    engine = await served_by(api)
    if reply.status == 200 and engine and engine.answers_any_model:
        return skipped(f"{engine.title} answers requests for any model name: let clients check /v1/models first")
    if reply.status == 200:
        message = f"a request for {NO_MODEL!r} was answered as if that model were served"
        remedy = "let clients check /v1/models first; behind a gateway, correct its routes"
        return failed(Code.MODEL_NAME, WHERE, message, remedy)
    if reply.status in (401, 403):
        return no_answer(api, reply)
    if reply.status != 404:
        message = f"a request for {NO_MODEL!r} is answered {reply.status}, expected 404: {reply.error_text()}"
        return failed(Code.MODEL_NAME, WHERE, message, "ask the engine directly: a gateway may change the status")
    if reply.json() is None or NO_MODEL not in reply.error_text():
        message = f"the 404 does not name the model: {reply.error_text()}"
        return failed(Code.MODEL_NAME, WHERE, message, "check the path: the 404 may come from a gateway")
    return await _dead_after(api) or passed(f"HTTP 404: {reply.error_text()}")


async def _dead_after(api: Api) -> Outcome | None:
    try:
        reply = await api.get("/models")
    except ContactLost as error:
        message = f"the server is gone after the request: {error.message}"
        return failed(Code.UNREACHABLE, "/v1/models", message, LOOK_AT_LOG)
    if reply.status == 200:
        return None
    message = f"after the request /v1/models answers {reply.status}: {reply.error_text()}"
    return failed(Code.UNREACHABLE, "/v1/models", message, LOOK_AT_LOG)


def bodies(model: str) -> Mapping[str, bytes]:
    """Each is wrong by the API's documentation, whatever the engine."""

    def body(**fields: object) -> bytes:
        return json.dumps({"model": model, "messages": HELLO, "max_tokens": 1, **fields}).encode()

    return {
        "JSON that is cut": body()[:-12],
        "text instead of JSON": b"hello",
        "an empty body": b"",
        "a JSON list": b"[1, 2]",
        "invalid UTF-8": body().replace(b"Hello!", b"\xff\xfe\x80"),
        "a text as messages": body(messages="Hello!"),
        "no messages": body(messages=None),
        "a message without a role": body(messages=[{"content": "Hello!"}]),
        "a text as temperature": body(temperature="hot"),
        "a temperature of -1": body(temperature=-1),
        "top_p of 7": body(top_p=7),
        "max_tokens of -5": body(max_tokens=-5),
        "a number as tools": body(tools=7),
        LARGE: body(messages=[{"role": "user", "content": "la " * 1_400_000}]),
    }


@probe("bad_requests")
async def bad_requests(api: Api) -> Outcome:
    engine = await served_by(api)
    slowest, slowest_s = "", 0.0
    warnings: list[Finding] = []
    requests = bodies(api.endpoint.model)
    for what, body in requests.items():
        try:
            reply, took_s = await _quickest(api, body, large=what == LARGE)
        except ContactLost as error:
            return failed(Code.BAD_REQUEST, WHERE, f"{what}: {error.message}", LOOK_AT_LOG)
        if fault := _not_refused(what, reply):
            if reply.status != 500 or engine is None or what not in engine.survives_500:
                return fault
            warnings += [replace(finding, severity=Severity.WARNING) for finding in fault.findings]
        if took_s > slowest_s and what != LARGE:
            slowest, slowest_s = what, took_s
    begun_s = time.monotonic()
    await ask(api, greedy("Hello!", max_tokens=1))
    right_s = time.monotonic() - begun_s
    # A busy server is late with right requests too, and nothing is wrong with how it refuses the others.
    if slowest_s > max(WITHIN_S, BUSY * right_s):
        message = f"{slowest} is refused after {slowest_s:.1f} s, expected within {WITHIN_S:.0f} s"
        return failed(Code.BAD_REQUEST, WHERE, message, "run it again when the server is idle")
    count = f"{len(requests) - len(warnings)} of {len(requests)} wrong requests are refused"
    return passed(f"{count}, the slowest after {slowest_s * 1000:.0f} ms; the server still answers", *warnings)


async def _quickest(api: Api, body: bytes, *, large: bool) -> tuple[Reply, float]:
    """The answer and its seconds; asked again if it is late, since a busy machine may be why."""
    best_s = math.inf
    for _ in range(1 if large else ATTEMPTS):
        begun_s = time.monotonic()
        reply = await api.post_bytes("/chat/completions", body, answer_s=LARGE_LIMIT_S if large else LIMIT_S)
        best_s = min(best_s, time.monotonic() - begun_s)
        if best_s <= WITHIN_S:
            break
    return reply, best_s


def _not_refused(what: str, reply: Reply) -> Outcome | None:
    if 400 <= reply.status < 500:
        return None
    if reply.status == 200:
        remedy = "check requests in the client: this server does not"
        return failed(Code.BAD_REQUEST, WHERE, f"{what} is answered like a valid request", remedy)
    message = f"{what} is answered {reply.status}, expected 4xx: {reply.error_text()}"
    return failed(Code.BAD_REQUEST, WHERE, message, "update the engine; until then let a gateway refuse such requests")
