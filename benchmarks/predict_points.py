"""Published speeds as points of the model: benchmarks/data/speed_points.csv, each row with its source.

Requests of InferenceX have lengths between 0.8 and 1.0 of the nominal ones, ten for each client. `kind` decode: only
what a decode pool does is compared, one step with all its sequences.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.models import find_model
from moonpad.catalog.step_constants import StepConstants
from moonpad.engines import ENGINES
from moonpad.plan.memory import memory_of
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.predict import Lengths, MeasuredPoint, ServingPlan, Workload
from moonpad.predict.calibrate import point_seconds
from moonpad.predict.cost import StepCost
from moonpad.values.configuration import Configuration
from moonpad.values.plan import Layout, Settings

DEFAULTS = Settings()
POINTS = Path(__file__).parent / "data" / "speed_points.csv"


@dataclass(frozen=True)
class Row:
    id: str
    source: str
    kind: str
    point: MeasuredPoint
    row: dict[str, str]

    @property
    def configuration(self) -> Configuration:
        return self.point.plan.configuration

    @property
    def device(self) -> str:
        return self.configuration.device.id

    @property
    def group(self) -> tuple[str, str, str]:
        """Device, weights, engine."""
        return self.device, self.configuration.scheme, self.configuration.engine.name

    @property
    def source_group(self) -> tuple[str, str, str]:
        """Source, device, weights: what is left out together."""
        return self.source.partition(",")[0], self.device, self.configuration.scheme


def serving_plan(
    model: str, cluster: str, engine: str, version: str, layout: Layout, settings: Settings = DEFAULTS
) -> ServingPlan:
    found = find_model(model)
    if found is None:
        raise SystemExit(f"no model {model}")
    checkpoint = catalog_checkpoint(found)
    configuration = Configuration(checkpoint, parse_cluster(cluster), ENGINES[engine].facts, version, layout, settings)
    memory = memory_of(configuration)
    # Somebody ran it: where the model of memory says that it does not fit, the KV cache is taken to be large enough.
    return ServingPlan(configuration, memory if memory.kv_tokens.value > 20_000 else None)


def row_of(row: dict[str, str]) -> Row:
    layout = Layout(**{name: int(row[name]) for name in ("tp", "pp", "dp", "ep", "dcp")})
    plan = serving_plan(row["model"], row["cluster"], row["engine"], row["version"], layout)
    concurrency = float(row["concurrency"])
    workload = Workload(
        Lengths.uniform(float(row["input_low"]), float(row["input_high"])),
        Lengths.uniform(float(row["output_low"]), float(row["output_high"])),
        concurrency=max(1, round(concurrency)),
        requests=int(row["requests"]) if row["requests"] else max(10, round(10 * concurrency)),
    )
    point = MeasuredPoint(
        plan,
        workload,
        float(row["tpot_ms"]) / 1e3 if row["tpot_ms"] else None,
        float(row["ttft_ms"]) / 1e3 if row["ttft_ms"] else None,
        "mean" if row["statistic"] == "mean" else "median",
    )
    return Row(row["id"], row["source"], row["kind"], point, row)


@cache
def rows(path: Path = POINTS) -> tuple[Row, ...]:
    with path.open(newline="") as file:
        return tuple(row_of(row) for row in csv.DictReader(file))


def seconds_of(row: Row, constants: StepConstants) -> tuple[float, float]:
    """(TPOT, TTFT) of a row."""
    if row.kind != "decode":
        return point_seconds(row.point, constants)
    workload = row.point.workload
    cost = StepCost(row.point.plan, constants)
    sequences = float(row.row["concurrency"])
    context = sequences * (workload.input.mean + workload.output.mean / 2)
    return cost.seconds(sequences, context, 0.0, 0.0, 0), 0.0
