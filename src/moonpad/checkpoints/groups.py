"""The tensors of all headers, counted by component and layer."""

from __future__ import annotations

from typing import Final

from moonpad.checkpoints.header import DTYPE_BITS, Tensor
from moonpad.checkpoints.names import place_of
from moonpad.values.checkpoint import Architecture, Component, Quantization, TensorGroup

PACKED: Final = frozenset(("I32", "U8", "I8", "F4"))
"""What several weights may be packed into."""


class Groups:
    """`add` is called with each tensor of each header; two hundred thousand of them take a second."""

    def __init__(self, architecture: Architecture, quantization: Quantization) -> None:
        self._layers = architecture.layers
        self._is_mla = architecture.is_mla
        self._bits = {component: tensor_format.bits for component, tensor_format in quantization.formats.items()}
        self._counts: dict[tuple[Component, int | None], list[int]] = {}

    def add(self, tensor: Tensor) -> None:
        component, layer, scale = place_of(tensor.name)
        if layer is not None and layer >= self._layers:
            # DeepSeek-V3 keeps the layers of multi-token prediction behind the last one; the Kimi-K2 family has none.
            component = Component.OTHER
        elif component is Component.Q_B and layer is not None and not self._is_mla(layer):
            component = Component.KDA
        size_bytes = tensor.end - tensor.begin
        parameters = 0 if scale else size_bytes * 8 // self._weight_bits(component, tensor)
        self.count(component, layer, parameters, size_bytes)

    def count(self, component: Component, layer: int | None, parameters: int, size_bytes: int) -> None:
        """Counts a tensor whose place is known."""
        counts = self._counts.get((component, layer))
        if counts is None:
            counts = self._counts[component, layer] = [0, 0, 0]
        counts[0] += parameters
        counts[1] += size_bytes
        counts[2] += 1

    def _weight_bits(self, component: Component, tensor: Tensor) -> int:
        bits = DTYPE_BITS[tensor.dtype]
        if tensor.dtype not in PACKED or not tensor.name.endswith(("weight", "weight_packed", "qweight")):
            return bits
        if tensor.dtype == "I8":  # ModelSlim packs two 4-bit weights into one
            return min(bits, self._bits.get(component, bits))
        # Eight 4-bit weights in an INT32 (compressed-tensors), two FP4 in a byte (ModelOpt, quark).
        return min(bits, self._bits.get(component, 4), 8)

    def groups(self) -> tuple[TensorGroup, ...]:
        """What lies before the layers, the layers, what lies behind them."""
        groups = (
            TensorGroup(component, layer, parameters, size_bytes, tensors, layer is None or layer < self._layers)
            for (component, layer), (parameters, size_bytes, tensors) in self._counts.items()
        )
        return tuple(sorted(groups, key=_place))


def _place(group: TensorGroup) -> tuple[bool, float, str]:
    return not group.before, float("inf") if group.layer is None else group.layer, str(group.component)
