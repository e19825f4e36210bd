"""A run that was killed, as its folder tells it: what was to be measured, and which requests have ended."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from moonpad.bench.config import BenchConfig
from moonpad.bench.folder import REQUESTS_FILE, RUN_FILE
from moonpad.bench.slo import Slo
from moonpad.load.arrivals import Arrivals
from moonpad.load.calibrate import Calibration
from moonpad.load.deadlines import Deadlines
from moonpad.load.failure import Failure, FailureKind
from moonpad.load.lengths import Lengths
from moonpad.load.record import RequestRecord
from moonpad.values.errors import UsageError


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What the folder of a run says before its first request is sent."""

    config: BenchConfig
    model: str
    calibration: Calibration

    def as_json(self) -> dict[str, Any]:
        return {"config": asdict(self.config), "model": self.model, "calibration": asdict(self.calibration)}


def read_plan(folder: Path) -> RunPlan:
    """
    Raises:
        UsageError: the folder holds no run.
    """
    file = folder / RUN_FILE
    try:
        document = orjson.loads(file.read_bytes())
        config = dict(document["config"])
        config |= {"slo": Slo(**config["slo"]), "deadlines": Deadlines(**config["deadlines"])}
        for name in ("input_tokens", "output_tokens"):
            if isinstance(lengths := config[name], dict):
                config[name] = Lengths(**{**lengths, "values": tuple(lengths["values"])})
        if (arrivals := config["arrivals"]) is not None:  # JSON has no infinity
            config["arrivals"] = Arrivals(
                **{**arrivals, "rate": math.inf if (rate := arrivals["rate"]) is None else rate}
            )
        return RunPlan(BenchConfig(**config), str(document["model"]), Calibration(**document["calibration"]))
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}", remedy="name the folder of a run: --out") from error
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"{file} is of another moonpad, or is no run", remedy="measure again in a new folder"
        ) from error


def read_records(folder: Path) -> tuple[RequestRecord, ...]:
    """Those that ended, by index; of two with one index the first. A torn last line is none."""
    found: dict[int, RequestRecord] = {}
    for record in _records(folder / REQUESTS_FILE):
        found.setdefault(record.index, record)
    return tuple(found[index] for index in sorted(found))


def _records(file: Path) -> Iterator[RequestRecord]:
    for line in file.read_bytes().splitlines() if file.exists() else ():
        try:
            row = orjson.loads(line)
            failure = row.pop("failure")
            known = (
                None if failure is None else Failure(FailureKind(failure["kind"]), failure["text"], failure["status"])
            )
            yield RequestRecord(**{**row, "token_times_s": tuple(row["token_times_s"])}, failure=known)
        except (ValueError, TypeError, KeyError):
            continue
