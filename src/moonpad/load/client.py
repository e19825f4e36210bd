"""Connections that are open before they are needed, one timestamp for every read.

What makes a streaming client exact: the request is bytes before its instant comes, the connection is open, and each
`data_received` takes the clock once, before anything is parsed; what takes longer to parse waits in a backlog.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Final, TypeVar, cast

from moonpad.load.backlog import Backlog, Clock
from moonpad.load.collect import Collector, Learnt
from moonpad.load.deadlines import Deadlines
from moonpad.load.failure import FailureKind, RequestFailed
from moonpad.load.overdue import Overdue
from moonpad.load.target import Target
from moonpad.load.usual import UsualRead

AnyProtocol = TypeVar("AnyProtocol", bound=asyncio.Protocol)
OnOver = Callable[[], None]
# Between [DONE] and the end of the body; servers send both at once, often in two packets.
DRAIN_S: Final = 1.0


class Connection(asyncio.Protocol):
    """One keep-alive connection; it carries one request at a time."""

    __slots__ = (
        "_backlog",
        "_clock",
        "_collector",
        "_on_over",
        "_overdue",
        "_token_times_s",
        "_transport",
        "_unseen",
        "_usual",
    )

    def __init__(self, clock: Clock, backlog: Backlog, overdue: Overdue) -> None:
        self._clock, self._backlog, self._overdue = clock, backlog, overdue
        self._unseen = 0  # reads in the backlog
        self._transport: asyncio.Transport | None = None
        self._collector: Collector | None = None
        self._on_over: OnOver = _nothing
        self._usual: UsualRead | None = None  # the collector's, while no read is in the backlog
        self._token_times_s: list[float] = []

    @property
    def usable(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def exchange(self, wire: bytes, collector: Collector, deadlines: Deadlines, on_over: OnOver) -> None:
        """Sends the request; `on_over` is called, later, once the collector has finished. Failures are in there."""
        self._collector, self._on_over = collector, on_over
        self._usual, self._token_times_s = None, collector.token_times_s
        collector.sent(self._clock())
        if self._transport is None or self._transport.is_closing():
            collector.connection_closed(self._clock(), "it was closed before the request was sent")
            asyncio.get_running_loop().call_soon(self._end)
            return
        self._transport.write(wire)
        self._overdue.watch(collector, deadlines, self._end)

    def drop(self) -> bool:
        """Nobody waits for the answer any more; whether there was one to come."""
        if self._collector is None:
            return False
        self._overdue.forget(self._collector)
        self._collector = self._usual = None
        self.close()
        return True

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()
            self._transport = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        now_s = self._clock()
        usual = self._usual
        if usual is not None and usual.is_next(data):
            self._token_times_s.append(now_s)
            return
        if self._collector is None:  # bytes that nobody asked for: whatever follows would be taken for an answer
            self.close()
            return
        self._usual = None
        self._unseen += 1
        self._backlog.put(now_s, self._take, self._collector, now_s, data)

    def _take(self, collector: Collector, now_s: float, data: bytes) -> None:
        self._unseen -= 1
        if collector is not self._collector or collector.finished:  # a deadline was first
            return
        was_done = collector.stream_done
        collector.received(now_s, data)
        if collector.finished:
            self._end()
            return
        if not self._unseen:
            self._usual = collector.usual
        if collector.stream_done and not was_done:
            asyncio.get_running_loop().call_later(DRAIN_S, self._drained, collector)

    def connection_lost(self, exc: Exception | None) -> None:
        self._backlog.clear()
        self._transport = None
        if self._collector is not None:
            self._collector.connection_closed(self._clock(), str(exc) if exc else "by the server")
            self._end()

    def _drained(self, collector: Collector) -> None:
        if self._collector is collector and not collector.finished:
            collector.drained(self._clock())
            self._end()

    def _end(self) -> None:
        collector, self._collector, self._usual = self._collector, None, None
        if collector is None:
            return
        self._overdue.forget(collector)
        if not collector.connection_reusable:
            self.close()
        self._on_over()


def _nothing() -> None:
    """What is to be done behind no request."""


class Connector:
    """Opens connections to one target. The name is resolved once, so that DNS is in no measurement."""

    def __init__(self, target: Target, clock: Clock, connect_s: float) -> None:
        self._target, self._clock, self._connect_s = target, clock, connect_s
        self.backlog = Backlog(clock)
        self.learnt = Learnt()
        self._overdue = Overdue(clock, self.backlog)
        self._addresses: tuple[str, ...] = ()
        self._tls = ssl.create_default_context() if target.tls else None

    async def open(self) -> Connection:
        """A connection for requests; raises what `open_with` raises."""
        return await self.open_with(lambda: Connection(self._clock, self.backlog, self._overdue))

    async def open_with(self, factory: Callable[[], AnyProtocol]) -> AnyProtocol:
        """
        Raises:
            RequestFailed: refused, timed out, no such name, no trusted certificate.
        """
        try:
            async with asyncio.timeout(self._connect_s):
                return await self._open(factory)
        except TimeoutError as error:
            text = f"{self._where} did not accept within {self._connect_s:g} s"
            raise RequestFailed(FailureKind.CONNECT_TIMEOUT, text) from error
        except ConnectionRefusedError as error:
            raise RequestFailed(FailureKind.CONNECTION_REFUSED, f"nothing listens on {self._where}") from error
        except ssl.SSLError as error:
            raise RequestFailed(FailureKind.TLS, f"{self._where}: {error}") from error
        except OSError as error:
            raise RequestFailed(FailureKind.CONNECT_FAILED, f"{self._where}: {error}") from error

    async def _open(self, factory: Callable[[], AnyProtocol]) -> AnyProtocol:
        loop = asyncio.get_running_loop()
        target = self._target
        if not self._addresses:
            found = await loop.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
            self._addresses = tuple(str(address[0]) for *_, address in found)
        for position, address in enumerate(self._addresses):
            try:
                _, protocol = await loop.create_connection(
                    factory,
                    address,
                    target.port,
                    ssl=self._tls,
                    server_hostname=target.host if self._tls else None,
                )
            except OSError:
                if position == len(self._addresses) - 1:
                    raise
            else:
                self._addresses = (address,)  # the next connection goes straight to the address that answers
                return protocol
        raise OSError("the name has no address")

    @property
    def _where(self) -> str:
        return f"{self._target.host}:{self._target.port}"
