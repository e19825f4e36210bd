"""Room where something is written, and how long the checkpoint takes to be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.doctor.checks.wording import error, note, unknown, warning
from moonpad.doctor.need import Need
from moonpad.doctor.survey import Survey
from moonpad.facts.probe import Unknown
from moonpad.store.paths import state_home
from moonpad.values.finding import Code, Finding
from moonpad.values.host_facts import LOG_BYTES
from moonpad.values.units import duration, gib

LEAST_FILES: Final = 1000
SLOW_S: Final = 900.0
"""Loading that takes longer than a quarter of an hour by the disk alone is worth a word."""


def room(survey: Survey, need: Need) -> Iterator[Finding]:
    path = str(state_home())
    folder = survey.folder(path)
    if isinstance(folder, Unknown):
        yield unknown(path, "the free space", folder)
        return
    if int(folder["free_bytes"]) < LOG_BYTES:
        message = f"{gib(folder['free_bytes'])} is free where logs and results go, {gib(LOG_BYTES)} is needed"
        yield error(Code.DISK_LOW, path, message, "free some space, or set XDG_STATE_HOME to another disk")
    if folder["free_files"] is not None and int(folder["free_files"]) < LEAST_FILES:
        message = f"only {folder['free_files']} more files can be made there (inodes)"
        yield error(Code.DISK_LOW, path, message, "remove files there, or set XDG_STATE_HOME to another disk")
    if not folder["writable"]:
        yield error(Code.DISK_LOW, path, "it cannot be written to", "set XDG_STATE_HOME to a folder of yours")


def speed(survey: Survey, need: Need) -> Iterator[Finding]:
    """By one reader past the page cache, so that it is an estimate from below: engines read with several."""
    if not need.checkpoint:
        return
    folder = survey.folder(need.checkpoint)
    if isinstance(folder, Unknown) or not folder["there"]:
        message = f"there is no checkpoint: {need.checkpoint} is not a folder on this host"
        yield error(Code.CHECKPOINT_MISSING, need.checkpoint, message, "copy it there, or name another folder")
        return
    measured = survey.answer["speeds"].get(need.checkpoint, {"error": "not measured"})
    if "error" in measured:
        yield unknown(need.checkpoint, "how fast the checkpoint is read", str(measured["error"]))
        return
    rate = float(measured["bytes_per_s"])
    if not need.weights_bytes or rate <= 0:
        return
    takes_s = need.weights_bytes / rate
    message = f"its disk reads {rate / 1e9:.2f} GB/s: the {gib(need.weights_bytes)} of weights take {duration(takes_s)}"
    if need.load_budget_s is not None and takes_s > need.load_budget_s:
        remedy = f"a faster disk, or [launch] start_timeout above {duration(takes_s)}"
        yield error(Code.DISK_SLOW, need.checkpoint, f"{message}, longer than a start may take", remedy)
    elif takes_s > SLOW_S:
        yield warning(Code.DISK_SLOW, need.checkpoint, message, "a local NVMe disk")
    else:
        yield note(Code.DISK_SLOW, need.checkpoint, f"{message} at the most, from a cold page cache")
