"""What a calibration measured, beside what was predicted before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.text import Text

from moonpad.predict.calibrate import MeasuredPoint
from moonpad.report.plain_text import aligned
from moonpad.values.prediction import Prediction

HEADS: Final = ("load", "", "measured", "before", "after")


@dataclass(frozen=True, slots=True)
class CalibratedPoint:
    """`said`: which load, in words. Predictions by the constants before and after the calibration."""

    said: str
    point: MeasuredPoint
    before: Prediction
    after: Prediction

    def as_json(self) -> dict[str, Any]:
        workload = self.point.workload
        return {
            "load": self.said,
            "input_tokens": workload.input.mean,
            "output_tokens": workload.output.mean,
            "concurrency": workload.concurrency,
            "rate_per_s": workload.rate_per_s,
            "measured": {"tpot_s": self.point.tpot_s, "ttft_s": self.point.ttft_s},
            "before": {"tpot_s": self.before.tpot_s.value, "ttft_s": self.before.ttft_s.value},
            "after": {"tpot_s": self.after.tpot_s.value, "ttft_s": self.after.ttft_s.value},
        }


def calibration_table(points: Sequence[CalibratedPoint]) -> Text:
    rows = [HEADS]
    for point in points:
        for name in ("tpot_s", "ttft_s"):
            measured = getattr(point.point, name)
            if measured is None:
                continue
            said = point.said if name == "tpot_s" or point.point.tpot_s is None else ""
            before, after = (getattr(each, name).value for each in (point.before, point.after))
            rows.append((said, name[:4].upper(), _ms(measured), _ms(before), _ms(after)))
    text = Text()
    for number, cells in enumerate(aligned(rows, (0, 1))):
        text.append(("  " + "  ".join(cells)).rstrip() + "\n", style="bold" if number == 0 else "")
    text.rstrip()
    return text


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:,.1f} ms"
