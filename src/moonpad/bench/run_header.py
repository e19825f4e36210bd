"""run.json: what a run is going to measure. With it any process makes the same requests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from moonpad.bench.config import BenchConfig
from moonpad.bench.run_files import RUN_FILE
from moonpad.load.prompt_calibration import PromptCalibration
from moonpad.spec.json_input import read_json_file
from moonpad.values.errors import UsageError
from moonpad.values.estimate import Planned
from moonpad.values.records import as_dict


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What is measured and where, the model's name there, how many words make how many tokens, and what was planned."""

    config: BenchConfig
    model: str
    calibration: PromptCalibration
    base_url: str = ""
    planned: tuple[Planned, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return as_dict(self)


def plan_from(document: dict[str, Any]) -> RunPlan:
    """The plan of its `as_json`.

    Raises:
        KeyError, TypeError, ValueError: the document is not such a plan.
    """
    arrivals = document["config"]["arrivals"]
    if arrivals is not None and arrivals["rate"] is None:  # JSON has no infinity
        arrivals["rate"] = math.inf
    try:
        return msgspec.convert(document, RunPlan)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error


def read_plan(folder: Path) -> RunPlan:
    """The plan of a run's folder.

    Raises:
        UsageError: the folder holds no run.
    """
    file = folder / RUN_FILE
    try:
        return plan_from(read_json_file(file))
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}", remedy="name the folder of a run: --out") from error
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"{file} was written by another version of moonpad, or is not a run", remedy="measure again in a new folder"
        ) from error
