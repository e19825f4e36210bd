"""What a run's folder says before its first request is sent; with it any process makes the same requests."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from moonpad.bench.config import BenchConfig
from moonpad.bench.slo import Slo
from moonpad.load.arrivals import Arrivals
from moonpad.load.calibrate import Calibration
from moonpad.load.deadlines import Deadlines
from moonpad.load.lengths import Lengths
from moonpad.load.workloads.workload import Workload
from moonpad.values.estimate import Estimate
from moonpad.values.planned import Planned


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What is measured and where, the model's name there, how many words make how many tokens, and what was planned."""

    config: BenchConfig
    model: str
    calibration: Calibration
    base_url: str = ""
    planned: tuple[Planned, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "config": asdict(self.config),
            "model": self.model,
            "calibration": asdict(self.calibration),
            "base_url": self.base_url,
            "planned": [asdict(one) for one in self.planned],
        }


def plan_from(document: Mapping[str, Any]) -> RunPlan:
    """The plan of its `as_json`.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    config = dict(document["config"])
    config |= {"slo": Slo(**config["slo"]), "deadlines": Deadlines(**config["deadlines"])}
    for name in ("input_tokens", "output_tokens"):
        if isinstance(lengths := config[name], dict):
            config[name] = Lengths(**{**lengths, "values": tuple(lengths["values"])})
    config["workload"] = Workload(**config["workload"])
    if (arrivals := config["arrivals"]) is not None:  # JSON has no infinity
        config["arrivals"] = Arrivals(**{**arrivals, "rate": math.inf if (rate := arrivals["rate"]) is None else rate})
    calibration = dict(document["calibration"])
    calibration["weights"] = tuple(calibration["weights"])
    return RunPlan(
        BenchConfig(**config),
        str(document["model"]),
        Calibration(**calibration),
        str(document["base_url"]),
        tuple(Planned(**{**row, "estimate": Estimate(**row["estimate"])}) for row in document["planned"]),
    )
