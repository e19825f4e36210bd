"""Does the folder hold what it says, and what the spec asks for? Fault 25: the files decide, never the name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from moonpad.checkpoints.config import CONFIG
from moonpad.plan.tensors import tensor_groups
from moonpad.values.checkpoint import Checkpoint, Component, TensorGroup
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.units import gib

TOLERATED: Final = 0.01
"""Scales in another type are below it: of FP8 they are 0.02 % of a component. Another format is far above."""
REMEDY: Final = "download config.json and the weights from one revision of one repository"

Key = tuple[Component, int | None]
Sizes = tuple[int, int]
"""(parameters, bytes)."""
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
    layers: dict[Component, list[int | None]] = {}
    for component, layer in sorted({*in_files, *expected}, key=lambda key: (key[0], -1 if key[1] is None else key[1])):
        if in_files.get((component, layer), EMPTY) != expected.get((component, layer), EMPTY):
            layers.setdefault(component, []).append(layer)
    return tuple(
        _difference(component, differing, _sum(in_files, component, differing), _sum(expected, component, differing))
        for component, differing in layers.items()
    )


def format_findings(checkpoint: Checkpoint, scheme: str, where: str = "model") -> tuple[Finding, ...]:
    """Whether the folder is of the scheme that a plan or a spec says (`int4`, `fp8` …), with the numbers."""
    actual = checkpoint.quantization.scheme
    if actual.casefold() == scheme.strip().casefold():
        return ()
    size = gib(checkpoint.total_bytes)
    message = f"the spec asks for {scheme}; {checkpoint.name} holds {actual}, {size} ({checkpoint.source})"
    return (Finding(Severity.ERROR, Code.CONFLICT, where, message, f"give the folder of a {scheme} checkpoint"),)


def _by_key(groups: Iterable[TensorGroup]) -> dict[Key, Sizes]:
    sizes: dict[Key, Sizes] = {}
    for group in groups:
        parameters, size_bytes = sizes.get((group.component, group.layer), EMPTY)
        sizes[group.component, group.layer] = parameters + group.parameters, size_bytes + group.size_bytes
    return sizes


def _sum(sizes: Mapping[Key, Sizes], component: Component, layers: Iterable[int | None]) -> Sizes:
    parameters, size_bytes = zip(*(sizes.get((component, layer), EMPTY) for layer in layers), strict=True)
    return sum(parameters), sum(size_bytes)


def _difference(component: Component, layers: Sequence[int | None], actual: Sizes, wanted: Sizes) -> Finding:
    """What the files hold in the layers that differ, against what the configuration wants there."""
    if component is Component.OTHER:
        message = f"the files hold tensors of no known component, {gib(actual[1])}; they are counted"
        return Finding(Severity.NOTE, Code.CONFLICT, CONFIG, message)
    places = "" if layers[0] is None else f" of {len(layers)} layers, {layers[0]} first,"
    message = (
        f"the files' {component}{places} hold {actual[0]} weights in {actual[1]} bytes; "
        f"by the configuration {wanted[0]} in {wanted[1]}"
    )
    if actual[0] == wanted[0] and abs(actual[1] - wanted[1]) <= TOLERATED * wanted[1]:
        return Finding(Severity.NOTE, Code.CONFLICT, CONFIG, message)
    return Finding(Severity.ERROR, Code.CONFLICT, CONFIG, message, REMEDY)
