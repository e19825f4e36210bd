"""Keeps the large tables of the catalogue as they are built: `$XDG_CACHE_HOME/moonpad/tables/NAME.msgpack`.

Each says of which state of moonpad and of the table's files it was made, by sizes and times; another one, one that
is torn, or not ours, is as good as none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from moonpad import __version__
from moonpad.catalog.kept_rows import keeping
from moonpad.catalog.toml_rows import DATA
from moonpad.store.atomic_files import replace_as_is
from moonpad.store.own_files import cache_folder, read_own

T = TypeVar("T")
_MOST_BYTES: Final = 16 << 20


class _Kept(msgspec.Struct):
    """A table, and what it was made of: each file with its size and its time."""

    of: list[tuple[str, int, int]]
    table: msgspec.Raw


@contextmanager
def tables_kept() -> Iterator[None]:
    """Within, large tables are taken from their files, which are written where they are missing and can be."""
    try:
        folder = cache_folder() / "tables"
    except OSError:
        yield
        return
    with keeping(_Tables(folder)):
        yield


class _Tables:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def table(self, files: Sequence[str], kind: Any, build: Callable[[], T], name: str) -> T:
        path = self._folder / f"{name}.msgpack"
        try:
            of = _state(build, files)
        except OSError:
            return build()
        with suppress(OSError, msgspec.MsgspecError):
            kept = msgspec.msgpack.decode(read_own(path, _MOST_BYTES), type=_Kept)
            if kept.of == of:
                read: T = msgspec.msgpack.decode(kept.table, type=kind)
                return read
        built = build()
        with suppress(OSError):
            replace_as_is(path, msgspec.msgpack.encode(_Kept(of, msgspec.Raw(msgspec.msgpack.encode(built)))))
        return built


def _state(build: Callable[[], object], files: Sequence[str]) -> list[tuple[str, int, int]]:
    """Of the program, of the module that builds the table, and of the table's files. Raises OSError."""
    module = sys.modules[build.__module__].__file__ or ""
    stats = [(path, path.stat()) for path in (Path(module), *(DATA / name for name in files))]
    return [(__version__, 0, 0), *((str(path), each.st_size, each.st_mtime_ns) for path, each in stats)]
