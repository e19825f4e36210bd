"""Which files hold the weights, and whether each of them is intact."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moonpad.checkpoints.config import load_object
from moonpad.checkpoints.files import open_inside, read_bounded
from moonpad.checkpoints.header import Tensor, read_header, tensors
from moonpad.spec.safe_text import shorten
from moonpad.values.errors import CheckpointError
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.units import gib

FETCH: Final = "download the checkpoint again; the download resumes where it stopped"
MAX_NAMED: Final = 20
MAX_FILES: Final = 10_000
"""Kimi-K2-Thinking has 62."""
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
    """One intact file. `data_bytes` is what its tensors take."""

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
            raise CheckpointError(f"does not say which file holds {tensor}")
        by_file.setdefault(name, set()).add(tensor)
        if len(by_file) > MAX_FILES:
            raise CheckpointError(f"places tensors in more than {MAX_FILES} files")
    for name in by_file:
        if not _FILE_NAME.fullmatch(name):
            raise CheckpointError(f"places tensors in {shorten(name)!r}, which is not the name of a safetensors file")
    metadata = document.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    tensors_of = {name: frozenset(by_file[name]) for name in sorted(by_file)}
    return Index(tensors_of, int(total) if isinstance(total, int | float) and 0 <= total < 2**63 else None)


def expected_shards(folder: Path) -> tuple[str, ...]:
    """The files that must be there where no index says so: all of `…-of-00062`, or the one file."""
    names = sorted(path.name for path in folder.glob("*.safetensors"))
    for numbered in filter(None, map(_NUMBERED.fullmatch, names)):
        stem, digits, count = numbered["stem"], len(numbered["number"]), numbered["count"]
        if int(count) > MAX_FILES:
            continue  # a name that only looks like one of many
        return tuple(f"{stem}-{number:0{digits}d}-of-{count}.safetensors" for number in range(1, int(count) + 1))
    return tuple(names) or ("model.safetensors",)


def read_shard(
    folder: Path, name: str, index: Index | None = None, each: Callable[[Tensor], None] | None = None
) -> Shard:
    """Reads the header alone and holds it against the file's size and the index. `each` is called with every tensor.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: it is damaged, or not what it says; the message continues the file's name.
    """
    file, size_bytes = open_inside(folder, name)
    with file:
        try:
            header = read_header(file, size_bytes)
        except OSError as error:
            raise CheckpointError(f"cannot be read: {error.strerror}") from None
    count = data_bytes = 0
    promised = set(index.tensors.get(name, ())) if index else set()
    unexpected = ""
    for tensor in tensors(header):
        count += 1
        data_bytes = max(data_bytes, tensor.end)
        if each is not None:
            each(tensor)
        if tensor.name in promised:
            promised.remove(tensor.name)
        else:
            unexpected = unexpected or tensor.name
    expected_bytes = 8 + len(header) + data_bytes
    if size_bytes < expected_bytes:
        raise CheckpointError(f"is {expected_bytes - size_bytes} bytes short of {expected_bytes}")
    if size_bytes > expected_bytes:
        raise CheckpointError(f"is {size_bytes - expected_bytes} bytes longer than its header says ({expected_bytes})")
    if promised:
        instead = f"; it has {unexpected}, which the index does not place there" if unexpected else ""
        raise CheckpointError(
            f"is missing {len(promised)} tensors that the index places in it, {min(promised)} first{instead}"
        )
    return Shard(name, size_bytes, data_bytes, count)


def intact_shards(
    folder: Path, findings: list[Finding], each: Callable[[Tensor], None] | None = None
) -> tuple[Shard, ...]:
    """The intact shards; the problems of the others are added to the findings. `each` is called with every tensor."""
    try:
        index = read_index(folder)
    except CheckpointError as error:
        findings.append(incomplete(INDEX, error.message))
        return ()
    names = tuple(index.tensors) if index else expected_shards(folder)
    intact: list[Shard] = []
    missing: list[Finding] = []
    broken: list[Finding] = []
    for name in names:
        try:
            intact.append(read_shard(folder, name, index, each))
        except FileNotFoundError:
            missing.append(incomplete(name, "is missing"))
        except CheckpointError as error:
            broken.append(incomplete(name, error.message))
    findings.extend(_first_of(missing, "missing"))
    if missing and index and index.total_bytes is not None and not broken:
        missing_bytes = index.total_bytes - sum(shard.data_bytes for shard in intact)
        share = f"{missing_bytes} bytes ({gib(missing_bytes)}) of {gib(index.total_bytes)}"
        findings.append(incomplete("weights", f"{len(missing)} of {len(names)} files are missing: {share}"))
    findings.extend(_first_of(broken, "broken"))
    if index is None and len(names) > 1:
        findings.append(incomplete(INDEX, f"is missing beside {len(names)} files"))
    return tuple(intact)


def _first_of(problems: list[Finding], state: str) -> Iterator[Finding]:
    yield from problems[:MAX_NAMED]
    if len(problems) > MAX_NAMED:
        yield incomplete("weights", f"{len(problems) - MAX_NAMED} more files are {state}")


def incomplete(where: str, message: str) -> Finding:
    return Finding(Severity.ERROR, Code.CHECKPOINT_INCOMPLETE, where, message, FETCH)
