"""Large tables as they are built, which a program may keep for its next run: to read and to build them takes longer
than to judge a command by them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Keeper(Protocol):
    """Where built tables are kept (store/kept_tables.py)."""

    def table(self, files: Sequence[str], kind: Any, build: Callable[[], T], name: str) -> T:
        """What `build` makes of these files of the catalogue, or made of them before: a value of `kind`. It is kept
        under the name."""


_keepers: list[Keeper] = []


@contextmanager
def keeping(keeper: Keeper) -> Iterator[None]:
    """Within, large tables are asked of the keeper."""
    _keepers.append(keeper)
    try:
        yield
    finally:
        _keepers.pop()


def table(files: Sequence[str], kind: Any, build: Callable[[], T], name: str = "") -> T:
    """The table that is built of these files, whose type is `kind`. It is kept under `name`, or under that of
    the first file. Raises what `build` raises."""
    return _keepers[-1].table(files, kind, build, name or files[0].removesuffix(".toml")) if _keepers else build()
