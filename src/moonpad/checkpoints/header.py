"""The header of one safetensors file: eight bytes of length, a JSON object, then the tensors.

Format: https://huggingface.co/docs/safetensors/index#format. Read as a hostile file (fault 22): the length is checked
before anything is allocated, and tensors are taken one at a time instead of parsing the whole object, which can take
thirty times its own size in memory.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from math import prod
from typing import Annotated, BinaryIO, Final, Literal, NamedTuple

import msgspec

from moonpad.values.errors import CheckpointError

MAX_HEADER_BYTES: Final = 40_000_000
"""The format allows 100 MB. The 211 thousand tensors of a whole Kimi-K2-Thinking, in one file, would take 28 MB."""
MAX_TENSORS: Final = 250_000
MAX_METADATA_BYTES: Final = 1_000_000
MAX_DIMENSIONS: Final = 32

# https://github.com/huggingface/safetensors/blob/main/safetensors/src/tensor.rs, Dtype::bitsize
DTYPE_BITS: Final = {
    **dict.fromkeys(("F4",), 4),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("I16", "U16", "F16", "BF16"), 16),
    **dict.fromkeys(("I32", "U32", "F32"), 32),
    **dict.fromkeys(("I64", "U64", "F64", "C64"), 64),
}

_EMPTY: Final = re.compile(rb"\{\s*+\}")
_NAME: Final = re.compile(
    rb"""
    \s*+ " ( [^"\\\x00-\x1f]{0,1000}+ (?: \\. [^"\\\x00-\x1f]{0,1000}+ ){0,100}+ ) " \s*+ : \s*+
""",
    re.VERBOSE,
)
_TENSOR: Final = re.compile(rb"\{[^{}]{0,2000}+\}")
_NEXT: Final = re.compile(rb"\s*+([,}])")
# An object of texts, which may hold braces themselves.
_METADATA: Final = re.compile(rb"""\{(?:[^"{}]++|"(?:[^"\\]++|\\.)*+")*+\}""", re.DOTALL)

Size = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class Entry(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """What the header says of one tensor."""

    dtype: Literal[tuple(DTYPE_BITS)]  # type: ignore[valid-type]
    shape: Annotated[tuple[Size, ...], msgspec.Meta(max_length=MAX_DIMENSIONS)]
    data_offsets: tuple[Size, Size]


_ENTRY: Final = msgspec.json.Decoder(Entry)
_TEXTS: Final = msgspec.json.Decoder(dict[str, str])


class Tensor(NamedTuple):
    """`begin` and `end` are bytes behind the header. A named tuple, since a checkpoint has 200 thousand of them."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def read_header(file: BinaryIO, size_bytes: int) -> bytes:
    """The JSON of a file of that size, unparsed. Raises CheckpointError where its length cannot be true."""
    prefix = file.read(8)
    if len(prefix) < 8:
        raise CheckpointError(f"has {size_bytes} bytes, too short for a safetensors file")
    length = int.from_bytes(prefix, "little")
    if length > MAX_HEADER_BYTES:
        raise CheckpointError(f"says that its header has {length} bytes; at most {MAX_HEADER_BYTES} is plausible")
    if length + 8 > size_bytes:
        raise CheckpointError(f"says that its header has {length} bytes; the file has {size_bytes}")
    header = file.read(length)
    if len(header) < length:
        raise CheckpointError(f"ended after {len(header)} of {length} bytes of its header")
    return header


def tensors(header: bytes) -> Iterator[Tensor]:
    """The tensors of a header one by one; after the last one, that they fill their room without gap or overlap.

    Raises:
        CheckpointError: the header is not what the format says; the message says where.
    """
    begins, ends = array("Q"), array("Q")
    for name, value in _entries(header):
        tensor = _tensor(name, value)
        if len(begins) == MAX_TENSORS:
            raise CheckpointError(f"has more than {MAX_TENSORS} tensors")
        begins.append(tensor.begin)
        ends.append(tensor.end)
        yield tensor
    _check_contiguous(begins, ends)


def _entries(header: bytes) -> Iterator[tuple[str, bytes]]:
    """(name, JSON) of each tensor. `__metadata__` is checked and skipped."""
    if not header.startswith(b"{"):
        raise CheckpointError("has a header that is not a JSON object")
    at, separator = 1, b","
    if empty := _EMPTY.match(header):
        at, separator = empty.end(), b"}"
    while separator == b",":
        name = _NAME.match(header, at)
        if name is None:
            raise CheckpointError(f"has a broken header: no tensor's name at byte {at}")
        if name[1] == b"__metadata__":
            at = _end_of_metadata(header, name.end())
        else:
            value = _TENSOR.match(header, name.end())
            if value is None:
                raise CheckpointError(f"has a broken header: no tensor at byte {name.end()}")
            yield _text(name[1], at), value[0]
            at = value.end()
        match = _NEXT.match(header, at)
        if match is None:
            raise CheckpointError(f'has a broken header: neither "," nor "}}" at byte {at}')
        separator, at = match[1], match.end()
    if header[at:].strip(b" "):
        raise CheckpointError(f"has a broken header: something follows its end at byte {at}")


def _tensor(name: str, value: bytes) -> Tensor:
    try:
        entry = _ENTRY.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CheckpointError(f"has an invalid tensor, {name}: {error}") from None
    begin, end = entry.data_offsets
    if (end - begin) * 8 != prod(entry.shape) * DTYPE_BITS[entry.dtype]:
        raise CheckpointError(
            f"has {end - begin} bytes for {name}, which does not fit {entry.dtype} of shape {list(entry.shape)}"
        )
    return Tensor(name, entry.dtype, entry.shape, begin, end)


def _check_contiguous(begins: array[int], ends: array[int]) -> None:
    """Gaps and overlaps are how one file hides another, and how a flipped digit shows."""
    filled = 0
    for index in sorted(range(len(begins)), key=lambda index: (begins[index], ends[index])):
        if begins[index] != filled:
            what = "overlap" if begins[index] < filled else "leave a gap"
            raise CheckpointError(f"has tensors that {what} at byte {min(begins[index], filled)} of its data")
        filled = ends[index]


def _end_of_metadata(header: bytes, at: int) -> int:
    metadata = _METADATA.match(header, at, at + MAX_METADATA_BYTES)
    try:
        if metadata is not None and _TEXTS.decode(metadata[0]) is not None:
            return metadata.end()
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    raise CheckpointError(f"has a broken header: __metadata__ at byte {at} is not an object of texts")


def _text(raw: bytes, at: int) -> str:
    try:
        return raw.decode("utf-8") if b"\\" not in raw else msgspec.json.decode(b'"%b"' % raw, type=str)
    except (UnicodeDecodeError, msgspec.DecodeError):
        raise CheckpointError(f"has a broken header: no name at byte {at}") from None
