"""What is said of a prediction beside a measurement."""

from __future__ import annotations

from typing import Any

import pytest

from moonpad.report.predicted_words import predicted_words


def document(measured_ms: float) -> dict[str, Any]:
    estimate = {"value": 10.0, "low": 8.0, "high": 12.0, "because": "calibrated here"}
    return {"median_tpot_ms": measured_ms, "moonpad": {"planned": {"median_tpot_ms": estimate}}}


@pytest.mark.parametrize(("measured_ms", "said"), [(8.0, "within the range"), (12.0, "within"), (15.0, "+50%")])
def test_one_sentence(measured_ms: float, said: str) -> None:
    (sentence,) = predicted_words(document(measured_ms))
    assert "predicted median TPOT 10.0 ms (8.0 to 12.0)" in sentence
    assert said in sentence
    assert "calibrated here" in sentence


def test_far_slower_is_told_with_what_to_do() -> None:
    _, far = predicted_words(document(18.5))
    assert "TPOT is 1.9 times" in far
    assert "moonpad calibrate" in far


def test_without_a_prediction_nothing_is_said() -> None:
    assert list(predicted_words({"median_tpot_ms": 3.0})) == []
