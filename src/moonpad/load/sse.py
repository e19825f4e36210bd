"""Server-sent events, read as the bytes come.

The grammar is https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream: lines end with
LF, CRLF or CR, a blank line ends an event, its `data` lines are joined by LF. An event that the stream's end cuts off
is none. Payloads stay bytes: whether they are UTF-8 is for the reader of the payload to judge.
"""

from __future__ import annotations

from typing import Final

from moonpad.load.failure import FailureKind, RequestFailed
from moonpad.values.units import MIB

MAX_EVENT_BYTES: Final = 16 * MIB
SHORT_BYTES: Final = 64 * 1024
BOM: Final = b"\xef\xbb\xbf"


class SseParser:
    """Gives the same events for every partition of the same bytes."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_bytes = max_event_bytes
        self._first_line = True
        self._after_cr = False
        self._line: list[bytes] = []  # the unfinished line, in the pieces that came
        self._line_bytes = 0
        self._data: list[bytes] = []  # the `data` values of the unfinished event
        self._data_bytes = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The `data` payload of each event that these bytes complete.

        Raises:
            RequestFailed: a line or an event is larger than the cap (`too-large`).
        """
        if (events := self._whole_events(data)) is not None:
            return events
        if self._after_cr and data:
            self._after_cr = False
            data = data.removeprefix(b"\n")  # the second half of a CRLF that the border split
        if b"\r" in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *ended, rest = data.split(b"\n")
        events = [event for line in ended if (event := self._end_line(line)) is not None]
        self._keep(rest)
        return events

    def _whole_events(self, data: bytes) -> list[bytes] | None:
        """What servers send almost always, whole events of one `data` line each, without a look at each line."""
        whole = data.startswith(b"data: ") and data.endswith(b"\n\n") and len(data) <= SHORT_BYTES
        if not whole or self._line or self._data or self._after_cr or b"\r" in data:
            return None
        ends = data.count(b"\n")
        events = [data[6:-2]] if ends == 2 else data[6:-2].split(b"\n\ndata: ")
        if ends != 2 * len(events):  # a line end within an event
            return None
        self._first_line = False  # and it had no byte order mark
        return events

    def _keep(self, piece: bytes) -> None:
        if piece:
            self._line.append(piece)
            self._line_bytes += len(piece)
            self._cap(self._line_bytes)

    def _end_line(self, last_piece: bytes) -> bytes | None:
        """The payload of the event that this line ends, None where it ends none."""
        self._keep(last_piece)
        line = b"".join(self._line)
        self._line.clear()
        self._line_bytes = 0
        if self._first_line:
            self._first_line = False
            line = line.removeprefix(BOM)
        if not line:
            return self._end_event()
        name, _, value = line.partition(b":")
        if name == b"data":  # `event`, `id`, `retry` and comments (no name) carry no tokens
            self._data.append(value.removeprefix(b" "))
            self._data_bytes += len(value) + 1
            self._cap(self._data_bytes)
        return None

    def _end_event(self) -> bytes | None:
        if not self._data:
            return None
        payload = b"\n".join(self._data)
        self._data.clear()
        self._data_bytes = 0
        return payload

    def _cap(self, size: int) -> None:
        if size > self._max_bytes:
            raise RequestFailed(FailureKind.TOO_LARGE, f"one event is larger than {self._max_bytes / MIB:g} MiB")
