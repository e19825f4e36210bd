"""A stream that comes at once is the proxy's fault, unless the client itself stood still."""

from __future__ import annotations

import pytest

from moonpad.verify.probe import Status
from moonpad.verify.probes.streaming import timely

STEADY = [0.1 * number for number in range(1, 40)]
AT_ONCE = [3.9 + 0.001 * number for number in range(40)]


@pytest.mark.parametrize(
    ("arrivals", "client_late_s", "status"),
    [
        (STEADY, 0.0, Status.PASS),
        (STEADY, 2.0, Status.PASS),
        (AT_ONCE, 0.0, Status.FAIL),
        (AT_ONCE, 0.1, Status.FAIL),
        (AT_ONCE, 3.5, Status.SKIP),
    ],
)
def test_whose_fault_it_is(arrivals: list[float], client_late_s: float, status: Status) -> None:
    assert timely(arrivals, client_late_s).status is status
