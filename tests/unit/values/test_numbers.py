"""Estimates, units, findings, errors."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.values import errors
from moonpad.values.estimate import Estimate
from moonpad.values.finding import Code, Finding, Severity, errors_of
from moonpad.values.units import GB, GIB, KIB, MIB, duration, gib


@given(st.floats(allow_nan=True), st.floats(allow_nan=True), st.floats(allow_nan=True))
def test_an_estimate_is_in_order_or_is_none(low: float, value: float, high: float) -> None:
    if low <= value <= high:
        assert Estimate(value, low, high, "x").as_json()["low"] == low
    else:
        with pytest.raises(ValueError, match="low <= value <= high"):
            Estimate(value, low, high, "x")


def test_an_exact_estimate() -> None:
    assert Estimate.exact(3, "counted").as_json() == {"value": 3, "low": 3, "high": 3, "because": "counted"}


def test_units() -> None:
    assert (KIB, MIB, GIB, GB) == (1024, 1024**2, 1024**3, 1000**3)


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(0, "0.0 MiB"), (18_340_400, "0.02 GiB"), (5 * MIB, "5.0 MiB"), (1.46 * GIB, "1.46 GiB"), (-2 * GIB, "-2.00 GiB")],
)
def test_gib(size_bytes: float, text: str) -> None:
    assert gib(size_bytes) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.344, "0.34 s"),
        (12.34, "12.3 s"),
        (125, "2 min 05 s"),
        (11_045, "3 h 04 min"),
        (60, "1 min 00 s"),
        (3600, "1 h 00 min"),
    ],
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_findings() -> None:
    error = Finding(Severity.ERROR, Code.PORT_TAKEN, "port", "8000 is taken", "choose another")
    note = Finding(Severity.NOTE, Code.DISK_LOW, "disk", "5 GiB")
    assert errors_of((note, error)) == (error,)
    assert error.as_json() == {
        "severity": "error",
        "code": "port-taken",
        "where": "port",
        "message": "8000 is taken",
        "remedy": "choose another",
    }


def test_the_tree_of_errors_has_the_exit_codes_of_its_docstring() -> None:
    drawn = errors.__doc__ or ""
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.MoonpadError)]
    assert len(kinds) == 10
    for kind in kinds:
        line = next(line for line in drawn.splitlines() if f" {kind.__name__} " in f" {line} ")
        if kind is not errors.MoonpadError:
            assert f" {kind.exit_code} " in line
