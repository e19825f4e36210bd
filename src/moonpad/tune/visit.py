"""One start of one candidate, measured and stopped. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Literal

from moonpad.values.records import as_dict, field_names

Stage = Literal["screen", "again", "final", "proof"]
"""`proof` loads nothing: there its answers are held against the default's."""
STAGES: tuple[Stage, ...] = ("screen", "again", "final", "proof")


@dataclass(frozen=True, slots=True)
class Visit:
    """`worths`: one of each run of the load. `samples`: within them (worth.py). `seconds`: from the start of the engine
    to its end, of which it took `start_s` to be ready and all runs of the load `load_s`; the requests of one took
    `run_s`.

    problem: why it is out: it did not start, answers failed. hopeless: given up halfway, `worths` are the most that it
    could have reached. answers: what was found where it was verified: None not asked, () it answers as the default.
    kept_from: the tune that measured it, where that was an earlier one; its worth is scaled to this one's default.
    """

    candidate: str
    stage: Stage
    round: int
    requests: int
    worths: tuple[float, ...] = ()
    samples: tuple[float, ...] = ()
    seconds: float = 0.0
    start_s: float = 0.0
    load_s: float = 0.0
    run_s: float = 0.0
    problem: str = ""
    hopeless: bool = False
    answers: tuple[str, ...] | None = None
    kept_from: str = ""
    accuracy: str = ""
    """Of a proof with questions: what the paired test says."""
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def worth(self) -> float | None:
        """None where nothing was measured."""
        return fmean(self.worths) if self.worths and not self.problem else None

    def as_json(self) -> dict[str, Any]:
        return as_dict(self)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Visit:
        """
        Raises:
            KeyError, TypeError: it is not what `as_json` gave.
        """
        values = {name: document[name] for name in field_names(cls) if name in document}
        for name in ("worths", "samples"):
            values[name] = tuple(map(float, values[name]))
        if values["answers"] is not None:
            values["answers"] = tuple(values["answers"])
        return cls(**values)
