"""Code that may take for ever, as a user's regex may."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Without effect outside the main thread, where Python has no signals. `re` looks for them as it searches.

    Raises:
        TimeoutError: the block takes longer.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _over)
    left_s, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left_s)  # of a caller's own limit, which gets the more time
        signal.signal(signal.SIGALRM, before)


def _over(number: int, frame: object) -> None:
    raise TimeoutError
