"""One checkpoint of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass

from moonpad.catalog.toml_rows import Standing
from moonpad.values.checkpoint import Architecture, Quantization


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A checkpoint by its name. `refused` is a sentence where moonpad cannot plan it, "" where it can.

    `total_bytes` counts tensors, without the headers of the files; `standing` is its standing. `formats_known` False
    (GGUF): it alone says what the weights take, and `quantization.formats` says nothing. Architecture, quantisation and
    size are there whenever `refused` is "".
    """

    id: str
    aliases: tuple[str, ...] = ()
    architecture: Architecture | None = None
    quantization: Quantization | None = None
    total_bytes: int | None = None
    total_low_bytes: int | None = None
    total_high_bytes: int | None = None
    rotary_in_files: bool = False
    formats_known: bool = False
    refused: str = ""
    standing: Standing
    source: str
    checked: str
    """The day on which the source was last checked, `2026-11-20`."""
    notes: str = ""
    license: str = ""
    """"" where none was seen."""
    shards: int | None = None
    tensors: int | None = None
    """How many tensors the files hold, as they or their published index say; None: not seen."""
    hub: str = "Hugging Face"
    architecture_name: str = ""
    """The row of architectures.toml."""
    quantization_name: str = ""
    """The row of quantizations.toml."""

    @property
    def exact(self) -> bool:
        """Whether the size is known to the byte."""
        return self.total_bytes is not None and self.total_low_bytes == self.total_high_bytes
