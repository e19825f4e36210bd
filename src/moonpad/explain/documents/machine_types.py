"""The types of machines of clouds that a text names; the table is catalog/data/cloud_machines.toml."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.catalog.cloud_machines import machines_in


def types_in(text: str) -> Iterator[tuple[int, str]]:
    """Offset and machine of each type that a text names."""
    for first, _, machine in machines_in(text):
        yield first, machine
