"""Ctrl-C and SIGTERM as a flag that is checked between steps.

An exception from a signal handler could come between the start of a process and the moment its pid is known, and leave
it behind.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from moonpad.values.errors import Interrupted

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Cancellation:
    """`count` is how often the user has cancelled: the second time means at once."""

    def __init__(self) -> None:
        self.count = 0

    def request(self, _signal: int = 0, _frame: FrameType | None = None) -> None:
        self.count += 1

    def raise_if_requested(self) -> None:
        if self.count:
            raise Interrupted("interrupted", remedy="repeat the command: it goes on with what is there")


@contextmanager
def cancel_on_signal() -> Iterator[Cancellation]:
    """Signals cancel while the block runs. Those that the caller ignores (`nohup`) stay ignored."""
    cancellation = Cancellation()
    if threading.current_thread() is not threading.main_thread():
        yield cancellation
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, cancellation.request)
    try:
        yield cancellation
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
