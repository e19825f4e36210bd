"""The files of one run: every finished request at once, the result at the end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import orjson

from moonpad.load.record import RequestRecord
from moonpad.values.errors import CheckFailed, UsageError

REQUESTS_FILE: Final = "requests.jsonl"
RESULT_FILE: Final = "result.json"


class RunFiles:
    """Appends lines and replaces by rename, so that a line that was written stays, whatever happens next."""

    def __init__(self, folder: Path) -> None:
        """
        Raises:
            UsageError: the folder cannot be written, or holds a run already.
        """
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lines = (folder / REQUESTS_FILE).open("xb", buffering=0)
        except FileExistsError as error:
            raise UsageError(f"{folder} holds a run already", remedy="name another folder with --out") from error
        except OSError as error:
            raise UsageError(
                f"{folder} cannot be written: {error.strerror}", remedy="name another with --out"
            ) from error

    def append(self, record: RequestRecord) -> None:
        """
        Raises:
            CheckFailed: the line could not be written; the lines before it are there.
        """
        line = orjson.dumps(record) + b"\n"
        try:
            written = self._lines.write(line)
        except OSError as error:
            raise self._lost(REQUESTS_FILE, error.strerror) from error
        if written != len(line):
            raise self._lost(REQUESTS_FILE, f"{written} of {len(line)} bytes fitted")

    def finish(self, document: dict[str, Any]) -> None:
        """Writes the result: the whole one or none."""
        fresh = self._folder / f".{RESULT_FILE}.{os.getpid()}"
        try:
            fresh.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
            fresh.replace(self._folder / RESULT_FILE)
        except OSError as error:
            raise self._lost(RESULT_FILE, error.strerror) from error

    def close(self) -> None:
        self._lines.close()

    def _lost(self, name: str, why: str | None) -> CheckFailed:
        return CheckFailed(
            f"{self._folder / name} could not be written: {why}",
            remedy=f"free some space; what was measured before is in {self._folder / REQUESTS_FILE}",
        )
