"""The latency limits of a good request; good requests a second are the goodput (DistServe, arXiv 2401.09670)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

from moonpad.load.record import RequestRecord


@dataclass(frozen=True, slots=True)
class Slo:
    """Seconds, counted from the scheduled instant; None: no limit. A request of one token keeps any TPOT."""

    ttft_s: float | None = None
    tpot_s: float | None = None
    e2el_s: float | None = None

    @property
    def given(self) -> bool:
        return bool(self.as_json())

    def keeps(self, record: RequestRecord) -> bool:
        """Whether a request that succeeded is within every limit."""
        pairs = ((record.ttft_s, self.ttft_s), (record.tpot_s or 0.0, self.tpot_s), (record.e2el_s, self.e2el_s))
        return record.ok and all(limit is None or (value is not None and value <= limit) for value, limit in pairs)

    def as_json(self) -> dict[str, float]:
        return {name: limit for name, limit in asdict(self).items() if limit is not None}


NO_LIMITS: Final = Slo()
