"""When each request is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class Schedule(Protocol):
    """`concurrency` is the number of slots, each of which carries one request at a time; None: as many as arrive."""

    @property
    def concurrency(self) -> int | None: ...

    def due_s(self, index: int, free_s: float) -> float:
        """The instant (seconds since the run began) at which request `index` should go out.

        `free_s` is when the slot that takes it became free. An open loop answers with the arrival, whether the slot
        was free by then or not, and so counts the queue in front of the slots.
        """
        ...


@dataclass(frozen=True, slots=True)
class ClosedLoop:
    """A fixed number of users: each sends its next request the moment the last one is answered.

    `begin_s`: when the first ones do; above 0 in a resumed run.
    """

    concurrency: int
    begin_s: float = 0.0

    def due_s(self, index: int, free_s: float) -> float:
        return max(free_s, self.begin_s)


@dataclass(frozen=True, slots=True)
class OpenLoop:
    """Request `index` arrives at `instants_s[index]`, whatever the server does.

    Under a cap a request may find no slot free: it is sent late, and its latency counts from its arrival.
    """

    instants_s: Sequence[float]
    concurrency: int | None = None

    def due_s(self, index: int, free_s: float) -> float:
        return self.instants_s[index]
