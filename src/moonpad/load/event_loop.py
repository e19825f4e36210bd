"""The event loop of the load path."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_in_loop(main: Coroutine[Any, Any, Result]) -> Result:
    """Runs `main` on uvloop, or on asyncio's own loop where uvloop does not exist.

    The first Ctrl-C cancels `main`, which may clean up; the second raises KeyboardInterrupt at once.
    """
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(main)


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """`work` runs as long as the block lasts, and is cancelled at its end; what it raises is dropped."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@contextmanager
def frozen_heap() -> Iterator[None]:
    """Nothing that exists already is searched for garbage while the block lasts: a search of all imported modules takes
    as long as hundreds of reads, and would delay the next ones. Where a caller has frozen its own heap, it stays so.
    """
    gc.collect()
    frozen_before = gc.get_freeze_count()
    gc.freeze()
    try:
        yield
    finally:
        if not frozen_before:
            gc.unfreeze()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        import uvloop
    except ImportError:  # Windows
        return asyncio.new_event_loop
    return uvloop.new_event_loop
