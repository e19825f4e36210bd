"""The client's edges: caps, cuts, encodings, redirects."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from moonpad.load.openai_schema import Broken, Delta, Event, Malformed, Message, Reply
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, ContactLost, UsageError
from moonpad.values.secret import Secret
from moonpad.verify import api
from moonpad.verify.api import Api, Body, Deadlines, connect

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def ask(handler: Handler, question: Callable[[Api], Awaitable[Any]]) -> Any:
    """What a question gets from a server whose every path is this handler."""

    async def run() -> Any:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", handler)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            async with connect(
                Endpoint(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", "m", Secret("tell-no-one"))
            ) as client:
                return await question(client)
        finally:
            await runner.cleanup()

    return asyncio.run(run())


async def events_of(client: Api) -> list[Event]:
    return [event async for event in client.stream({"messages": []})]


def answers(body: bytes, status: int = 200) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(body=body, status=status)

    return handler


async def cut_off(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b"{")
    assert request.transport is not None
    request.transport.close()
    return response


def test_an_error_body_is_kept_in_part() -> None:
    reply = ask(answers(b"x" * 1_000_000, 500), lambda client: client.get("/models"))
    assert (reply.status, len(reply.text), reply.truncated) == (500, api.ERROR_CAP_BYTES, True)


def test_an_answer_longer_than_its_tokens_allow_fails() -> None:
    """64 KiB and 256 bytes a token."""
    long = answers(b'{"choices": [{"message": {"content": "hi"}}]}' + b" " * (65 * 1024))
    with pytest.raises(CheckFailed, match=r"more than 0\.1 MiB, 1 tokens were asked for at most"):
        ask(long, lambda client: client.chat({"max_tokens": 1}))
    assert isinstance(ask(long, lambda client: client.chat({"max_tokens": 100})), Message)
    assert isinstance(ask(long, lambda client: client.chat({})), Message)


def test_a_stream_longer_than_its_tokens_allow_is_broken() -> None:
    """256 KiB and 4 KiB a token, 256 events and four a token."""

    def last(data: bytes, **body: object) -> Event:
        return ask(answers(data), lambda client: _events(client, body))[-1]

    async def _events(client: Api, body: Body) -> list[Event]:
        return [event async for event in client.stream(body)]

    token = b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'
    assert last(token * 260, max_tokens=1) == Delta(content="a")
    assert last(token * 261, max_tokens=1) == Broken(
        "the stream has more than 260 events, 1 tokens were asked for at most"
    )
    assert isinstance(last(token * 261, max_tokens=2), Delta)
    assert isinstance(last(token * 261), Delta)
    assert isinstance(last(b": comment\n" * 30_000, max_tokens=1), Broken)


def test_a_packed_answer_is_refused_before_it_is_unpacked() -> None:
    async def packed(request: web.Request) -> web.Response:
        return web.Response(body=gzip.compress(b"0" * 10_000_000), headers={"Content-Encoding": "gzip"})

    for asking in (lambda client: client.get("/models"), lambda client: client.chat({}), events_of):
        with pytest.raises(CheckFailed, match="content-encoding 'gzip'"):
            ask(packed, asking)


def test_text_that_is_no_utf8_is_a_value() -> None:
    assert isinstance(ask(answers(b"\xff\xfe"), lambda client: client.chat({})), Malformed)
    assert isinstance(ask(answers(b"data: \xff\n\n"), events_of)[0], Broken)


def test_an_answer_that_is_cut_off_is_no_answer() -> None:
    with pytest.raises(ContactLost):
        ask(cut_off, lambda client: client.get("/models"))


def test_a_stream_that_is_cut_off_keeps_what_came() -> None:
    async def cut_stream(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'data: {"choices": [{"delta": {"content": "hi"}}]}\n\n')
        assert request.transport is not None
        request.transport.close()
        return response

    assert ask(cut_stream, events_of) == [Delta(content="hi"), Broken("the connection was cut after 51 bytes")]


def test_a_redirect_is_an_answer_and_the_key_goes_nowhere() -> None:
    paths: list[str] = []

    async def away(request: web.Request) -> web.StreamResponse:
        paths.append(request.path)
        raise web.HTTPTemporaryRedirect("/elsewhere")

    reply = ask(away, lambda client: client.chat({"messages": []}))
    assert isinstance(reply, Reply)
    assert (reply.status, paths) == (307, ["/v1/chat/completions"])


def test_the_key_is_sent_and_not_shown() -> None:
    async def echo(request: web.Request) -> web.StreamResponse:
        return web.json_response({"seen": request.headers["Authorization"]})

    async def question(client: Api) -> tuple[Reply, str]:
        return await client.get("/models"), repr(client)

    reply, shown = ask(echo, question)
    assert "tell-no-one" in reply.text
    assert "tell-no-one" not in shown


def test_a_request_that_is_no_text_is_refused_before_it_is_sent() -> None:
    with pytest.raises(UsageError, match="JSON"):
        ask(answers(b"{}"), lambda client: client.chat({"messages": [{"content": "\udcff"}]}))


@pytest.mark.parametrize("given_s", [5.0, 300.0, 3600.0])
def test_the_users_time_limit_is_that_of_an_answer(given_s: float) -> None:
    """Less than the usual, or more: a sound server on a processor writes two tokens a second."""
    usual, given = Deadlines(), Deadlines().within(given_s)
    assert (given.answer_s, given.idle_s, given.stream_s, given.most_s) == (given_s,) * 4
    others = (given.connect_s, given.control_s, given.canary_s)
    assert others == tuple(min(limit_s, given_s) for limit_s in (usual.connect_s, usual.control_s, usual.canary_s))
    assert usual.within(None) == usual
