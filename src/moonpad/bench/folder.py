"""The files of one run: every finished request at once, the result at the end."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import orjson

from moonpad.bench.saved_records import SavedRecords
from moonpad.load.record import RequestRecord
from moonpad.values.errors import CheckFailed, UsageError

REQUESTS_FILE: Final = "requests.jsonl"
RESULT_FILE: Final = "result.json"
RUN_FILE: Final = "run.json"
SERVER_FILE: Final = "server.jsonl"
DEVICES_FILE: Final = "devices.jsonl"


class RunFiles:
    """Appends lines and replaces by rename, so that a line that was written stays, whatever happens next."""

    def __init__(self, folder: Path, *, resume: bool = False) -> None:
        """`resume`: go on with the run that the folder holds; a line that a kill tore is taken out.

        Raises:
            UsageError: the folder cannot be written, or holds a run already.
        """
        self._folder = folder
        self._count = 0
        self._bytes = 0
        self._sizes: dict[str, int] = {}  # of the files of samples
        self._failure: CheckFailed | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if resume:
                self._bytes, self._count = _without_torn_line(folder / REQUESTS_FILE)
            self._lines = (folder / REQUESTS_FILE).open("ab" if resume else "xb", buffering=0)
        except FileExistsError as error:
            raise UsageError(f"{folder} holds a run already", remedy="name another folder with --out") from error
        except OSError as error:
            raise UsageError(
                f"{folder} cannot be written: {error.strerror}", remedy="name another with --out"
            ) from error

    def append(self, record: RequestRecord) -> None:
        """
        Raises:
            CheckFailed: the line could not be written; the lines before it are there, and nothing else. A shorter one
                that would still fit is refused too, or the count that was told would be wrong.
        """
        if self._failure:
            raise self._failure
        line = orjson.dumps(record) + b"\n"
        try:
            written = self._lines.write(line)
            if written != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            with suppress(OSError):  # readers leave a torn line out; without it nobody need know that there was one
                self._lines.truncate(self._bytes)
                self._lines.seek(self._bytes)
            self._failure = self._lost(REQUESTS_FILE, error)
            raise self._failure from error
        self._count += 1
        self._bytes += len(line)

    def records(self) -> SavedRecords:
        """Those that have been appended, now."""
        return SavedRecords(self._folder / REQUESTS_FILE)

    def begin(self, document: Mapping[str, Any]) -> None:
        """What is to be measured, before it is: a run that is killed can go on by it.

        Raises:
            UsageError: it could not be written.
        """
        try:
            self._replace(RUN_FILE, document)
        except OSError as error:
            raise UsageError(f"{self._folder} cannot be written: {error.strerror}", remedy="--out ANOTHER") from error

    def append_sample(self, name: str, row: Mapping[str, Any]) -> None:
        """What was seen beside the requests, as it is seen; a full disk costs these lines, and not the result."""
        if name not in self._sizes:
            with suppress(OSError):
                self._sizes[name] = _without_torn_line(self._folder / name)[0]
        line, size = orjson.dumps(row) + b"\n", self._sizes.get(name, 0)
        try:
            with (self._folder / name).open("ab", buffering=0) as lines:
                if lines.write(line) != len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            with suppress(OSError):
                os.truncate(self._folder / name, size)
        else:
            self._sizes[name] = size + len(line)

    def finish(self, document: dict[str, Any]) -> None:
        """Writes the result: the whole one or none.

        Raises:
            CheckFailed: it could not be written; the lines of the requests are there.
        """
        try:
            os.fsync(self._lines.fileno())
            self._replace(RESULT_FILE, document)
        except OSError as error:
            raise self._lost(RESULT_FILE, error) from error

    def _replace(self, name: str, document: Mapping[str, Any]) -> None:
        """The whole file or the one before it. Not by `store/`: what judges an endpoint needs no run of ours."""
        fresh = self._folder / f".{name}.{os.getpid()}.part"
        try:
            with fresh.open("wb") as file:
                file.write(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._folder / name)
        except OSError:
            with suppress(OSError):
                fresh.unlink()
            raise

    def close(self) -> None:
        self._lines.close()

    def _lost(self, name: str, error: OSError) -> CheckFailed:
        return CheckFailed(
            f"{self._folder / name} could not be written: {error.strerror}; "
            f"{self._count} requests are saved in {self._folder / REQUESTS_FILE}",
            remedy="free some space, or name a folder on another disk with --out",
        )


def _without_torn_line(file: Path) -> tuple[int, int]:
    """Bytes and lines that are left."""
    if not file.exists():
        return 0, 0
    data = file.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(file, whole)
    return whole, data.count(b"\n")
