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
from typing import Any, BinaryIO, Final, NamedTuple

import orjson

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
_BRACE_OR_QUOTE: Final = re.compile(rb'[{}"]')


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
        raise CheckpointError(f"is {size_bytes} bytes long, too short for a safetensors file")
    length = int.from_bytes(prefix, "little")
    if length > MAX_HEADER_BYTES:
        raise CheckpointError(f"says that its header has {length} bytes; more than {MAX_HEADER_BYTES} is not believed")
    if length + 8 > size_bytes:
        raise CheckpointError(f"says that its header has {length} bytes; the whole file has {size_bytes}")
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
    for name, at, value in _entries(header):
        tensor = _tensor(name, at, value)
        if len(begins) == MAX_TENSORS:
            raise CheckpointError(f"has more than {MAX_TENSORS} tensors")
        begins.append(tensor.begin)
        ends.append(tensor.end)
        yield tensor
    _check_contiguous(begins, ends)


def _entries(header: bytes) -> Iterator[tuple[str, int, bytes]]:
    """(name, position, JSON) of each tensor. `__metadata__` is checked and passed over."""
    if not header.startswith(b"{"):
        raise CheckpointError("has a header that is no JSON object")
    at, found = 1, b","
    if empty := _EMPTY.match(header):
        at, found = empty.end(), b"}"
    while found == b",":
        name = _NAME.match(header, at)
        if name is None:
            raise CheckpointError(f"has a broken header: no tensor's name at byte {at}")
        if name[1] == b"__metadata__":
            at = _end_of_metadata(header, name.end())
        else:
            value = _TENSOR.match(header, name.end())
            if value is None:
                raise CheckpointError(f"has a broken header: no tensor at byte {name.end()}")
            yield _text(name[1], at), at, value[0]
            at = value.end()
        separator = _NEXT.match(header, at)
        if separator is None:
            raise CheckpointError(f'has a broken header: neither "," nor "}}" at byte {at}')
        found, at = separator[1], separator.end()
    if header[at:].strip(b" "):
        raise CheckpointError(f"has a broken header: something follows its end at byte {at}")


def _tensor(name: str, at: int, value: bytes) -> Tensor:
    fields = _load(value, at)
    try:
        dtype, shape, offsets = fields["dtype"], fields["shape"], fields["data_offsets"]
    except KeyError as missing:
        raise CheckpointError(f"has a tensor without {missing.args[0]}: {name}") from None
    if len(fields) != 3:
        raise CheckpointError(f"has a tensor with more than dtype, shape and data_offsets: {name}")
    bits = DTYPE_BITS.get(dtype) if isinstance(dtype, str) else None
    if bits is None:
        raise CheckpointError(f"has a tensor of an unknown dtype: {name}")
    if not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2:
        raise CheckpointError(f"has a tensor whose shape or place is no list of sizes: {name}")
    begin, end = offsets
    if (end - begin) * 8 != prod(shape) * bits:
        raise CheckpointError(f"has {end - begin} bytes for {name}, which does not fit {dtype} of shape {shape}")
    return Tensor(name, dtype, tuple(shape), begin, end)


def _are_sizes(value: object) -> bool:
    """orjson gives an int for what fits into 64 bits, and a float for what does not."""
    if not isinstance(value, list) or len(value) > MAX_DIMENSIONS:
        return False
    for size in value:  # noqa: SIM110 - the generator of all() would take a third of the whole reading
        if type(size) is not int or size < 0:
            return False
    return True


def _check_contiguous(begins: array[int], ends: array[int]) -> None:
    """Gaps and overlaps are how one file hides another, and how a flipped digit shows."""
    filled = 0
    for index in sorted(range(len(begins)), key=lambda index: (begins[index], ends[index])):
        if begins[index] != filled:
            what = "overlap" if begins[index] < filled else "leave a gap"
            raise CheckpointError(f"has tensors that {what} at byte {min(begins[index], filled)} of its data")
        filled = ends[index]


def _end_of_metadata(header: bytes, at: int) -> int:
    """Behind the `}` of an object of texts, which may hold braces themselves."""
    end, inside = at, False
    while (mark := _BRACE_OR_QUOTE.search(header, end, at + MAX_METADATA_BYTES)) is not None:
        end = mark.end()
        if mark[0] == b'"':
            end = _end_of_text(header, end)
        elif mark[0] == b"{" and not inside:
            inside = True
        elif mark[0] == b"}" and inside:
            metadata = _load(header[at:end], at)
            if not all(isinstance(value, str) for value in metadata.values()):
                raise CheckpointError("has __metadata__ that is no object of texts")
            return end
        else:
            break
    raise CheckpointError(f"has a broken header: __metadata__ at byte {at}")


def _end_of_text(header: bytes, at: int) -> int:
    """Behind the quote that ends the text in which `at` is."""
    while (quote := header.find(b'"', at)) >= 0:
        escape = header.find(b"\\", at, quote)
        if escape < 0:
            return quote + 1
        at = escape + 2
    raise CheckpointError(f"has a broken header: a text at byte {at} does not end")


def _load(value: bytes, at: int) -> dict[str, Any]:
    try:
        loaded = orjson.loads(value)
    except orjson.JSONDecodeError:
        raise CheckpointError(f"has a broken header: no JSON at byte {at}") from None
    if not isinstance(loaded, dict):
        raise CheckpointError(f"has a broken header: no JSON object at byte {at}")
    return loaded


def _text(raw: bytes, at: int) -> str:
    try:
        return raw.decode("utf-8") if b"\\" not in raw else str(orjson.loads(b'"%b"' % raw))
    except (UnicodeDecodeError, orjson.JSONDecodeError):
        raise CheckpointError(f"has a broken header: no name at byte {at}") from None
