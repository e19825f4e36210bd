"""Reads the data files of the catalogue: each table key by key, so that a slip is named with its file, row and key.

The data are ours, and a test reads them all: what is wrong with them is a ValueError, not one of the user's errors.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final, Literal, get_args

Standing = Literal["verified", "reported", "estimated"]
STANDINGS: Final[tuple[str, ...]] = get_args(Standing)
DATA: Final = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where figures come from, the day on which that was last checked (`2026-11-20`), and how sure they are.

    `verified`: run or computed here. `reported`: read in the source. `estimated`: concluded, with a range or a note.
    """

    source: str
    checked: str
    standing: Standing


class Row:
    """One table. Every key is asked for once; `done` refuses those that nobody asked for."""

    def __init__(self, where: str, table: object, defaults: Mapping[str, Any] | None = None) -> None:
        if not isinstance(table, dict):
            raise ValueError(f"{where} is no table")
        self.where = where
        self._defaults = dict(defaults or {})
        self._left: dict[str, Any] = dict(table)

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def _take(self, key: str, kinds: tuple[type, ...]) -> Any:
        """None where the key is not there. A bool is no number."""
        value = self._left.pop(key, self._defaults.get(key))
        if value is not None and (not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds)):
            raise ValueError(f"{self.where}: {key} is {value!r}")
        return value

    def _given(self, key: str, value: Any) -> Any:
        if value is None:
            raise ValueError(f"{self.where}: {key} is missing")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        value = self._take(key, (str,))
        return str(self._given(key, default if value is None else value))

    def whole(self, key: str, default: int | None = None) -> int:
        value = self._take(key, (int,))
        return int(self._given(key, default if value is None else value))

    def whole_or_none(self, key: str) -> int | None:
        value = self._take(key, (int,))
        return None if value is None else int(value)

    def number_or_none(self, key: str) -> float | None:
        value = self._take(key, (int, float))
        return None if value is None else float(value)

    def flag(self, key: str, default: bool | None = None) -> bool:
        value = self._take(key, (bool,))
        return bool(self._given(key, default if value is None else value))

    def texts(self, key: str) -> tuple[str, ...]:
        """() where the key is not there."""
        values = self._take(key, (list,)) or []
        if not all(isinstance(value, str) for value in values):
            raise ValueError(f"{self.where}: {key} is {values!r}")
        return tuple(values)

    def wholes(self, key: str) -> tuple[int, ...]:
        values = self._take(key, (list,)) or []
        if not all(isinstance(value, int) and not isinstance(value, bool) for value in values):
            raise ValueError(f"{self.where}: {key} is {values!r}")
        return tuple(values)

    def span(self, key: str) -> tuple[float, float] | None:
        """`[low, high]`, or one number for both; None where the key is not there."""
        value = self._take(key, (int, float, list))
        if value is None:
            return None
        low, high = value if isinstance(value, list) and len(value) == 2 else (value, value)
        if not (isinstance(low, int | float) and isinstance(high, int | float) and low <= high):
            raise ValueError(f"{self.where}: {key} is {value!r}")
        return float(low), float(high)

    def table(self, key: str) -> dict[str, Any]:
        """{} where the key is not there."""
        return dict(self._take(key, (dict,)) or {})

    def provenance(self) -> Provenance:
        """`source`, `checked` and `standing`: every row has all three, some by the head of its file."""
        source, standing = self.text("source"), self.text("standing")
        day = self._given("checked", self._take("checked", (date,)))
        if standing not in STANDINGS:
            raise ValueError(f"{self.where}: standing is {standing!r}, not one of {', '.join(STANDINGS)}")
        if not source:
            raise ValueError(f"{self.where}: source is empty")
        known: Standing = next(one for one in get_args(Standing) if one == standing)
        return Provenance(source, day.isoformat(), known)

    def done(self) -> None:
        if self._left:
            raise ValueError(f"{self.where}: nobody reads {', '.join(sorted(self._left))}")


def read_data(name: str) -> dict[str, Any]:
    """The parsed file `data/NAME`."""
    return tomllib.loads((DATA / name).read_text(encoding="utf-8"))


def rows(name: str, section: str) -> Iterator[tuple[str, Row]]:
    """(key, row) of each table below `section` of a file, in order; `checked` at its head is that of every row."""
    document = read_data(name)
    defaults = {"checked": document.get("checked")}
    for key, table in document[section].items():
        yield key, Row(f"{name}: {section}.{key}", table, defaults)


def unique(name: str, keys: Iterator[str]) -> None:
    """Raises ValueError where a key comes twice."""
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            raise ValueError(f"{name}: {key} comes twice")
        seen.add(key)
