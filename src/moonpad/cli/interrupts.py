"""Ctrl-C, `kill` and a closed terminal during a start: none of them is lost, and each means the same."""

from __future__ import annotations

import signal
import sys

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Terminated(KeyboardInterrupt):
    """SIGTERM: a request to stop, as Ctrl-C is, and from a service manager nothing out of the ordinary."""


class Interrupts:
    """From its making on, each of these signals raises KeyboardInterrupt.

    An extension module may swallow what is raised while it calls back (pydantic's validators do, seen here: "Exception
    ignored in"), so what came is remembered, and raised again where it can be heard.
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
        """What an extension module drops is printed with a traceback; ours is not lost, so nobody need read of it."""
        if not issubclass(what.exc_type, KeyboardInterrupt):
            self._unraisable(what)

    def raise_lost(self) -> None:
        """
        Raises:
            KeyboardInterrupt: a signal came, and its exception was heard by nobody.
        """
        if self._lost is not None:
            raise self._lost

    def end(self) -> None:
        """From now on they are ignored. One that came before and was lost is raised."""
        for number in NUMBERS:
            signal.signal(number, signal.SIG_IGN)
        self.raise_lost()
