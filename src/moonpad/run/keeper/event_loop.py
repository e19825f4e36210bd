"""One place to wait in, for signals, for the deaths of processes and for control requests."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal

from moonpad.facts.processes import is_alive, read_exit_status

WATCHED_SIGNALS = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class EventLoop:
    """What is registered with `selector` has a callback as its data."""

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        self.stop_signals = 0  # received, and not acted on yet
        self.deaths: list[tuple[int, int, int | None]] = []  # (pid, start, wait status) of watched processes
        self._watched: dict[tuple[int, int], int] = {}
        read, wakeup = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        for number in WATCHED_SIGNALS:
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())  # our launcher blocked them
        self.selector.register(read, selectors.EVENT_READ, lambda: self._read_signals(read))

    def wait(self, timeout_s: float) -> None:
        for key, _ in self.selector.select(max(0.0, timeout_s)):
            key.data()

    def watch(self, pid: int, start: int) -> None:
        """From now on its death wakes us."""
        if (pid, start) in self._watched:
            return
        try:
            handle = os.pidfd_open(pid)
        except OSError:
            return
        if not is_alive(pid, start):
            os.close(handle)
            return
        self._watched[pid, start] = handle
        self.selector.register(handle, selectors.EVENT_READ, lambda: self._note_death(pid, start))

    def forget_processes(self) -> None:
        """All that were watched have ended, and no longer matter."""
        for handle in self._watched.values():
            self.selector.unregister(handle)
            os.close(handle)
        self._watched, self.deaths = {}, []

    def _note_death(self, pid: int, start: int) -> None:
        handle = self._watched.pop((pid, start))
        self.selector.unregister(handle)
        self.deaths.append((pid, start, read_exit_status(handle, pid)))
        os.close(handle)

    def _read_signals(self, read: int) -> None:
        with contextlib.suppress(BlockingIOError):
            self.stop_signals += sum(number != signal.SIGCHLD for number in os.read(read, 512))
