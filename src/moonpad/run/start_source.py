"""Where a run's weights come from, looked at when its engine was spawned; and the time of its start against that."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from moonpad.checkpoints.completeness import CheckpointFiles
from moonpad.facts.page_cache import cached_bytes
from moonpad.facts.probe import Unknown
from moonpad.run.keeper.host_survey import read_speed
from moonpad.run.start_budget import Source, StartBudget, start_budget
from moonpad.store.atomic_files import read_json, replace_json
from moonpad.store.run_folder import RunFolder
from moonpad.values.records import as_dict

FILE: Final = "source.json"
WORTH_BYTES: Final = 4_000_000_000
"""Below this the disk is not timed: its load is over in seconds."""
TIMED_S: Final = 0.5


def note_source(folder: RunFolder, checkpoint: CheckpointFiles, *, has_loaders: bool = True) -> None:
    """Written beside the run, while the engine still imports its libraries."""
    files = [checkpoint.folder / shard.name for shard in checkpoint.shards]
    size = sum(shard.size_bytes for shard in checkpoint.shards)
    cached = cached_bytes(files)
    known = None if isinstance(cached, Unknown) else cached
    speed = None
    if known is not None and size - known >= WORTH_BYTES:
        speed = read_speed(str(checkpoint.folder), TIMED_S).get("bytes_per_s")
    with suppress(OSError):
        replace_json(folder.path / FILE, as_dict(Source(size, known, speed, has_loaders)))


def budget_of(folder: RunFolder) -> StartBudget | None:
    """Of the run's last start that became ready."""
    noted = read_json(folder.path / FILE)
    source = Source(**noted) if noted and noted.keys() == as_dict(Source(0)).keys() else None
    return start_budget(folder.events(), source)
