"""A program that took the place of another one listens where the other did."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

PREFILL = "sglang serve --model-path moonshotai/Kimi-K2-Instruct --tp 16 --disaggregation-mode prefill\n"
BALANCER = (
    "python -m sglang.srt.disaggregation.launch_lb --prefill http://10.0.0.1:30000 --decode http://10.0.0.2:30000"
)


@pytest.mark.parametrize(("port", "expected"), [("", "8000"), (" --port 9000", "9000")])
def test_the_balancer_of_pools(port: str, expected: str) -> None:
    lines = [line for judged in ask(f"{PREFILL}{BALANCER}{port}\n") for line in judged.corrected]
    router = next(line for line in lines if "--pd-disaggregation" in line.argv)
    assert [router.argv[at + 1] for at, word in enumerate(router.argv) if word == "--port"] == [expected]
