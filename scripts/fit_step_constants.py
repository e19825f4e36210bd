"""Fits the constants of a step's time to published points, and writes catalog/data/step_constants.toml.

    python -m scripts.fit_step_constants [--write]     (needs scipy, which the project does not)

Every constant has a range before anything is measured (`benchmarks/data/step_constants_before.toml`, with reasons): its
logarithm is normal, 80 % of it within the range. The points then move it: residuals are logarithms of predicted over
measured TPOT and TTFT. Points of one device, weights and engine share what the model misses of them, so that their
residuals are correlated; the fit weighs them so (as a random effect), and a run that is far off counts less (soft L1).
What a group still misses after the fit becomes its own corrections, by the function that `moonpad calibrate` calls.
"""

from __future__ import annotations

import math
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

from benchmarks.predict_points import Row, rows, seconds_of
from moonpad.catalog.step_constants import Corrections, StepConstants
from moonpad.predict.calibrate import StepCalibration, calibrate, softened
from moonpad.predict.measured_point import MeasuredPoint

BEFORE = Path("benchmarks/data/step_constants_before.toml")
RESULT = Path("src/moonpad/catalog/data/step_constants.toml")
TENTH = 1.2816
"""Standard deviations from the middle of a normal distribution to the end of its 80 %."""
SHARED = {"tpot": 0.15, "ttft": 0.45}
"""Standard deviation of what points of one group and release have in common."""
ALONE = {"tpot": 0.06, "ttft": 0.2}
"""The same of what each has alone."""
MOST = 0.95
"""No share of a data sheet's rate is larger."""
SOURCE = "published speeds, each with its source in benchmarks/data/speed_points.csv"
UNFITTED = frozenset(
    {
        *("expert_bf16", "eager_layer_s", "sequence_s", "request_token_s", "acceptance", "host_bytes_per_s"),
        *("host_flops", "host_layer_s", "cpu_core_flops", "cpu_core_bytes_per_s", "cpu_layer_s", "cpu_step_s"),
        *("reading_s", "reading_token_s", "cpu_request_s"),
        *("cpu_sequence_s", "cpu_expert_tile", "cpu_prefill_flops", "cpu_decode_flops"),
    }
)
"""No point tells anything of them."""


@dataclass(frozen=True)
class Prior:
    value: float
    low: float
    high: float
    unit: str
    source: str

    @property
    def deviation(self) -> float:
        return math.log(self.high / self.low) / 2 / TENTH


def priors() -> dict[str, Prior]:
    document = tomllib.loads(BEFORE.read_text())
    return {name: Prior(**table) for name, table in document["constants"].items()}


@dataclass(frozen=True)
class Fit:
    constants: StepConstants
    logs: dict[str, float]
    """Of each fitted constant over its prior value."""
    deviations: dict[str, float]


@dataclass(frozen=True)
class Linear:
    """The logarithms of predicted over measured around some constants: `errors` of (row, metric) at `logs`, and how
    each changes with each constant's logarithm. The model is close to linear in them."""

    names: tuple[str, ...]
    logs: np.ndarray
    errors: dict[tuple[str, str], float]
    slopes: dict[tuple[str, str], np.ndarray]

    def at(self, key: tuple[str, str], logs: np.ndarray) -> float:
        return float(self.errors[key] + self.slopes[key] @ (logs - self.logs))


def fitted_names() -> tuple[str, ...]:
    return tuple(name for name in priors() if name not in UNFITTED)


def constants_of(logs: Sequence[float]) -> StepConstants:
    known = priors()
    values = {name: prior.value for name, prior in known.items()}
    for name, log in zip(fitted_names(), logs, strict=True):
        values[name] *= math.exp(log)
    return StepConstants(**values)


def errors_of(used: Sequence[Row], constants: StepConstants) -> dict[tuple[str, str], float]:
    found = {}
    for row in used:
        tpot_s, ttft_s = seconds_of(row, constants)
        for metric, predicted, measured in (("tpot", tpot_s, row.point.tpot_s), ("ttft", ttft_s, row.point.ttft_s)):
            if measured and predicted:
                found[row.id, metric] = math.log(predicted / measured)
    return found


def linear_around(used: Sequence[Row], logs: Sequence[float], step: float = 0.02) -> Linear:
    errors = errors_of(used, constants_of(logs))
    slopes = {key: np.zeros(len(logs)) for key in errors}
    for place in range(len(logs)):
        moved = list(logs)
        moved[place] -= step  # downwards: shares may stand at their bound
        for key, error in errors_of(used, constants_of(moved)).items():
            slopes[key][place] = (errors[key] - error) / step
    return Linear(fitted_names(), np.array(logs), errors, slopes)


def solve(linear: Linear, used: Sequence[Row]) -> tuple[np.ndarray, np.ndarray]:
    """(logs, their standard deviations) that suit the rows best, as far as the model is linear."""
    known = priors()
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for row in used:
        for metric in ("tpot", "ttft"):
            if (row.id, metric) in linear.errors:
                groups.setdefault((*row.group, row.configuration.version, metric), []).append((row.id, metric))
    # Independent errors of unit variance: a share that a group has in common, and one of each point.
    weights = {
        key: np.linalg.inv(
            np.linalg.cholesky(
                np.eye(len(keys)) * ALONE[key[-1]] ** 2 + np.full((len(keys),) * 2, SHARED[key[-1]] ** 2)
            )
        )
        for key, keys in groups.items()
    }
    deviations = np.array([known[name].deviation for name in linear.names])

    def error(logs: np.ndarray) -> np.ndarray:
        parts = [weights[key] @ np.array([linear.at(each, logs) for each in keys]) for key, keys in groups.items()]
        # Soft L1 on the points alone: a prior is not an outlier.
        return np.array([*(softened(float(value)) for part in parts for value in part), *(logs / deviations)])

    most = np.array(
        [math.log(MOST / known[name].value) if known[name].unit == "share" else math.inf for name in linear.names]
    )
    solved = least_squares(error, np.minimum(linear.logs, most - 1e-6), bounds=(-math.inf, most))
    return solved.x, np.sqrt(np.diag(np.linalg.inv(solved.jac.T @ solved.jac)))


def fit(used: Sequence[Row], rounds: int = 4) -> Fit:
    """Solved around its own solution until it stays."""
    logs = np.zeros(len(fitted_names()))
    for _ in range(rounds):
        solved, deviations = solve(linear_around(used, list(logs)), used)
        moved, logs = float(np.abs(solved - logs).max()), solved
        if moved < 0.02:
            break
    names = fitted_names()
    return Fit(
        constants_of(list(logs)),
        dict(zip(names, map(float, logs), strict=True)),
        dict(zip(names, map(float, deviations), strict=True)),
    )


def group_calibration(points: Sequence[Row], constants: StepConstants) -> StepCalibration:
    """What the points of one group correct of the constants."""
    by_point = {id(row.point): row for row in points}

    def seconds(point: MeasuredPoint, changed: StepConstants) -> tuple[float, float]:
        return seconds_of(by_point[id(point)], changed)

    return calibrate([row.point for row in points], base=constants, predictor=seconds)


def main() -> None:
    used = rows()
    found = fit(used)
    for name, log in sorted(found.logs.items(), key=lambda pair: -abs(pair[1])):
        print(
            f"{name:20s} {getattr(found.constants, name):12.4g} moved {log:+.2f} deviation {found.deviations[name]:.2f}"
        )
    corrections, counts = corrections_of(used, found.constants)
    for key, factors in corrections.items():
        print(*key, counts[key], {name: round(value, 2) for name, value in asdict(factors).items()})
    if "--write" in sys.argv:
        RESULT.write_text(document_of(found, corrections, counts))


def corrections_of(
    used: Sequence[Row], constants: StepConstants
) -> tuple[dict[tuple[str, str, str], Corrections], dict[tuple[str, str, str], int]]:
    """Of each group, and how many points it has."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in used:
        groups.setdefault(row.group, []).append(row)
    corrections = {key: group_calibration(of_group, constants).corrections for key, of_group in groups.items()}
    return corrections, {key: len(of_group) for key, of_group in groups.items()}


def document_of(
    found: Fit, groups: Mapping[tuple[str, ...], Corrections], counts: Mapping[tuple[str, ...], int]
) -> str:
    """The data file; its spreads are kept, which benchmarks/predict_loo.py writes."""
    text = RESULT.read_text() if RESULT.exists() else ""
    spreads = text[text.index('[spreads."') :] if '[spreads."' in text else ""
    lines = [
        "# Written by scripts/fit_step_constants.py from the points of benchmarks/data/speed_points.csv.",
        "# docs/predict.md says what each constant does. low and high hold 80 % of what the points leave possible.",
        "checked = 2026-11-26",
    ]
    for name, prior in priors().items():
        fitted = name in found.logs
        value = getattr(found.constants, name)
        width = math.exp(TENTH * found.deviations[name]) if fitted else 1.0
        low, high = (value / width, value * width) if fitted else (prior.low, prior.high)
        how = "fitted to the points" if fitted else "assumed: no point tells it"
        source = f"{SOURCE}; before: {prior.source}" if fitted else prior.source
        lines += ["", f"[constants.{name}]"]
        lines += [f"{key} = {number:.4g}" for key, number in (("value", value), ("low", low), ("high", high))]
        lines += [f'unit = "{prior.unit}"', f'fit = "{how}"', f'source = "{source}"', 'standing = "estimated"']
    lines += ["", "# What the points of one device, weights and engine correct: factors on times."]
    for key, factors in groups.items():
        device, scheme, engine = key
        inner = ", ".join(f"{name} = {value:.4f}" for name, value in asdict(factors).items())
        lines += ["", f'[groups."{" ".join(key)}"]', f'device = "{device}"', f'scheme = "{scheme}"']
        lines += [f'engine = "{engine}"', f"corrections = {{ {inner} }}", f"points = {counts[key]}"]
        lines += [f'source = "{SOURCE}"', 'standing = "estimated"']
    return "\n".join(lines) + "\n\n# Ranges by leave-one-out, written by benchmarks/predict_loo.py.\n" + spreads


if __name__ == "__main__":
    main()
