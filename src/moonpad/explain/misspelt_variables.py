"""Variables whose names are known ones but for a slip: the corrected command sets the one that is meant."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from moonpad.explain.commands import Word
from moonpad.explain.results import Remark
from moonpad.explain.spelling import one_apart
from moonpad.values.records import replace

_CHOOSES_DEVICES: Final = "VISIBLE_DEVICES"
"""Part of names whose value, once it counts, may leave fewer devices than the command asks for."""


def with_meant_name(remark: Remark, meant: str, variables: Mapping[str, Word], known: Collection[str]) -> Remark:
    """With the name that is meant in its place, where one slip of a letter is all that tells them apart, and one name
    alone is so near."""
    name = remark.variable or ""
    if chooses_devices(meant) or [each for each in known if one_apart(name, each)] != [meant]:
        return remark
    return under_name(remark, meant, variables)


def chooses_devices(name: str) -> bool:
    return _CHOOSES_DEVICES in name


def under_name(remark: Remark, meant: str, variables: Mapping[str, Word]) -> Remark:
    """With the value under the other name; without it where that is set as well."""
    name = remark.variable or ""
    if meant in variables:
        return replace(remark, drop_variable=True)
    value = variables[name].text.removeprefix(f"{name}=")
    return replace(remark, drop_variable=True, sets=((meant, value),))


def counts_on(name: str, near: str) -> bool:
    """Whether they differ in a number alone, as names of one kind do."""
    return re.sub(r"_?[0-9]+", "", name) == re.sub(r"_?[0-9]+", "", near)
