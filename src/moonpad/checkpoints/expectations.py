"""Does the folder hold what it says, and what the spec asks for? Fault 25: the files decide, never the name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from moonpad.plan.tensors import tensor_groups
from moonpad.values.checkpoint import Checkpoint, Component, TensorGroup
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.units import gib

CONFIG: Final = "config.json"
TOLERATED: Final = 0.01
"""Scales in another type are below it: of FP8 they are 0.02 % of a component. Another format is far above."""
REMEDY: Final = "download config.json and the weights from one revision of one repository"

Key = tuple[Component, int | None]
EMPTY: Final = (0, 0)


def calculated_groups(checkpoint: Checkpoint) -> tuple[TensorGroup, ...]:
    """What the files should hold by the configuration. Whether they hold rotary tables is taken from themselves."""
    rotary = any(group.component is Component.ROTARY for group in checkpoint.groups)
    return tensor_groups(checkpoint.architecture, checkpoint.quantization, rotary_in_files=rotary)


def compare(checkpoint: Checkpoint, calculated: Iterable[TensorGroup]) -> tuple[Finding, ...]:
    """Where the headers of the files and the configuration disagree, one finding for a component.

    An error where weights are missing or in another format; a note where only what lies beside them differs.
    """
    if not checkpoint.groups or checkpoint.quantization.scheme == "gguf":  # its formats are nowhere but in the file
        return ()
    in_files, expected = _by_key(checkpoint.groups), _by_key(calculated)
    differences: dict[Component, _Difference] = {}
    for key in sorted({*in_files, *expected}, key=_order):
        actual, calculated_sizes = in_files.get(key, EMPTY), expected.get(key, EMPTY)
        if actual != calculated_sizes:
            differences.setdefault(key[0], _Difference()).add(key[1], actual, calculated_sizes)
    return tuple(_findings(differences))


def format_findings(checkpoint: Checkpoint, scheme: str, where: str = "model") -> tuple[Finding, ...]:
    """Whether the folder is of the scheme that a plan or a spec says (`int4`, `fp8` …), with the numbers."""
    actual = checkpoint.quantization.scheme
    if actual.casefold() == scheme.strip().casefold():
        return ()
    size = gib(checkpoint.total_bytes)
    message = f"the spec asks for {scheme}; {checkpoint.name} holds {actual}, {size} ({checkpoint.source})"
    return (Finding(Severity.ERROR, Code.CONFLICT, where, message, f"give the folder of a {scheme} checkpoint"),)


def _by_key(groups: Iterable[TensorGroup]) -> dict[Key, tuple[int, int]]:
    """(parameters, bytes) of each component and layer."""
    sizes: dict[Key, tuple[int, int]] = {}
    for group in groups:
        parameters, size_bytes = sizes.get((group.component, group.layer), EMPTY)
        sizes[group.component, group.layer] = parameters + group.parameters, size_bytes + group.size_bytes
    return sizes


@dataclass(slots=True)
class _Difference:
    layers: list[int | None] = field(default_factory=list)
    found: tuple[int, int] = EMPTY
    wanted: tuple[int, int] = EMPTY

    def add(self, layer: int | None, actual: tuple[int, int], calculated: tuple[int, int]) -> None:
        self.layers.append(layer)
        self.found = self.found[0] + actual[0], self.found[1] + actual[1]
        self.wanted = self.wanted[0] + calculated[0], self.wanted[1] + calculated[1]

    @property
    def serious(self) -> bool:
        return self.found[0] != self.wanted[0] or abs(self.found[1] - self.wanted[1]) > TOLERATED * self.wanted[1]

    def __str__(self) -> str:
        first = self.layers[0]
        places = "" if first is None else f" of {len(self.layers)} layers, {first} first,"
        return (
            f"{places} hold {self.found[0]} weights in {self.found[1]} bytes; "
            f"by the configuration {self.wanted[0]} in {self.wanted[1]}"
        )


def _findings(differences: dict[Component, _Difference]) -> Iterator[Finding]:
    for component, difference in differences.items():
        if component is Component.OTHER:
            message = f"the files hold tensors of no known component, {gib(difference.found[1])}; they are counted"
            yield Finding(Severity.NOTE, Code.CONFLICT, CONFIG, message)
            continue
        severity = Severity.ERROR if difference.serious else Severity.NOTE
        remedy = REMEDY if difference.serious else ""
        yield Finding(severity, Code.CONFLICT, CONFIG, f"the files' {component}{difference}", remedy)


def _order(key: Key) -> tuple[str, int]:
    return str(key[0]), -1 if key[1] is None else key[1]
