"""The keeper as one file for other hosts: a zipapp of the standard library, its bytes the same on every machine."""

from __future__ import annotations

import io
import zipfile
from functools import cache
from pathlib import Path
from typing import Final

import moonpad

SHARED: Final = (
    "facts/processes.py",
    "spec/home.py",
    "spec/input_file.py",
    "store/atomic_files.py",
    "store/journal.py",
    "store/line_reader.py",
    "store/paths.py",
    "store/safe_streams.py",
    "values/redaction.py",
    "values/visible_text.py",
)
"""What the keeper imports beside its own package."""


@cache
def keeper_archive() -> bytes:
    root = Path(moonpad.__file__).parent
    own = sorted(path.relative_to(root).as_posix() for path in (root / "run" / "keeper").glob("*.py"))
    files = {f"moonpad/{name}": (root / name).read_bytes() for name in (*SHARED, *own)}
    packages = {f"moonpad/{name}__init__.py": b"" for name in ("", "facts/", "run/", "spec/", "store/", "values/")}
    start = {"__main__.py": files["moonpad/run/keeper/__main__.py"]}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:  # stored: zlib's releases differ in their bytes
        for name, data in {**packages, **files, **start}.items():
            archive.writestr(zipfile.ZipInfo(name), data)  # dated 1980
    return content.getvalue()
