"""Whatever bytes an endpoint sends: a verdict comes, without a traceback, within the deadlines."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from dataclasses import dataclass, field

import pytest

from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import MoonpadError, UsageError
from moonpad.verify.api import Deadlines
from moonpad.verify.probe import Status
from moonpad.verify.probes import PROBES
from moonpad.verify.runner import Report, verify
from tests.broken_endpoints.server import BrokenEndpoint, serve

DEADLINES = Deadlines(connect_s=1.0, control_s=0.4, answer_s=0.4, idle_s=0.3, stream_s=0.6, canary_s=0.4)
# A probe asks at most 13 times in a row, and the one of wrong requests has 20 s for each of those that hang.
RUN_S = 120.0

CALL = {"id": "functions.get_weather:0", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
USAGE = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
LOGPROBS = {"content": [{"token": "a", "logprob": -0.1, "top_logprobs": [{"token": "a", "logprob": -0.1}]}] * 5}
MESSAGES = (
    {"role": "assistant", "content": "126", "reasoning": "84 * 3"},
    {"role": "assistant", "content": None, "tool_calls": [CALL, CALL]},
    {"role": "assistant", "content": '{"town": "Rome"}'},
)
DELTAS = ({"content": "1"}, {"reasoning": "84"}, {"tool_calls": [{"index": 0, **CALL}]}, {})


def corpus(dice: random.Random) -> bytes:
    """Something that a server may rightly send, to no question in particular."""
    choice = {
        "index": 0,
        "message": dice.choice(MESSAGES),
        "finish_reason": dice.choice(("stop", "length", "tool_calls")),
        "logprobs": dice.choice((None, LOGPROBS)),
        "text": " four",
    }
    documents: tuple[object, ...] = (
        {"choices": [choice], "usage": dice.choice((USAGE, None, {}))},
        {"data": [{"id": "kimi-k2", "owned_by": dice.choice(("vllm", "sglang", 3)), "max_model_len": 64}]},
        {"tokens": [163585], "count": 9},
        {"error": {"message": "no", "code": 400}},
    )
    if dice.random() < 0.4:
        events = [
            {"choices": [{"delta": dice.choice(DELTAS), "finish_reason": None}]} for _ in range(dice.randrange(9))
        ]
        lines = [f"data: {json.dumps(event)}\n\n" for event in [*events, {"choices": [], "usage": USAGE}]]
        return "".join([*lines, "data: [DONE]\n\n"]).encode()
    if dice.random() < 0.1:
        return b'vllm:num_requests_running{engine="0"} 1.0\n'
    return json.dumps(dice.choice(documents)).encode()


def mutated(body: bytes, dice: random.Random) -> bytes:
    for _ in range(dice.choice((0, 1, 1, 2, 4))):
        at, end = sorted(dice.randrange(len(body) + 1) for _ in range(2))
        junk = dice.choice(
            (dice.randbytes(dice.randrange(1, 20)), b'"', b"{", b"}", b"null", b"-1", b"\n\n", b"\xff", b"1e999")
        )
        body = dice.choice(
            (body[:at] + body[end:], body[:at] + junk + body[end:], body[:at], body + body[at:end], junk)
        )
    return body


@dataclass
class Garbler:
    """Answers each request with a mutated answer to another one; `answers` counts them."""

    dice: random.Random
    answers: int = 0
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                sizes = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
                await reader.readexactly(int(sizes[0].split(b":")[1]) if sizes else 0)
                self.answers += 1
                writer.write(self.answer())
                await writer.drain()
                if self.dice.random() < 0.1:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def answer(self) -> bytes:
        dice = self.dice
        if dice.random() < 0.1:
            return dice.randbytes(dice.randrange(200))
        body = mutated(corpus(dice), dice)
        # A length that is too large is a server that hangs.
        size = len(body) + (dice.choice((-3, 5)) if dice.random() < 0.02 else 0)
        status = dice.choice((200, 200, 200, 200, 200, 400, 404, 401, 500, 204, 302))
        kind = dice.choice(("application/json", "text/event-stream", "text/html; charset=nonsense"))
        head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {max(0, size)}\r\n\r\n".encode()
        return mutated(head, dice) + body if dice.random() < 0.05 else head + body


async def verdicts(seed: int, answers: int) -> list[Report]:
    garbler = Garbler(random.Random(seed))
    server = await asyncio.start_server(garbler.talk, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    reports = []
    while garbler.answers < answers:
        begun_s = time.monotonic()
        try:
            reports.append(await verify(Endpoint(url, garbler.dice.choice(("kimi-k2", ""))), deadlines=DEADLINES))
        except MoonpadError as error:
            assert error.message
        assert time.monotonic() - begun_s < RUN_S
    server.close()
    return reports


async def nearly_sound(seed: int, answers: int) -> list[Report]:
    """By a sound endpoint, of whose answers and events some are spoiled: probes get further than their first look."""
    dice = random.Random(seed)
    endpoint = BrokenEndpoint(spoil=lambda body: mutated(body, dice) if dice.random() < 0.1 else body)
    reports = []
    async with serve(endpoint) as at:
        while endpoint.requests < answers:
            begun_s = time.monotonic()
            with contextlib.suppress(UsageError):  # its list of models names none
                reports.append(await verify(at, deadlines=DEADLINES))
            assert time.monotonic() - begun_s < RUN_S
    return reports


def judge(reports: list[Report]) -> None:
    assert reports
    for report in reports:
        assert [result.probe.id for result in report.results] == [probe.id for probe in PROBES]
        assert all(result.outcome.because for result in report.results)
        json.dumps(report.as_json())
    states = {result.outcome.status for report in reports for result in report.results}
    assert states == set(Status), "some answers are right by chance"


def test_some_hundred_answers() -> None:
    judge(asyncio.run(verdicts(1, 400)))
    judge(asyncio.run(nearly_sound(1, 400)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_ten_thousand_answers(seed: int) -> None:
    judge(asyncio.run(verdicts(seed, 1000)))
    judge(asyncio.run(nearly_sound(seed, 1000)))
