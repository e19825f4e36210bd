"""Dataclasses and structs by the same functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

import pytest
from msgspec import Struct

from moonpad.values.records import as_dict, field_names, is_record, replace


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Old:
    name: str
    size: int = 1


class New(Struct, frozen=True):
    name: str
    olds: tuple[Old, ...] = ()
    by_name: Mapping[str, Old] = MappingProxyType({})
    colour: Colour = Colour.RED


@pytest.mark.parametrize(("kind", "names"), [(Old, ("name", "size")), (New, ("name", "olds", "by_name", "colour"))])
def test_names_in_order(kind: type, names: tuple[str, ...]) -> None:
    assert field_names(kind) == names


def test_another_content_of_a_field() -> None:
    assert replace(Old("a"), size=2) == Old("a", 2)
    assert replace(New("a"), name="b") == New("b")
    for value in (Old("a"), New("a")):
        with pytest.raises(TypeError):
            replace(value, none=1)


def test_one_within_the_other() -> None:
    value = New("a", (Old("b"),), MappingProxyType({"c": Old("c", 3)}))
    assert as_dict(value) == {
        "name": "a",
        "olds": ({"name": "b", "size": 1},),
        "by_name": {"c": {"name": "c", "size": 3}},
        "colour": Colour.RED,
    }


def test_what_has_no_fields() -> None:
    assert [is_record(value) for value in (Old("a"), New("a"), Old, New, "a", {})] == [
        True,
        True,
        False,
        False,
        False,
        False,
    ]
    with pytest.raises(TypeError):
        as_dict({})
