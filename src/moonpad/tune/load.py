"""The load that is tuned for, as the benchmark sends it and as the model predicts it. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from moonpad.bench.config import BenchConfig, Slo
from moonpad.load.arrivals import Arrivals
from moonpad.load.lengths import Lengths as LoadLengths
from moonpad.load.workloads.workload import RANDOM
from moonpad.tune.worth import TuneGoal
from moonpad.values.prediction import Prediction
from moonpad.values.records import replace
from moonpad.values.workload import Lengths, Workload

TURNS: Final = 8
"""Requests of each user in one run, where their number is not given."""
LEAST: Final = 32
DRAWN: Final = 200
"""Lengths that stand for a distribution."""


@dataclass(frozen=True, slots=True)
class TuneLoad:
    """`workload` with its users or its rate; `text` as it was written; `requests` of one run of the last stage."""

    workload: Workload
    text: str
    goal: TuneGoal
    slo: Slo
    requests: int
    copies: int = 1
    """Behind a router, of which one is loaded with its share."""

    def of_one(self, copies: int) -> TuneLoad:
        """What one of so many copies gets of it."""
        users, rate = self.workload.concurrency, self.workload.rate_per_s
        own = replace(
            self.workload,
            concurrency=users and math.ceil(users / copies),
            rate_per_s=rate and rate / copies,
        )
        return replace(self, workload=own, copies=copies)

    @property
    def users(self) -> int:
        """In flight at once, at most; of a rate what a second brings."""
        return self.workload.concurrency or max(1, math.ceil(self.workload.rate_per_s or 1.0))

    @property
    def limits(self) -> bool:
        return self.slo.given

    @property
    def words(self) -> str:
        load = f"{self.workload.rate_per_s:g} requests/s" if self.workload.open_loop else f"{self.users} users"
        slo = ", ".join(f"{name.removesuffix('_s')} {s:g} s" for name, s in self.slo.as_json().items())
        share = f" of each of {self.copies} copies" if self.copies > 1 else ""
        return f"{self.text}, {load}{share}{f', within {slo}' if slo else ''}"

    def as_json(self) -> dict[str, Any]:
        return {
            "workload": self.text,
            "concurrency": self.workload.concurrency,
            "rate_per_s": self.workload.rate_per_s,
            "shared_prefix": self.workload.shared_prefix,
            "goal": self.goal,
            "slo": self.slo.as_json(),
            "requests": self.requests,
            **({"copies": self.copies} if self.copies > 1 else {}),
        }

    def bench(self, requests: int, seed: int) -> BenchConfig:
        """One run. Answers have the length that was asked for, so that no setting gains by shorter ones."""
        workload, rate = self.workload, self.workload.rate_per_s
        prefix = round(workload.shared_prefix * workload.input.mean)
        own = workload.input.times(1 - workload.shared_prefix) if prefix else workload.input  # behind the prefix
        return BenchConfig(
            input_tokens=lengths_of(own),
            output_tokens=lengths_of(workload.output),
            workload=replace(RANDOM, prefix_tokens=prefix),
            ignore_eos=True,
            requests=requests,
            concurrency=workload.concurrency,
            arrivals=Arrivals(rate) if rate else None,
            slo=self.slo,
            measure_client=False,
            warmup=min(self.users, 4),
            seed=seed,
        )

    def predicted(self, prediction: Prediction) -> float:
        """What a prediction is worth for the goal; less, where it misses a limit."""
        if self.goal == "latency":
            return 1 / prediction.e2el_s.value
        over = [float(getattr(prediction, name).value) / limit for name, limit in self.slo.as_json().items()]
        return prediction.output_tokens_per_s.value / max([1.0, *over])


def lengths_of(lengths: Lengths) -> int | LoadLengths:
    """A distribution as lengths to draw from."""
    if len(lengths.quantiles) == 1:
        return max(1, round(lengths.quantiles[0]))
    values = tuple(max(1, round(lengths.at((place + 0.5) / DRAWN))) for place in range(DRAWN))
    return LoadLengths(f"{values[0]}..{values[-1]}", values[0], values[-1], values=values)


def requests_for(users: int) -> int:
    return max(LEAST, TURNS * users)
