"""The event loop of the load path."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_in_loop(main: Coroutine[Any, Any, Result]) -> Result:
    """Runs `main` on uvloop, or on asyncio's own loop where uvloop does not exist.

    The first Ctrl-C cancels `main`, which may end in order; the second raises KeyboardInterrupt at once.
    """
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(main)


@contextmanager
def settled_heap() -> Iterator[None]:
    """What is there already is not looked through for garbage while the block lasts: a look at all that was imported
    takes as long as hundreds of reads, and comes between two of them.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        import uvloop
    except ImportError:  # Windows
        return asyncio.new_event_loop
    return uvloop.new_event_loop
