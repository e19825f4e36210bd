"""Ctrl-C and SIGTERM as a flag that is looked at between steps.

An exception thrown by the handler could land between the start of a process and the note of its id, and leave it
behind.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from moonpad.values.errors import Interrupted

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopSign:
    """`count` is how often the user has asked: the second time is in a hurry."""

    def __init__(self) -> None:
        self.count = 0

    def ask(self, _signal: int = 0, _frame: FrameType | None = None) -> None:
        self.count += 1

    def raise_if_asked(self) -> None:
        if self.count:
            raise Interrupted("interrupted", remedy="repeat the command: it goes on with what is there")


@contextmanager
def stop_sign() -> Iterator[StopSign]:
    """Signals raise the sign while the block runs. What the caller ignores (`nohup`) stays ignored."""
    sign = StopSign()
    if threading.current_thread() is not threading.main_thread():
        yield sign
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, sign.ask)
    try:
        yield sign
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
