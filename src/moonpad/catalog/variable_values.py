"""What values variables take of engines and of their libraries: data/variable_values.toml."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "variable_values.toml"


class VariableValue(Struct, frozen=True, kw_only=True):
    """Regular expressions are of whole values. One of `takes` and `refuses` is enough."""

    names: tuple[str, ...]
    engines: tuple[str, ...] = ()
    """Those whose own variables they are; none for variables of libraries, which are there with every engine."""
    since: str = ""
    """The first release of those engines that was read and looks at the value so."""
    takes: str = ""
    """What a value is like that is taken; "" for any that is not refused."""
    formerly: str = ""
    """What a value is like that releases before `since` take."""
    formerly_in: str = ""
    """Those of them that do."""
    refuses: str = ""
    """What a value is like that is never taken."""
    message: Text
    """What happens; `{value}` is what is written."""
    remedy: Text
    provenance: Provenance


@cache
def variable_values() -> Mapping[str, tuple[VariableValue, ...]]:
    """By the names of the variables."""
    found: dict[str, tuple[VariableValue, ...]] = {}
    for _, row in rows(FILE, "values"):
        value = row.build(VariableValue)
        for name in value.names:
            found[name] = (*found.get(name, ()), value)
    return found
