"""Options and variables that a server is slow with, or answers wrongly: data/slow_settings.toml."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows


class SlowSetting(Struct, frozen=True, kw_only=True):
    """All patterns are regular expressions; `values` is of a whole value, the others of a line."""

    key: str
    options: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    """Those that it is told of; none for all."""
    values: str = ""
    """What a value is like; "" for a switch."""
    meant: str = ""
    """Words of a text that sets it on purpose."""
    complained: bool = False
    """Whether it is told only in a text that complains of a slow server."""
    at_a_price: bool = False
    """Whether some choose it against a fault: a note then, where the text does not complain."""
    complaint: str = ""
    """Words of such a text, where they are others than those of every complaint."""
    evidence: str = ""
    """A line of a log that shows it as well as a complaint does."""
    devices: str = ""
    """Words of a text whose machine is slower by it; "" for any machine."""
    message: Text
    remedy: Text
    provenance: Provenance


@cache
def slow_settings() -> tuple[SlowSetting, ...]:
    return tuple(row.build(SlowSetting, key=key) for key, row in rows("slow_settings.toml", "settings"))
