"""The log of an engine, as a person gives it: a file, or standard input as `-`."""

from __future__ import annotations

from errno import EFBIG
from pathlib import Path
from typing import Final

from moonpad.spec.input_file import read_input
from moonpad.values.errors import UsageError

MAX_BYTES: Final = 16_000_000


def read_log_file(file: Path, command: str) -> str:
    """The text; `command` reads one from standard input, and is named where the file has to be cut or unpacked.

    Raises UsageError: it cannot be read, is larger than `MAX_BYTES`, or compressed.
    """
    try:
        data = read_input(file, MAX_BYTES)
    except OSError as error:
        remedy = f"head -c {MAX_BYTES} FILE | {command} -" if error.errno == EFBIG else ""
        raise UsageError(
            f"cannot read {file}: {error.strerror}", remedy=remedy or "name a file that you may read"
        ) from None
    if data.startswith(b"\x1f\x8b"):
        raise UsageError(f"{file} is compressed", remedy=f"gunzip -c FILE | {command} -")
    coding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    return data.decode(coding, "replace")
