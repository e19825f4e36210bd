"""Reads the data files of the catalogue: each table as one value, so that a slip is named with its file, row and key.

The data are ours, and a test reads them all: what is wrong with them is a ValueError, not one of the user's errors.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeVar, get_args

import msgspec
import rtoml
from msgspec import Struct

from moonpad.values import records
from moonpad.values.units import GIB, MIB

Standing = Literal["verified", "reported", "estimated"]
STANDINGS: Final[tuple[str, ...]] = get_args(Standing)
DATA: Final = Path(__file__).parent / "data"
PROVENANCE: Final = ("source", "checked", "standing")
BYTES: Final = {"gib": GIB, "mib": MIB}

Amount = Annotated[float, msgspec.Meta(ge=0)]
Text = Annotated[str, msgspec.Meta(min_length=1)]
Span = tuple[float, float]
"""(low, high), equal where sources agree."""
T = TypeVar("T")


class Provenance(Struct, frozen=True):
    """Where figures come from, the day on which that was last checked (`2026-11-20`), and how sure they are.

    `verified`: run or computed here. `reported`: read in the source. `estimated`: concluded, with a range or a note.
    """

    source: Text
    checked: Text
    standing: Standing


def field_names(kind: type) -> frozenset[str]:
    return _names_of(kind)


@cache
def _names_of(kind: type) -> frozenset[str]:
    return frozenset(records.field_names(kind))


class Row(dict[str, Any]):
    """One table of a file. What is not a field of the same name is popped, converted and handed to `build`."""

    def __init__(self, where: str, table: Mapping[str, Any], checked: date | None = None) -> None:
        super().__init__(table)
        self.where = where
        self._checked = checked

    def error(self, problem: str) -> ValueError:
        return ValueError(f"{self.where}: {problem}")

    def take(self, key: str) -> Any:
        """Raises ValueError where the key is missing."""
        if key not in self:
            raise self.error(f"{key} is missing")
        return self.pop(key)

    def span(self, key: str, unit: float = 1.0) -> Span | None:
        """`[low, high]`, or one number for both, times the unit; None where the key is missing."""
        value = self.pop(key, None)
        if value is None:
            return None
        try:
            low, high = msgspec.convert(value if isinstance(value, list) else [value, value], Span)
        except msgspec.ValidationError as error:
            raise self.error(f"{key}: {error}") from None
        if low > high:
            raise self.error(f"{key} is {value!r}")
        return low * unit, high * unit

    def provenance(self) -> Provenance:
        """`source`, `checked` and `standing`: every row has all three, some by the head of its file."""
        return self._convert(self._about(self), Provenance)

    def _about(self, values: dict[str, Any]) -> dict[str, str]:
        """The three, which are popped from the values."""
        day = values.pop("checked", self._checked)
        if not isinstance(day, date):
            raise self.error(f"checked is {day!r}, not a date")
        if missing := {"source", "standing"} - values.keys():
            raise self.error(f"{min(missing)} is missing")
        return {"source": values.pop("source"), "checked": day.isoformat(), "standing": values.pop("standing")}

    def part(self, key: str, kind: type[T]) -> T:
        """The table under a key; empty where the key is missing."""
        return Row(f"{self.where}.{key}", self.pop(key, {})).build(kind)

    def build(self, kind: type[T], **converted: Any) -> T:
        """The value of the keys that are left and the values that were converted; the row is not changed.

        `x_gib` and `x_mib` become `x_bytes`. A key that is not a field is refused.
        """
        names = field_names(kind)
        values = dict(self)
        if "provenance" in names:
            values["provenance"] = self._about(values)
        elif names.issuperset(PROVENANCE):
            values |= self._about(values)
        for key in values.keys() - names:
            stem, _, unit = key.rpartition("_")
            if unit in BYTES and f"{stem}_bytes" in names and isinstance(values[key], int | float):
                values[f"{stem}_bytes"] = values.pop(key) * BYTES[unit]
        return self._convert(values | converted, kind)

    def _convert(self, values: Mapping[str, Any], kind: type[T]) -> T:
        if unknown := values.keys() - field_names(kind):
            raise self.error(f"unknown keys: {', '.join(sorted(unknown))}")
        try:
            return msgspec.convert(values, kind)
        except msgspec.ValidationError as error:
            raise self.error(str(error)) from None


@cache
def read_data(name: str) -> Mapping[str, Any]:
    """The parsed file `data/NAME`."""
    return MappingProxyType(rtoml.loads((DATA / name).read_text(encoding="utf-8")))


def rows(name: str, section: str) -> Iterator[tuple[str, Row]]:
    """(key, row) of each table below `section` of a file, in order; `checked` at its head is that of every row."""
    document = read_data(name)
    for key, table in document[section].items():
        yield key, Row(f"{name}: {section}.{key}", table, document.get("checked"))


@cache
def any_of(term: str) -> tuple[str, ...]:
    """Names that a row takes one for another: `--attention-backend or --decode-attention-backend`."""
    return tuple(term.split(" or "))


@cache
def pattern_of(written: str) -> re.Pattern[str]:
    """A pattern of a row for names in whatever case. `re` keeps 512 compiled; the tables have more."""
    return re.compile(written, re.IGNORECASE)


def unique(name: str, keys: Iterable[str]) -> None:
    """Raises ValueError where a key comes twice."""
    for key, count in Counter(keys).items():
        if count > 1:
            raise ValueError(f"{name}: {key} comes twice")
