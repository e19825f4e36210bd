"""Machines that are called by half of their name."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "\n\nvllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct --tensor-parallel-size {} --trust-remote-code\n"


@pytest.mark.parametrize(
    ("said", "ranks", "machines"),
    [
        ("Two Sparks with a cable between them:", 2, 2),
        ("A cluster of 4 Sparks", 4, 4),
        ("my pair of Sparks", 2, 2),
        ("2x DGX Spark", 2, 2),
        ("One DGX Spark (128 GB of unified memory)", 1, 1),
    ],
)
def test_each_is_one_device(said: str, ranks: int, machines: int) -> None:
    (judged,) = ask(said + SERVE.format(ranks))
    assert judged.cluster is not None
    assert (judged.cluster.device.id, judged.cluster.devices) == ("gb10", machines)


@pytest.mark.parametrize(
    "said", ["Jobs come from Apache Spark.", "Sparks fly when it starts:", "Two Spark executors call it:"]
)
def test_others_are_none(said: str) -> None:
    (judged,) = ask(said + SERVE.format(2))
    assert judged.cluster is None
