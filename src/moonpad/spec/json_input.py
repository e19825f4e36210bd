"""JSON that others wrote, without more memory than its limit: parsed, a value takes up to forty times its text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from moonpad.spec.input_file import open_regular, read_regular

LINE_BYTES: Final = 1 << 20
BOM: Final = b"\xef\xbb\xbf"
TORN_LINES: Final = 1000
"""A file with more of them holds something else."""
DOCUMENT_BYTES: Final = 64_000_000
MEMORY_BYTES: Final = 256_000_000

# What an object, a list, a key and any value take; a text that holds these characters is only taken for larger.
_COSTS: Final = ((b"{", 240), (b"[", 90), (b":", 130), (b",", 40))


def load_json(data: bytes, most_memory_bytes: int = MEMORY_BYTES) -> Any:
    """The document.

    Raises:
        ValueError: it is not JSON, is nested more than 1024 deep, or holds more values than the memory may hold.
    """
    if len(data) * max(cost for _, cost in _COSTS) > most_memory_bytes:
        needed = sum(data.count(mark) * cost for mark, cost in _COSTS)
        if needed > most_memory_bytes:
            limit = f"the limit is {most_memory_bytes >> 20:,} MiB"
            raise ValueError(f"its values would take {needed >> 20:,} MiB of memory; {limit}")
    return orjson.loads(data)


def lines_in(data: bytes) -> list[bytes]:
    """The lines of a file of JSON lines, as any editor left them: with a byte order mark, or with CR LF. Not split at
    U+2028 and the like, which may stand in a text."""
    return data.removeprefix(BOM).splitlines()


def json_lines(path: Path, most_bytes: int = DOCUMENT_BYTES) -> Iterator[Any]:
    """The documents of a file with one a line, without those that a kill tore.

    Raises:
        OSError: as `read_json_file`.
    """
    torn = 0
    with open_regular(path, most_bytes) as file:
        while (line := file.readline(LINE_BYTES)) and torn < TORN_LINES:
            try:
                yield load_json(line)
            except ValueError:
                torn += 1


def read_json_file(path: Path, most_bytes: int = DOCUMENT_BYTES) -> Any:
    """The document in a file.

    Raises:
        OSError: it cannot be read, is not a regular file, or is larger (spec/input_file.py).
        ValueError: as `load_json`.
    """
    return load_json(read_regular(path, most_bytes))
