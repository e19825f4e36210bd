"""A run that was killed, as its folder tells it: what was to be measured, and which requests have ended."""

from __future__ import annotations

from pathlib import Path

import orjson

from moonpad.bench.folder import REQUESTS_FILE, RUN_FILE
from moonpad.bench.run_plan import RunPlan, plan_from
from moonpad.bench.saved_records import SavedRecords
from moonpad.load.record import RequestRecord
from moonpad.values.errors import UsageError


def read_plan(folder: Path) -> RunPlan:
    """
    Raises:
        UsageError: the folder holds no run.
    """
    file = folder / RUN_FILE
    try:
        return plan_from(orjson.loads(file.read_bytes()))
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}", remedy="name the folder of a run: --out") from error
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"{file} is of another moonpad, or is no run", remedy="measure again in a new folder"
        ) from error


def read_records(folder: Path) -> tuple[RequestRecord, ...]:
    """Those that ended, by index; of two with one index the first. A torn last line is none."""
    return tuple(SavedRecords(folder / REQUESTS_FILE))
