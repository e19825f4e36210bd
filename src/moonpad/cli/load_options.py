"""`--workload` and what goes with it: the load that a plan's speed is predicted for."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moonpad.catalog.workloads import workloads
from moonpad.cli.asked_load import LoadOptions
from moonpad.predict.goals import SpeedGoal
from moonpad.predict.plan_speeds import AskedLoad
from moonpad.spec.near_match import did_you_mean
from moonpad.spec.safe_text import shorten
from moonpad.values.errors import UsageError
from moonpad.values.records import replace
from moonpad.values.workload import Lengths, Workload

if TYPE_CHECKING:
    from moonpad.load.lengths import Lengths as LoadLengths

MOST_CLIENTS: Final = 100_000
_LOGNORMAL_POINTS: Final = 33
EXAMPLES: Final = "write chat, agent, rag, 8192:1024, 6554..8192:820..1024, or a file with one request a line"


def read_load(options: LoadOptions, goal: SpeedGoal | None, concurrency: int | None) -> AskedLoad | None:
    """
    Raises:
        UsageError: an option is wrong, or there is no workload for it.
    """
    if options.workload is None:
        if options.given or goal == "cost":
            own = (f"--{name}" for name in ("rate", "prefix", "slo", "price") if getattr(options, name))
            flag = next(own, "--api" if options.given else "--goal cost")
            raise UsageError(f"{flag} needs a load", remedy="add --workload chat, or 8192:1024")
        return None
    if goal == "cost" and options.price is None:
        raise UsageError("--goal cost needs a price", remedy="add --price 2.50, USD for an hour of one device")
    if options.price is not None and not 0 < options.price < 1e6:
        raise UsageError(f"--price must be above 0, got {options.price:g}")
    if options.rate is not None and not 0 < options.rate < 1e6:
        raise UsageError(f"--rate must be above 0 requests a second, got {options.rate:g}")
    if concurrency is not None and not 1 <= concurrency <= MOST_CLIENTS:
        raise UsageError(f"--concurrency must be from 1 to {MOST_CLIENTS:,}, got {concurrency}")
    workload = read_workload(options.workload)
    if options.prefix is not None:
        if not 0 <= options.prefix < 1:
            raise UsageError(f"--prefix is a share from 0 to below 1, got {options.prefix:g}")
        workload = replace(workload, shared_prefix=options.prefix)
    own_rate = workload.rate_per_s if concurrency is None else None
    rate = options.rate if options.rate is not None else own_rate
    growing = rate is None and concurrency is None
    workload = replace(
        workload,
        rate_per_s=rate,
        concurrency=1 if growing else concurrency,
        arrivals_s=_at_rate(workload, rate),
        chat=options.api == "chat",
    )
    return AskedLoad(
        workload,
        options.workload,
        growing,
        _limits(options.slo),
        goal or "latency",
        options.price,
    )


def _at_rate(workload: Workload, rate: float | None) -> tuple[float, ...]:
    """The arrivals of a trace, closer together or farther apart."""
    if rate is None or workload.rate_per_s is None:
        return ()
    return tuple(at * workload.rate_per_s / rate for at in workload.arrivals_s)


def _limits(slo: str) -> dict[str, float]:
    if not slo:
        return {}
    from moonpad.cli.bench_options import read_slo  # which a plan without limits does not need

    limits = read_slo(slo).as_json()
    if any(not seconds > 0 for seconds in limits.values()):
        raise UsageError(f"--slo {slo}: a limit is above 0")
    return limits


def read_workload(text: str) -> Workload:
    """By its name, its lengths, or a file. Its load, but for that of a trace with instants, is one user.

    Raises:
        UsageError: it is none of them.
    """
    if known := workloads().get(text.casefold()):
        return Workload(known.input, known.output, concurrency=1, shared_prefix=known.shared_prefix, name=known.name)
    if pair := re.fullmatch(r"((?:lognormal:)?[^:]+):((?:lognormal:)?[^:]+)", text):
        return Workload(_lengths(pair[1]), _lengths(pair[2]), concurrency=1, name=text)
    path = Path(text)
    if not path.is_file():
        raise UsageError(f"there is no workload {shorten(text)}{did_you_mean(text, workloads())}", remedy=EXAMPLES)
    from moonpad.cli.workload_file import workload_of_file

    return workload_of_file(path)


def _lengths(text: str) -> Lengths:
    if text.isascii() and text.isdecimal() and int(text[:9]) >= 1 and len(text) < 9:
        return Lengths.fixed(int(text))
    from moonpad.cli.bench_options import read_lengths

    found = read_lengths("--workload", text)
    return Lengths.fixed(found) if isinstance(found, int) else distribution_of(found)


def distribution_of(lengths: LoadLengths) -> Lengths:
    """The lengths that a load draws, as a distribution."""
    if lengths.values:
        return Lengths.of(lengths.values)
    if not lengths.sigma:
        return Lengths.uniform(lengths.least, lengths.most)
    from statistics import NormalDist

    normal, last = NormalDist(), _LOGNORMAL_POINTS - 1
    places = (min(max(point / last, 0.0075), 0.9925) for point in range(_LOGNORMAL_POINTS))
    drawn = (lengths.median * math.exp(lengths.sigma * normal.inv_cdf(place)) for place in places)
    return Lengths(tuple(max(1.0, length) for length in drawn))
