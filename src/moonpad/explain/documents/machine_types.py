"""The types of machines of clouds that a text names, and devices whose kind and number stand in keys of YAML.

The table is catalog/data/cloud_machines.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.cloud_machines import machines_in
from moonpad.explain.documents.device_mentions import cluster_named

_KEYS: Final = re.compile(
    r"^(?P<indent>[ \t]*)(?:gpu|gpu_?type|gpu_?name|accelerator|device_?type):[ ]{1,4}"
    r"[\"']?(?P<kind>[A-Za-z0-9-]{2,20})[\"']?[ ]*\n"
    r"(?P=indent)(?:num_?gpus?|n_?gpus|gpu_?count|gpus|num_?devices):[ ]{1,4}[\"']?(?P<count>[1-9]\d{0,2})[\"']?[ ]*$",
    re.MULTILINE | re.IGNORECASE,
)
"""`gpu: MI355X` with `num_gpus: 8` below it."""


def types_in(text: str) -> Iterator[tuple[int, str]]:
    """Offset and machine of each type that a text names."""
    for first, _, machine in machines_in(text):
        yield first, machine


def keyed_machines(text: str) -> Iterator[tuple[int, str]]:
    """Offset and machine of each pair of keys."""
    for match in _KEYS.finditer(text):
        machine = f"{match['count']}x{match['kind']}"
        if cluster_named(machine) is not None:
            yield match.start("kind"), machine
