"""Is the checkpoint whole? Asked before every start: configuration, tokenizer, index, and the header of every shard.

Finds a half-downloaded checkpoint (fault 20), a damaged header (the part of fault 21 that needs no digest) and a
hostile one (fault 22). A byte that flipped inside a tensor is found by its digest alone, which is another verb's work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moonpad.checkpoints.config import Config, read_config
from moonpad.checkpoints.files import open_inside
from moonpad.checkpoints.header import Tensor
from moonpad.checkpoints.weights import INDEX, Index, Shard, expected_shards, read_index, read_shard
from moonpad.values.errors import CheckpointError
from moonpad.values.finding import Code, Finding, Severity, errors_of
from moonpad.values.units import gib

TOKENIZERS: Final = ("tokenizer.json", "tiktoken.model", "tokenizer.model")
FETCH: Final = "fetch the checkpoint again; a download goes on where it ended"
MAX_NAMED: Final = 20


@dataclass(frozen=True, slots=True)
class CheckpointFiles:
    """What stands in the folder. `weights_bytes` is what the tensors of the whole shards take, exactly."""

    folder: Path
    config: Config | None
    shards: tuple[Shard, ...]
    weights_bytes: int
    findings: tuple[Finding, ...]


def inspect(folder: Path) -> CheckpointFiles:
    """Reads headers only: no checkpoint raises, whatever stands in it; its problems are the findings."""
    try:
        there = folder.is_dir()
    except OSError:
        there = False
    if not there:
        missing = _error(Code.CHECKPOINT_MISSING, str(folder), "there is no such folder", "check `model` in the spec")
        return CheckpointFiles(folder, None, (), 0, (missing,))
    findings: list[Finding] = []
    config = _config(folder, findings)
    findings.extend(_tokenizer(folder))
    shards = whole_shards(folder, findings)
    findings.extend(_leftovers(folder))
    return CheckpointFiles(folder, config, shards, sum(shard.data_bytes for shard in shards), tuple(findings))


def require_whole(files: CheckpointFiles) -> None:
    """Raises CheckpointError with the findings where the checkpoint is not whole."""
    if errors := errors_of(files.findings):
        raise CheckpointError(f"the checkpoint {files.folder} is not whole", findings=errors)


def _config(folder: Path, findings: list[Finding]) -> Config | None:
    try:
        return read_config(folder)
    except FileNotFoundError:
        findings.append(_error(Code.CHECKPOINT_INCOMPLETE, "config.json", "is missing", FETCH))
    except CheckpointError as error:
        findings.append(_broken("config.json", error))
    return None


def _tokenizer(folder: Path) -> Iterator[Finding]:
    for name in TOKENIZERS:
        try:
            open_inside(folder, name)[0].close()
        except FileNotFoundError:
            continue
        except CheckpointError as error:
            yield _broken(name, error)
        return
    yield _error(
        Code.CHECKPOINT_INCOMPLETE, "tokenizer.json", f"is missing, as are {' and '.join(TOKENIZERS[1:])}", FETCH
    )


def whole_shards(
    folder: Path, findings: list[Finding], each: Callable[[Tensor], None] | None = None
) -> tuple[Shard, ...]:
    """The whole shards; what is wrong with the others is added to the findings. `each` sees every tensor on the way."""
    try:
        index = read_index(folder)
    except CheckpointError as error:
        findings.append(_broken(INDEX, error))
        return ()
    names = tuple(index.tensors) if index else expected_shards(folder)
    whole: list[Shard] = []
    missing: list[str] = []
    broken: list[Finding] = []
    for name in names:
        try:
            whole.append(read_shard(folder, name, index, each))
        except FileNotFoundError:
            missing.append(name)
        except CheckpointError as error:
            broken.append(_broken(name, error))
    if missing:
        findings.extend(_missing(missing, len(names), index, whole if not broken else None))
    findings.extend(broken[:MAX_NAMED])
    if len(broken) > MAX_NAMED:
        findings.append(_broken("weights", CheckpointError(f"{len(broken) - MAX_NAMED} more files are broken")))
    if index is None and len(names) > 1:
        findings.append(_error(Code.CHECKPOINT_INCOMPLETE, INDEX, f"is missing beside {len(names)} files", FETCH))
    return tuple(whole)


def _missing(names: Sequence[str], of: int, index: Index | None, whole: Sequence[Shard] | None) -> Iterator[Finding]:
    """Each missing file, and how much they hold together where the index and the other files tell it."""
    total_bytes = index.total_bytes if index else None
    for name in names[:MAX_NAMED]:
        yield _error(Code.CHECKPOINT_INCOMPLETE, name, "is missing", FETCH)
    if len(names) > MAX_NAMED:
        yield _error(Code.CHECKPOINT_INCOMPLETE, "weights", f"{len(names) - MAX_NAMED} more files are missing", FETCH)
    if total_bytes is not None and whole is not None:
        lacking = total_bytes - sum(shard.data_bytes for shard in whole)
        message = f"{len(names)} of {of} files are missing: {lacking} bytes ({gib(lacking)}) of {gib(total_bytes)}"
        yield _error(Code.CHECKPOINT_INCOMPLETE, "weights", message, FETCH)


def _leftovers(folder: Path) -> Iterator[Finding]:
    """What an interrupted download leaves: in the folder, or in the cache that a download into it keeps there.

    In the blobs of a shared cache it may belong to another revision, so there it is a warning.
    """
    home = folder.resolve()
    for place in (home, home / ".cache" / "huggingface" / "download"):
        for path in sorted(place.glob("*.incomplete"))[:MAX_NAMED]:
            message = "is left from a download that did not end"
            yield _error(Code.CHECKPOINT_INCOMPLETE, str(path.relative_to(home)), message, FETCH)
    if home.parent.name == "snapshots":
        for path in sorted((home.parent.parent / "blobs").glob("*.incomplete"))[:MAX_NAMED]:
            message = "is left from a download that did not end, of this revision or of another"
            yield Finding(Severity.WARNING, Code.CHECKPOINT_INCOMPLETE, f"blobs/{path.name}", message, FETCH)


def _broken(where: str, error: CheckpointError) -> Finding:
    return _error(Code.CHECKPOINT_INCOMPLETE, where, error.message, FETCH)


def _error(code: Code, where: str, message: str, remedy: str) -> Finding:
    return Finding(Severity.ERROR, code, where, message, remedy)
