"""Ctrl-C, `kill` and a closed terminal during a start: none is lost, and all mean the same."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Terminated(KeyboardInterrupt):
    """SIGTERM: a request to stop, as Ctrl-C is; from a service manager it is routine."""


class Interrupts:
    """Once this is constructed, each of these signals raises KeyboardInterrupt.

    An extension module may swallow an exception raised in its callback (pydantic's validators do: "Exception ignored
    in"), so it is remembered, and raised again by `raise_lost`.
    """

    def __init__(self) -> None:
        self._lost: KeyboardInterrupt | None = None
        self._unraisable = sys.unraisablehook
        sys.unraisablehook = self._swallowed
        for number in NUMBERS:
            signal.signal(number, self._interrupt)

    def _interrupt(self, number: int, frame: object) -> None:
        self._lost = Terminated() if number == signal.SIGTERM else KeyboardInterrupt()
        raise self._lost

    def _swallowed(self, what: sys.UnraisableHookArgs) -> None:
        """A dropped exception is printed with a traceback; ours is not lost, so it is not printed."""
        if not issubclass(what.exc_type, KeyboardInterrupt):
            self._unraisable(what)

    def raise_lost(self) -> None:
        """
        Raises:
            KeyboardInterrupt: a signal came, and its exception was swallowed.
        """
        if self._lost is not None:
            raise self._lost

    def end(self) -> None:
        """From now on the signals are ignored. A lost one is raised."""
        for number in NUMBERS:
            signal.signal(number, signal.SIG_IGN)
        self.raise_lost()


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM and SIGHUP end the block as Ctrl-C does. Those that the caller ignores (`nohup`) stay ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    mine = [number for number in NUMBERS[1:] if signal.getsignal(number) is signal.SIG_DFL]
    for number in mine:
        signal.signal(number, _as_interrupt)
    try:
        yield
    finally:
        for number in mine:
            signal.signal(number, signal.SIG_DFL)


def _as_interrupt(number: int, frame: object) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a background job of a shell
        raise Terminated
    signal.raise_signal(signal.SIGINT)  # asyncio's own way to end, where it runs
