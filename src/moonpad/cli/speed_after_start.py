"""Whether an endpoint that has just started is as fast as its plan lets expect, by three short requests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from moonpad.cli.bench_predicted import planned_predictor
from moonpad.doctor.slow_facts import LoadFigures, SlowMark
from moonpad.doctor.slow_marks import marks_of
from moonpad.run.planning import PlannedSpec
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import MoonpadError
from moonpad.values.estimate import Planned
from moonpad.values.platform import Platform
from moonpad.values.visible_text import shell_word

FAR: Final = 2.0
"""Times the slowest gap between tokens that is expected: an answer that comes slower has a fault, not a bad day."""
PATIENCE_S: Final = 10.0
"""Of one request. An endpoint that needs longer for 32 tokens is left to `moonpad doctor --endpoint`."""
UNSURE: Final = "from the data sheet"


@dataclass(frozen=True, slots=True)
class SpeedAfterStart:
    """`expected`: the median gap between tokens in milliseconds; `marks`: slower paths that the engine's log names."""

    tpot_ms: float
    expected: Planned
    marks: tuple[SlowMark, ...] = ()

    @property
    def far_slower(self) -> bool:
        return self.tpot_ms > FAR * self.expected.estimate.high

    def warning(self, spec: Path) -> str:
        """What is told of an endpoint that is far slower, with the likeliest reason."""
        estimate = self.expected.estimate
        text = (
            f"far slower than planned: a token every {self.tpot_ms:.3g} ms for one request, expected "
            f"{estimate.low:.3g} to {estimate.high:.3g} ms"
        )
        if self.marks:
            reasons = "; ".join(f"{mark.message} (line {mark.line} of its log): {mark.remedy}" for mark in self.marks)
            return f"{text}. Likeliest: {reasons}"
        return f"{text}. Its log names no slower path: moonpad doctor {shell_word(spec)} --endpoint measures why"

    def as_json(self) -> dict[str, Any]:
        return {
            "tpot_ms": self.tpot_ms,
            "expected_tpot_ms": self.expected.estimate.as_json(),
            "far_slower": self.far_slower,
            "marks": [{"line": mark.line, "message": mark.message, "remedy": mark.remedy} for mark in self.marks],
        }


def speed_after_start(planned: PlannedSpec, endpoint: Endpoint, log: Path) -> SpeedAfterStart | None:
    """None where nothing certain enough is expected of this plan, or the requests were not answered in time.

    A processor's speed is asked about only where it was calibrated: what its data sheet says is off by half and more.
    """
    from moonpad.cli.doctor_measure import short_config

    expected = {each.name: each for each in planned_predictor(planned)(short_config(1, 2, PATIENCE_S))}
    tpot = expected.get("median_tpot_ms")
    if tpot is None or (planned.cluster.device.platform is Platform.CPU and UNSURE in tpot.estimate.because):
        return None
    speed = _measured(endpoint, tpot)
    if speed is None or not speed.far_slower:
        return speed
    again = _measured(endpoint, tpot)  # the first use of a kernel may compile it
    if again is None or not again.far_slower:
        return again
    return SpeedAfterStart(min(speed.tpot_ms, again.tpot_ms), tpot, _marks(log))


def _measured(endpoint: Endpoint, expected: Planned) -> SpeedAfterStart | None:
    from moonpad.cli.doctor_measure import short_load

    try:
        figures: LoadFigures = short_load(endpoint, 1, 2, PATIENCE_S)
    except MoonpadError:
        return None
    return None if figures.tpot_s is None else SpeedAfterStart(1e3 * figures.tpot_s, expected)


def _marks(log: Path) -> tuple[SlowMark, ...]:
    try:
        return marks_of(log.read_text(errors="replace"))
    except OSError:
        return ()
