"""Files that moonpad keeps for its own next run: one that another user may have written counts for nothing."""

from __future__ import annotations

import os
from pathlib import Path

from moonpad.spec.home import base_folder
from moonpad.spec.input_file import read_regular


def cache_folder() -> Path:
    """Where they are. Raises OSError where there is no home folder."""
    return base_folder("XDG_CACHE_HOME", ".cache") / "moonpad"


def read_own(path: Path, most_bytes: int) -> bytes:
    """The whole file, b"" where another user may have written it. Raises OSError."""
    found = path.stat()
    if found.st_uid != os.getuid() or found.st_mode & 0o022:
        return b""
    return read_regular(path, most_bytes)
