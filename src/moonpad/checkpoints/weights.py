"""Which files the weights are in, and whether each of them is whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moonpad.checkpoints.config import load_object
from moonpad.checkpoints.files import open_inside, read_bounded
from moonpad.checkpoints.header import Tensor, read_header, tensors
from moonpad.values.errors import CheckpointError

INDEX: Final = "model.safetensors.index.json"
MAX_INDEX_BYTES: Final = 64_000_000
"""That of Kimi-K2-Thinking, with 211 thousand tensors, is below 25 MB."""

_FILE_NAME: Final = re.compile(r"\w[\w.-]{0,200}\.safetensors")
# Kimi-K2-Thinking's shards are named with five digits and six: model-00001-of-000062.safetensors.
_NUMBERED: Final = re.compile(r"(?P<stem>.+)-(?P<number>0?\d{5})-of-(?P<count>0?\d{5})\.safetensors")


@dataclass(frozen=True, slots=True)
class Index:
    """File → its tensors. `total_bytes` is what the index says that all tensors take, None where it says nothing."""

    tensors: Mapping[str, frozenset[str]]
    total_bytes: int | None


@dataclass(frozen=True, slots=True)
class Shard:
    """One whole file. `data_bytes` is what its tensors take."""

    name: str
    size_bytes: int
    data_bytes: int
    tensors: int


def read_index(folder: Path) -> Index | None:
    """None where there is none. Raises CheckpointError for a broken one, or one that names files elsewhere."""
    try:
        document = load_object(read_bounded(folder, INDEX, MAX_INDEX_BYTES))
    except FileNotFoundError:
        return None
    places = document.get("weight_map")
    if not isinstance(places, dict) or not places:
        raise CheckpointError("has no weight_map")
    by_file: dict[str, set[str]] = {}
    for tensor, name in places.items():
        if not isinstance(name, str):
            raise CheckpointError(f"places {tensor} in no file")
        by_file.setdefault(name, set()).add(tensor)
    for name in by_file:
        if not _FILE_NAME.fullmatch(name):
            raise CheckpointError(f"places tensors in {name!r}, which is no name of a safetensors file")
    metadata = document.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    tensors_of = {name: frozenset(by_file[name]) for name in sorted(by_file)}
    return Index(tensors_of, int(total) if isinstance(total, int | float) and 0 <= total < 2**63 else None)


def expected_shards(folder: Path) -> tuple[str, ...]:
    """The files that must be there where no index says so: all of `…-of-00062`, or the one file."""
    names = sorted(path.name for path in folder.glob("*.safetensors"))
    numbered = [found for name in names if (found := _NUMBERED.fullmatch(name))]
    if numbered:
        stem, digits, count = numbered[0]["stem"], len(numbered[0]["number"]), numbered[0]["count"]
        return tuple(f"{stem}-{number:0{digits}d}-of-{count}.safetensors" for number in range(1, int(count) + 1))
    return tuple(names) or ("model.safetensors",)


def read_shard(
    folder: Path, name: str, index: Index | None = None, each: Callable[[Tensor], None] | None = None
) -> Shard:
    """Reads the header alone and holds it against the file's size and the index. `each` is called with every tensor.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: it is not whole, or not what it says; the message goes on from the file's name.
    """
    file, size_bytes = open_inside(folder, name)
    with file:
        try:
            header = read_header(file, size_bytes)
        except OSError as error:
            raise CheckpointError(f"cannot be read: {error.strerror}") from None
    count = data_bytes = 0
    promised = set(index.tensors.get(name, ())) if index else set()
    strange = ""
    for tensor in tensors(header):
        count += 1
        data_bytes = max(data_bytes, tensor.end)
        if each is not None:
            each(tensor)
        if tensor.name in promised:
            promised.remove(tensor.name)
        else:
            strange = strange or tensor.name
    expected_bytes = 8 + len(header) + data_bytes
    if size_bytes < expected_bytes:
        raise CheckpointError(f"lacks {expected_bytes - size_bytes} of {expected_bytes} bytes")
    if size_bytes > expected_bytes:
        raise CheckpointError(f"has {size_bytes - expected_bytes} bytes more than its header says ({expected_bytes})")
    if promised:
        instead = f"; it has {strange}, which the index does not place there" if strange else ""
        raise CheckpointError(
            f"lacks {len(promised)} tensors that the index places in it, {min(promised)} first{instead}"
        )
    return Shard(name, size_bytes, data_bytes, count)
