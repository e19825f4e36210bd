"""A proxy before any OpenAI endpoint that spoils the content of chat requests or answers, by one fault at a time.

`content_faults.py`, `stream_faults.py` and `request_faults.py` have the faults. All else passes unchanged.
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web

Document = dict[str, Any]
OnEvent = Callable[[Document | None], list[Document]]
"""What a stream's event becomes, in the order of the stream; None is its end."""
CHAT = "/v1/chat/completions"
EXCHANGE_S, PIECE_S = 1.0, 0.05
"""So long an answer, or a piece of a stream, waits for another to be exchanged with: on a busy machine few answers end
at the same time."""
COMPLETIONS = "/v1/completions"
LOAD = 4
"""Requests at once from which on the faults under load act."""


@dataclass(frozen=True)
class ContentFault:
    """`probe`: the one that must name it."""

    name: str
    probe: str
    request: Callable[[Document], Document | None] | None = None
    answer: Callable[[Document], Document | None] | None = None
    stream: Callable[[], OnEvent] | None = None
    completion: Callable[[Document], None] | None = None
    """Of the choices of plain completions: then only a recording tells."""
    document: Callable[[Document], None] | None = None
    """Of a whole answer, and of each event of a stream."""
    under_load: bool = False
    halves: bool = False
    """The second half of a content is that of another client that waits."""
    mixes: bool = False
    """Answers go to another client that waits."""
    remembers: bool = False
    """Answers are repeated for the same last message."""
    no_done: bool = False


SOUND = ContentFault("sound", "")


@dataclass
class ContentProxy:
    upstream: str
    """The root of the endpoint, as `http://127.0.0.1:8000`."""
    fault: ContentFault = SOUND
    running: int = 0
    waiting: dict[bool, list[tuple[asyncio.Future[Any], Any]]] = field(default_factory=lambda: {True: [], False: []})
    """Whole answers, and pieces of streams, that wait to be exchanged."""
    memory: dict[str, Document] = field(default_factory=dict)
    session: aiohttp.ClientSession | None = None

    def app(self) -> web.Application:
        app = web.Application(client_max_size=1 << 26)
        app.router.add_route("*", "/{path:.*}", self.pass_on)
        return app

    async def pass_on(self, request: web.Request) -> web.StreamResponse:
        data = await request.read()
        body = _object(data) if request.path == CHAT else None
        if body is None:
            return await self.unchanged(request, data)
        self.running += 1
        try:
            return await self.chat(request, body)
        finally:
            self.running -= 1

    async def unchanged(self, request: web.Request, data: bytes) -> web.StreamResponse:
        async with self.ask(request, data) as upstream:
            body = await upstream.read()
            if request.path == COMPLETIONS and self.fault.completion is not None and upstream.status == 200:
                if body.startswith(b"data:"):
                    return web.Response(status=200, body=body, headers=_type(upstream))
                document = json.loads(body)
                for choice in document["choices"]:
                    self.fault.completion(choice)
                return web.json_response(document)
            return web.Response(status=upstream.status, body=body, headers=_type(upstream))

    def ask(self, request: web.Request, data: bytes) -> Any:
        assert self.session is not None
        headers = {name: request.headers[name] for name in ("Authorization", "Content-Type") if name in request.headers}
        return self.session.request(request.method, self.upstream + request.path_qs, data=data or None, headers=headers)

    async def chat(self, request: web.Request, body: Document) -> web.StreamResponse:
        fault = self.fault if self.running >= LOAD or not self.fault.under_load else SOUND
        if fault.request is not None:
            sent = copy.deepcopy(body)
            body = fault.request(sent) or sent
        async with self.ask(request, json.dumps(body).encode()) as upstream:
            if upstream.status != 200:
                return web.Response(status=upstream.status, body=await upstream.read(), headers=_type(upstream))
            if body.get("stream"):
                return await self.streamed(request, upstream, fault)
            return await self.whole(body, json.loads(await upstream.read()), fault)

    async def whole(self, body: Document, document: Document, fault: ContentFault) -> web.Response:
        if fault.answer is not None:
            for choice in document["choices"]:
                fault.answer(choice)
            if fault.answer.__name__.startswith("usage"):
                fault.answer(document)
        if fault.document is not None:
            fault.document(document)
        if fault.remembers:
            document = self.memory.setdefault(str(body["messages"][-1].get("content")), document)
        if fault.mixes:
            document = await self.of_another(document, whole=True)
        if fault.halves:
            message = document["choices"][0]["message"]
            text = message.get("content") or ""
            other = await self.of_another(text, whole=True)
            message["content"] = text[: len(text) // 2] + other[len(other) // 2 :]
        return web.json_response(document)

    async def of_another(self, mine: Any, *, whole: bool) -> Any:
        """Two that wait at the same time get each other's."""
        waiting = self.waiting[whole]
        if waiting:
            future, theirs = waiting.pop()
            future.set_result(mine)
            return theirs
        future = asyncio.get_running_loop().create_future()
        waiting.append((future, mine))
        done, _ = await asyncio.wait([future], timeout=EXCHANGE_S if whole else PIECE_S)
        if done:
            return future.result()
        waiting.remove((future, mine))
        return mine

    async def streamed(
        self, request: web.Request, upstream: aiohttp.ClientResponse, fault: ContentFault
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        on_event: OnEvent = fault.stream() if fault.stream else lambda event: [event] if event is not None else []
        async for payload in _payloads(upstream):
            if payload == b"[DONE]":
                for row in on_event(None):
                    await _send(response, row)
                if not fault.no_done:
                    await response.write(b"data: [DONE]\n\n")
                continue
            for row in on_event(json.loads(payload)):
                if fault.document is not None:
                    fault.document(row)
                if fault.mixes and _text_of(row):
                    row = {**row, "choices": await self.of_another(row["choices"], whole=False)}
                await _send(response, row)
        return response


def _text_of(event: Document) -> bool:
    choices = event.get("choices") or [{}]
    delta = choices[0].get("delta") or {}
    return bool(delta.get("content") or delta.get("reasoning"))


async def _payloads(upstream: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    async for line in upstream.content:
        if line.startswith(b"data:"):
            yield line[5:].strip()


async def _send(response: web.StreamResponse, document: Document) -> None:
    await response.write(b"data: " + json.dumps(document, ensure_ascii=False).encode() + b"\n\n")


def _object(data: bytes) -> Document | None:
    """A request that the faults can act on; others are passed on as they are, to be refused."""
    try:
        body = json.loads(data)
    except (ValueError, UnicodeDecodeError):
        return None
    messages = body.get("messages") if isinstance(body, dict) else None
    sound = isinstance(messages, list) and messages and all(isinstance(message, dict) for message in messages)
    return body if sound else None


def _type(upstream: aiohttp.ClientResponse) -> dict[str, str]:
    return {"Content-Type": upstream.headers.get("Content-Type", "application/json")}


@asynccontextmanager
async def proxied(proxy: ContentProxy) -> AsyncIterator[str]:
    """The proxy's base URL, as long as the block lasts."""
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=600)) as session:
        proxy.session = session
        runner = web.AppRunner(proxy.app(), shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        finally:
            await runner.cleanup()
