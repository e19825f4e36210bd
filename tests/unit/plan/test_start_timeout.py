"""The time that a start may take."""

from __future__ import annotations

import pytest

from moonpad.plan.start_timeout import start_budget_s
from moonpad.values.errors import PreflightRefused

K2_BYTES = 1_029_173_263_552
THINKING_BYTES = 594_205_918_560


@pytest.mark.parametrize(
    ("weights_bytes", "disk", "limit_s", "seconds"),
    [
        (18_000_000, None, None, 900.0),
        (K2_BYTES, None, None, 600 + 1.5 * 1029.173263552),
        (THINKING_BYTES, 0.5, None, 600 + 1.5 * 1188.41183712),
        (THINKING_BYTES, 7.0, None, 900.0),
        (K2_BYTES, None, 60.0, 60.0),
        (K2_BYTES, 2.0, 515.0, 515.0),
    ],
)
def test_never_less_than_the_weights_take(
    weights_bytes: int, disk: float | None, limit_s: float | None, seconds: float
) -> None:
    assert start_budget_s(weights_bytes, disk, limit_s) == pytest.approx(seconds)


def test_less_than_reading_takes_is_refused() -> None:
    with pytest.raises(PreflightRefused) as caught:
        start_budget_s(K2_BYTES, 2.0, 500.0)
    (finding,) = caught.value.findings
    assert finding.message == "1,029 GB at 2 GB/s take 8 min 34 s to read, and a start may take 8 min 20 s"
