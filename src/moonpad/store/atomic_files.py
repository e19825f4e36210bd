"""Two ways to write, and no third: append a line, or replace a file by rename.

No known secret gets into a file. The exceptions, by `replace_as_is` and of mode 0600, have it as their purpose: the
files of a process that the engine reads its key from, and on another host the job of the keeper.
"""

from __future__ import annotations

import errno
import glob
import json
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Final

from moonpad.facts.processes import read_stat
from moonpad.spec.input_file import open_regular, read_regular, require_regular
from moonpad.store.line_reader import PIECE_BYTES, lines_from_end, lines_of, pieces_of
from moonpad.values.redaction import redact, redacted, secret_spans

LINE_BYTES: Final = 1 << 20
"""A longer line is refused when it is written, and skipped when it is read."""

DOCUMENT_BYTES: Final = 16 << 20
"""A longer file is not one of our documents."""

LINES_BYTES: Final = 128 << 20
TORN_LINES: Final = 10_000
"""A file with more of them is not one of ours."""

LEFTOVER_S: Final = 60.0
"""A replacement takes milliseconds; an older part file whose writer is gone was left by a kill."""


def replace_text(path: Path, text: str, mode: int = 0o600) -> None:
    """As `replace_as_is`, without a secret. A page and XML are written as they are: `***` in a tag would spoil them,
    so their values are redacted where they are escaped (report/plain_text.py)."""
    replace_as_is(path, redact(text), mode)


def replace_json(path: Path, document: object, mode: int = 0o600) -> None:
    replace_as_is(path, _json(document, indent=1) + "\n", mode)


def _json(document: object, **options: Any) -> str:
    text = json.dumps(document, default=str, **options)
    return json.dumps(redacted(json.loads(text)), **options) if secret_spans(text) else text


def replace_as_is(path: Path, content: str | bytes, mode: int = 0o600) -> None:
    """The old file or the new one, never half of it. The parent folder is made where it is missing. Raises OSError: the
    old file is there as it was; no part of the new one is left."""
    require_replaceable(path)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    remove_parts(path.parent, path.name)
    # The thread's number, so that two of them do not write one part; the process's last, for `remove_parts`.
    part = path.with_name(f".{path.name}.{threading.get_native_id()}.{os.getpid()}.part")
    try:
        part.unlink(missing_ok=True)  # of a killed process that had our number
        # Other users may not read it, not even before it has its mode.
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
            file.flush()
            os.fchmod(handle, mode)
            os.fsync(handle)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def require_replaceable(path: Path) -> None:
    """Raises OSError where no file can be at the path, or something else is: root could replace /dev/null by a file."""
    if not path.name:  # "" or "/"
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    with suppress(FileNotFoundError):
        require_regular(path.stat(), path)


def remove_parts(folder: Path, name: str = "", older_than_s: float = LEFTOVER_S) -> None:
    """Removes what a killed `replace_text` has left in the folder, for the file of that name, by default for any."""
    for part in folder.glob(f".{glob.escape(name)}.*.part" if name else ".*.part"):
        pid = part.name.split(".")[-2]
        if pid.isdigit() and ((stat := read_stat(int(pid))) is None or not stat.runs):
            with suppress(OSError):  # another process was faster
                if older_than_s == 0 or time.time() - part.stat().st_mtime > older_than_s:
                    part.unlink()


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in the file; None where there is no file or it does not hold a JSON object."""
    try:
        return _object(read_regular(path, DOCUMENT_BYTES))
    except OSError:
        return None


def append_line(path: Path, record: Mapping[str, object]) -> None:
    """One JSON line in one write, so that several processes may append to one file.

    A line that a full disk has torn, here or in another process, stays a line of its own, so that later lines can be
    read. Raises OSError: the line is not in the file, or only a torn piece of it: the disk is full (ENOSPC, EDQUOT),
    the line is over LINE_BYTES (EFBIG).
    """
    line = _json(record).encode() + b"\n"
    if len(line) > LINE_BYTES:
        raise OSError(errno.EFBIG, f"a line of {len(line)} bytes, the limit is {LINE_BYTES}", str(path))
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(handle).st_size
        _write_whole(handle, line if _ends_a_line(handle, size) else b"\n" + line, path)
        begin = os.lseek(handle, 0, os.SEEK_CUR) - len(line)
        if not _ends_a_line(handle, begin):  # between our look and our write another process was cut short
            _write_whole(handle, b"\n" + line, path)
    finally:
        os.close(handle)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Every complete line of the first LINES_BYTES. A torn one (full disk, power loss) is skipped."""
    with suppress(OSError), open_regular(path) as file:
        yield from _records(lines_of(islice(pieces_of(file), LINES_BYTES // PIECE_BYTES), LINE_BYTES))


def read_lines_backwards(path: Path) -> Iterator[dict[str, Any]]:
    """As `read_lines`, the last one first, without reading the beginning of a long file."""
    with suppress(OSError), open_regular(path) as file:
        yield from _records(line for _, line in lines_from_end(file, LINE_BYTES, os.fstat(file.fileno()).st_size))


def _records(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    torn = 0
    for line in lines:
        if len(line) <= LINE_BYTES and (record := _object(line)) is not None:
            yield record
        elif (torn := torn + 1) > TORN_LINES:
            return


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        document = json.loads(text) if text.startswith(b"{") else None
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _ends_a_line(handle: int, offset: int) -> bool:
    """Whether a line that is written at the offset stands at the beginning of a line."""
    return offset == 0 or os.pread(handle, 1, offset - 1) == b"\n"


def _write_whole(handle: int, data: bytes, path: Path) -> None:
    written = os.write(handle, data)
    if written != len(data):
        raise OSError(errno.ENOSPC, f"{written} of {len(data)} bytes fitted", str(path))


def _sync_folder(folder: Path) -> None:
    """So that the rename survives a power loss. Some filesystems refuse that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
