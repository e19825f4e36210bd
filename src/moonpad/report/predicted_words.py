"""What was predicted of a load, beside what it gave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from moonpad.bench.lenient_json import mapping_at, number_at

NAMES: Final = {"median_ttft_ms": "TTFT", "median_tpot_ms": "TPOT"}
FAR: Final = 1.5
"""Times the far end of a range: something is wrong that no model of the machine knows."""


def predicted_words(document: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each prediction in `moonpad.planned`, and one more where the endpoint is far slower."""
    far = []
    for name, label in NAMES.items():
        estimate, measured = mapping_at(document, "moonpad", "planned", name), number_at(document, name)
        value, low, high = (number_at(estimate, end) for end in ("value", "low", "high"))
        if measured is None or value is None or low is None or high is None:
            continue
        verdict = "within the range" if low <= measured <= high else f"{measured / value - 1:+.0%}"
        predicted = f"predicted median {label} {value:,.1f} ms ({low:,.1f} to {high:,.1f})"
        yield f"{predicted}, measured {measured:,.1f}: {verdict} ({estimate.get('because', '')})"
        if measured > FAR * high:
            far.append(f"{label} is {measured / value:.1f} times what is predicted")
    if far:
        yield (
            f"{' and '.join(far)}: look for other programs on the machine, for graphs or a fast path that the engine's "
            "log says are off (moonpad doctor --log FILE), or correct the prediction (moonpad calibrate)"
        )
