"""The files of one run: every finished request at once, the result at the end."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any, Final

import orjson

from moonpad.bench.saved_records import SavedRecords
from moonpad.load.record import RequestRecord
from moonpad.spec.input_file import PIECE_BYTES, open_regular
from moonpad.values.errors import CheckFailed, UsageError
from moonpad.values.redaction import redacted, redacted_line

REQUESTS_FILE: Final = "requests.jsonl"
RESULT_FILE: Final = "result.json"
RUN_FILE: Final = "run.json"
SERVER_FILE: Final = "server.jsonl"
DEVICES_FILE: Final = "devices.jsonl"


class RunFiles:
    """Appends lines and replaces files by rename, so that a line once written stays, whatever happens next."""

    def __init__(self, folder: Path, *, resume: bool = False) -> None:
        """`resume`: continue the run that the folder holds; a line that a kill tore is removed.

        Raises:
            UsageError: the folder cannot be written, or already holds a run.
        """
        self._folder = folder
        self._count = 0
        self._failure: CheckFailed | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in (SERVER_FILE, DEVICES_FILE):
                _remove_torn_line(folder / name)
            if resume:
                self._count = _remove_torn_line(folder / REQUESTS_FILE)
            self._lines = (folder / REQUESTS_FILE).open("ab" if resume else "xb", buffering=0)
        except FileExistsError as error:
            raise UsageError(f"{folder} already holds a run", remedy="name another folder with --out") from error
        except OSError as error:
            raise self._unwritable(error) from error

    def append(self, record: RequestRecord) -> None:
        """
        Raises:
            CheckFailed: the line could not be written; those before it are there, and nothing else. Later lines are
                refused too, even one short enough to fit: the number of lines that the error gave would be wrong.
        """
        if self._failure:
            raise self._failure
        try:
            _append(self._lines, redacted_line(orjson.dumps(record)) + b"\n")
        except OSError as error:
            self._failure = self._lost(REQUESTS_FILE, error)
            raise self._failure from error
        self._count += 1

    def records(self) -> SavedRecords:
        """Those that have been appended so far."""
        return SavedRecords(self._folder / REQUESTS_FILE)

    def begin(self, document: Mapping[str, Any]) -> None:
        """Writes what will be measured, so that a killed run can be resumed.

        Raises:
            UsageError: it could not be written.
        """
        try:
            self._replace(RUN_FILE, document)
        except OSError as error:
            raise self._unwritable(error) from error

    def append_sample(self, name: str, row: Mapping[str, Any]) -> None:
        """What was seen beside the requests; a full disk costs these lines, and not the result."""
        with suppress(OSError), (self._folder / name).open("ab", buffering=0) as lines:
            _append(lines, redacted_line(orjson.dumps(row)) + b"\n")

    def finish(self, document: dict[str, Any]) -> None:
        """Writes the result: the whole file or none.

        Raises:
            CheckFailed: it could not be written; the lines of the requests are there.
        """
        try:
            os.fsync(self._lines.fileno())
            self._replace(RESULT_FILE, document)
        except OSError as error:
            raise self._lost(RESULT_FILE, error) from error

    def _replace(self, name: str, document: Mapping[str, Any]) -> None:
        """Not by `store/`: the verbs that judge an endpoint need no run of ours."""
        part = self._folder / f".{name}.{os.getpid()}.part"
        try:
            with part.open("wb") as file:
                file.write(orjson.dumps(redacted(document), option=orjson.OPT_INDENT_2) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            part.replace(self._folder / name)
        except OSError:
            with suppress(OSError):
                part.unlink()
            raise

    def close(self) -> None:
        self._lines.close()

    def _unwritable(self, error: OSError) -> UsageError:
        remedy = "name another folder with --out"
        return UsageError(f"{self._folder} cannot be written: {error.strerror}", remedy=remedy)

    def _lost(self, name: str, error: OSError) -> CheckFailed:
        return CheckFailed(
            f"{self._folder / name} could not be written: {error.strerror}; "
            f"{self._count} requests are saved in {self._folder / REQUESTS_FILE}",
            remedy="free some space, or name a folder on another disk with --out",
        )


def _append(lines: FileIO, line: bytes) -> None:
    """The whole line or nothing.

    Raises:
        OSError: it could not be written.
    """
    end = lines.seek(0, os.SEEK_END)
    try:
        if lines.write(line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError:
        with suppress(OSError):  # readers skip a torn line anyway
            lines.truncate(end)
        raise


def _remove_torn_line(file: Path) -> int:
    """The number of lines that are left."""
    if not file.exists():
        return 0
    count = size = end = 0
    with open_regular(file) as lines:
        while piece := lines.read(PIECE_BYTES):
            if b"\n" in piece:
                end = size + piece.rindex(b"\n") + 1
            count += piece.count(b"\n")
            size += len(piece)
    if end < size:
        os.truncate(file, end)
    return count
