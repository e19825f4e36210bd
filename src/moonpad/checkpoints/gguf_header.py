"""The header of a GGUF file: its metadata and where each tensor lies, read as a hostile file.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, versions 2 and 3, little-endian.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO, Final

from moonpad.values.errors import CheckpointError

MAGIC: Final = b"GGUF"
CHUNK_BYTES: Final = 1 << 22
MAX_HEADER_BYTES: Final = 1 << 27
"""The vocabulary of Kimi-K2 with its scores takes some 6 MB."""
MAX_TENSORS: Final = 1 << 17
MAX_KEYS: Final = 1 << 12
MAX_DIMENSIONS: Final = 4
MAX_TEXTS: Final = 500_000
"""In arrays, all together: the words of Kimi-K2 and how they merge are 330 thousand."""
MAX_TEXT: Final = 1 << 16
"""Longer texts, such as chat templates, are passed over."""

_NUMBERS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING: Final = 8
_ARRAY: Final = 9


@dataclass(frozen=True, slots=True)
class GgufTensor:
    """`kind` is GGML's number of the format (`catalog/ggml_types.py`)."""

    name: str
    values: int
    row: int
    """Values of the innermost dimension, which blocks of a format do not cross."""
    kind: int


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """`metadata` has numbers, truth values and short texts; of an array, how many elements it has."""

    metadata: Mapping[str, int | float | bool | str]
    tensors: tuple[GgufTensor, ...]


def read_header(file: BinaryIO) -> GgufHeader:
    """Raises CheckpointError, without the file's name, where it is not such a file or cannot be one."""
    reader = _Reader(file)
    if reader.take(4) != MAGIC:
        raise CheckpointError("is not a GGUF file")
    version, tensor_count, key_count = reader.number("I"), reader.number("Q"), reader.number("Q")
    if version not in (2, 3):
        raise CheckpointError(f"is GGUF version {version}, which moonpad cannot read")
    if tensor_count > MAX_TENSORS or key_count > MAX_KEYS:
        raise CheckpointError(f"claims {tensor_count} tensors and {key_count} keys, which is not plausible")
    metadata = {}
    for _ in range(key_count):
        key = reader.text()
        metadata[key] = reader.value(reader.number("I"))
    return GgufHeader(metadata, tuple(_tensor(reader) for _ in range(tensor_count)))


def _tensor(reader: _Reader) -> GgufTensor:
    name, count = reader.text(), reader.number("I")
    if not 1 <= count <= MAX_DIMENSIONS:
        raise CheckpointError(f"has a tensor of {count} dimensions")
    dimensions = [reader.number("Q") for _ in range(count)]
    if math.prod(dimensions) >= 1 << 50:
        raise CheckpointError("has a tensor of an implausible size")
    kind = reader.number("I")
    reader.number("Q")  # where its data begins
    return GgufTensor(name, math.prod(dimensions), dimensions[0], kind)


class _Reader:
    """Takes bytes from the front; never holds more than a header may have."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._buffer = b""
        self._at = 0
        self._taken = 0
        self._texts = 0

    def take(self, count: int) -> bytes:
        self._taken += count
        if self._taken > MAX_HEADER_BYTES:
            raise CheckpointError(f"has a header of more than {MAX_HEADER_BYTES >> 20} MiB")
        while len(self._buffer) - self._at < count:
            try:
                more = self._file.read(CHUNK_BYTES)
            except OSError as error:
                raise CheckpointError(f"cannot be read: {error.strerror or error}") from None
            if not more:
                raise CheckpointError("ends within its header")
            self._buffer, self._at = self._buffer[self._at :] + more, 0
        self._at += count
        return self._buffer[self._at - count : self._at]

    def number(self, code: str) -> int:
        return int(struct.unpack(f"<{code}", self.take(struct.calcsize(f"<{code}")))[0])

    def text(self) -> str:
        return self.take(self._size())[:MAX_TEXT].decode(errors="replace")

    def _size(self) -> int:
        """Of the text that follows."""
        size = self.number("Q")
        if size > MAX_HEADER_BYTES:
            raise CheckpointError(f"has a text of {size} bytes in its header")
        return size

    def value(self, kind: int) -> int | float | bool | str:
        if kind == _STRING:
            return self.text()
        if kind == _ARRAY:
            return self._array()
        code = self._code(kind)
        value: int | float | bool = struct.unpack(f"<{code}", self.take(struct.calcsize(f"<{code}")))[0]
        return value

    def _array(self) -> int:
        kind, count = self.number("I"), self.number("Q")
        if count > MAX_HEADER_BYTES:
            raise CheckpointError(f"has an array of {count} elements in its header")
        if kind == _STRING:
            self._texts += count
            if self._texts > MAX_TEXTS:
                raise CheckpointError(f"has {self._texts} texts in its header; at most {MAX_TEXTS} is plausible")
            for _ in range(count):
                self.take(self._size())
        elif kind == _ARRAY:
            raise CheckpointError("has arrays of arrays in its header")
        else:
            self.take(count * struct.calcsize(f"<{self._code(kind)}"))
        return count

    def _code(self, kind: int) -> str:
        if kind not in _NUMBERS:
            raise CheckpointError(f"has metadata of the unknown type {kind}")
        return _NUMBERS[kind]
