"""The requests of a run as its file has them, a line each: read when they are looked at, never held all at once."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, overload

import orjson

from moonpad.load.failure import FailureKind, RequestFailure
from moonpad.load.record import RequestRecord
from moonpad.spec.input_file import open_regular
from moonpad.values.errors import UsageError

LINE_BYTES: Final = 64_000_000
"""A request of a million tokens has a line of 20 MB."""
BAD_LINES: Final = 1000
"""A kill, or a full disk, tears a line or two."""


def record_from(line: bytes) -> RequestRecord:
    """
    Raises:
        KeyError, TypeError, ValueError: the line is not a record.
    """
    row: dict[str, Any] = orjson.loads(line)
    if not isinstance(row, dict) or not isinstance(row["index"], int):
        raise TypeError("the row is not a request")
    failure = row.pop("failure")
    if failure is not None:
        failure = RequestFailure(FailureKind(failure["kind"]), failure["text"], failure["status"])
    return RequestRecord(**{**row, "token_times_s": tuple(row["token_times_s"])}, failure=failure)


class SavedRecords(Sequence[RequestRecord]):
    """By index; of two with the same index the first. Torn lines and lines that are not records are skipped. A missing
    file is empty.
    """

    def __init__(self, file: Path) -> None:
        """
        Raises:
            OSError: the file cannot be read.
            UsageError: it holds something else than records.
        """
        self._file = file
        self._places = array("Q")  # of the lines in the file, in the order of their requests
        places: dict[int, int] = {}
        if file.exists():
            with open_regular(file) as lines:
                at = bad = 0
                while line := lines.readline(LINE_BYTES + 1):
                    if (index := _index(line)) is not None:
                        places.setdefault(index, at)
                    else:
                        bad += 1
                    if bad > BAD_LINES or len(line) > LINE_BYTES:
                        raise UsageError(f"{file} is not a list of requests", remedy="measure again in a new folder")
                    at += len(line)
        self._places.extend(places[index] for index in sorted(places))

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[RequestRecord]:
        if not self._places:
            return
        with self._file.open("rb") as lines:
            for place in self._places:
                lines.seek(place)
                yield record_from(lines.readline())

    @overload
    def __getitem__(self, at: int) -> RequestRecord: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[RequestRecord]: ...

    def __getitem__(self, at: int | slice) -> RequestRecord | Sequence[RequestRecord]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        with self._file.open("rb") as lines:
            lines.seek(self._places[at])
            return record_from(lines.readline())


def _index(line: bytes) -> int | None:
    try:
        return record_from(line).index
    except (ValueError, TypeError, KeyError):
        return None
