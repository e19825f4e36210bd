"""A server of a test in a thread of its own, for a command that brings an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Protocol

from moonpad.values.endpoint import Endpoint


class Serving(Protocol):
    endpoint: Endpoint


@contextmanager
def threaded(serving: AbstractAsyncContextManager[Endpoint]) -> Iterator[str]:
    """The address, as long as the block lasts."""
    addresses: list[str] = []
    up = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def run() -> None:
        async with serving as endpoint:
            addresses.append(endpoint.base_url)
            up.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    try:
        assert up.wait(10)
        yield addresses[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()


@contextmanager
def served_by_thread(serving: Callable[[], AbstractAsyncContextManager[Serving]]) -> Iterator[str]:
    """The same of a server that knows its endpoint; it is made in the loop of the thread."""

    @asynccontextmanager
    async def endpoint() -> AsyncIterator[Endpoint]:
        async with serving() as server:
            yield server.endpoint

    with threaded(endpoint()) as url:
        yield url
