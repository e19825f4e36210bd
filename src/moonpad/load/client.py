"""Connections that are open before they are needed, and one timestamp for every read.

The request is serialised and the connection open before it is due. Each `data_received` reads the clock, and parses
nothing: the reads of a stream are parsed some at a time, which costs less, and when nothing else is to be read.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar, cast

from moonpad.load.deadlines import RequestDeadlines
from moonpad.load.endpoint_url import Target
from moonpad.load.failure import FailureKind, RequestFailed
from moonpad.load.http1 import ResponseParser
from moonpad.load.read_backlog import Backlog, Clock
from moonpad.load.request_timeouts import RequestTimeouts
from moonpad.load.response_recorder import ResponseRecorder
from moonpad.load.stream_event import DONE

AnyProtocol = TypeVar("AnyProtocol", bound=asyncio.Protocol)
OnDone = Callable[[], None]
# Between [DONE] and the end of the body; servers send both at once, often in two packets.
DRAIN_S: Final = 1.0
BATCH_READS: Final = 16
"""So many reads of a stream are parsed at once."""
SHORT_BYTES: Final = 4096
"""A longer read is parsed as it comes: what waits unparsed is 64 KiB a stream at most."""
EVENT_ENDS: Final = (b"\n\n\r\n", b"\r\n\r\n\r\n")
"""Of an HTTP chunk that ends with an event. The end of a body, and all that is not chunked, ends otherwise."""


@dataclass(slots=True, eq=False)
class Connection(asyncio.Protocol):
    """One keep-alive connection; it carries one request at a time."""

    _clock: Clock
    _backlog: Backlog
    _timeouts: RequestTimeouts
    _response: ResponseParser = field(default_factory=ResponseParser)
    requests: int = 0  # sent on it so far
    _reads: list[tuple[float, bytes]] = field(default_factory=list)  # not parsed yet
    _in_backlog: bool = False
    _may_wait: bool = False  # the reads to come, since they most likely bring tokens and no end
    _transport: asyncio.Transport | None = None
    _recorder: ResponseRecorder | None = None
    _on_done: OnDone = field(default=lambda: None)

    @property
    def usable(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def exchange(self, wire: bytes, recorder: ResponseRecorder, deadlines: RequestDeadlines, on_done: OnDone) -> None:
        """Sends the request; `on_done` is called later, when the recorder has finished, with an answer or a failure."""
        self.requests += 1
        self._recorder, self._on_done = recorder, on_done
        self._may_wait = False
        self._response.begin()
        recorder.sent(self._clock(), self._response)
        if self._transport is None or self._transport.is_closing():
            recorder.connection_closed(self._clock(), "it was closed before the request was sent")
            asyncio.get_running_loop().call_soon(self._end)
            return
        self._transport.write(wire)
        self._timeouts.watch(recorder, deadlines, self._parse, self._end)

    def drop(self) -> bool:
        """Gives up the request, and returns whether there was one."""
        if self._recorder is None:
            return False
        self._timeouts.forget(self._recorder)
        self._recorder = None
        self._reads.clear()
        self.close()
        return True

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()
            self._transport = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        now_s, reads = self._clock(), self._reads
        reads.append((now_s, data))
        if (
            self._may_wait
            and len(reads) < BATCH_READS
            and len(data) < SHORT_BYTES
            and data.endswith(EVENT_ENDS)
            and DONE not in data
        ):
            return
        if self._recorder is None:  # bytes without a request would be taken for the next answer
            reads.clear()
            self.close()
        elif not self._in_backlog:
            self._in_backlog = True
            self._backlog.put(now_s, self._parse)

    def _parse(self) -> None:
        """Every read so far. It may end the request."""
        self._in_backlog = False
        reads, self._reads = self._reads, []
        recorder = self._recorder
        if recorder is None:  # its deadline passed first
            return
        was_done = recorder.stream_done
        for now_s, data in reads:
            recorder.received(now_s, data)
        self._may_wait = recorder.streams_tokens
        if recorder.finished:
            self._end()
        elif recorder.stream_done and not was_done:
            asyncio.get_running_loop().call_later(DRAIN_S, self._drained, recorder)

    def connection_lost(self, exc: Exception | None) -> None:
        self._parse()
        self._transport = None
        if self._recorder is not None:
            self._recorder.connection_closed(self._clock(), str(exc) if exc else "by the server")
            self._end()

    def _drained(self, recorder: ResponseRecorder) -> None:
        if self._recorder is recorder and not recorder.finished:
            recorder.drained(self._clock())
            self._end()

    def _end(self) -> None:
        recorder, self._recorder, self._may_wait = self._recorder, None, False
        if recorder is None:
            return
        self._timeouts.forget(recorder)
        if not recorder.connection_reusable:
            self.close()
        self._on_done()


class Connector:
    """Opens connections to one target. The name is resolved once, so that DNS is in no measurement."""

    def __init__(self, target: Target, clock: Clock, connect_s: float) -> None:
        self._target, self._clock, self._connect_s = target, clock, connect_s
        self.backlog = Backlog(clock)
        self._timeouts = RequestTimeouts(clock)
        self._addresses: tuple[str, ...] = ()
        self._tls = ssl.create_default_context() if target.tls else None

    async def open(self) -> Connection:
        """A connection for requests; raises what `open_with` raises."""
        return (await self.open_with(lambda: Connection(self._clock, self.backlog, self._timeouts)))[1]

    async def open_with(self, factory: Callable[[], AnyProtocol]) -> tuple[asyncio.Transport, AnyProtocol]:
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

    async def _open(self, factory: Callable[[], AnyProtocol]) -> tuple[asyncio.Transport, AnyProtocol]:
        loop = asyncio.get_running_loop()
        target = self._target
        if not self._addresses:
            entries = await loop.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
            self._addresses = tuple(str(address[0]) for *_, address in entries)
        for position, address in enumerate(self._addresses):
            try:
                opened = await loop.create_connection(
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
                return opened
        raise OSError("the name has no address")

    @property
    def _where(self) -> str:
        return f"{self._target.host}:{self._target.port}"
