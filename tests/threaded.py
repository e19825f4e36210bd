"""A server of a test in a thread of its own, for a command that brings an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager

from moonpad.values.endpoint import Endpoint


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
