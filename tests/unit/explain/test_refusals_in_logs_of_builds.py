"""A build of a branch refuses for certain what the log of its own start shows."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve zai-org/GLM-4.7-Flash -tp 2 --attention-backend TORCH_SDPA --port 8020"
RAISED = "ValueError: Backend TORCH_SDPA must be registered before use. Use register_backend(Backend.TORCH_SDPA, 'x.Y')"
LOGGED = f"(EngineCore pid=91) ERROR 06-24 09:10:11 [core.py:1229] {RAISED}"
BUILD = "0.23.1rc1.dev210"


def severities(below: str, version: str = BUILD) -> list[Severity]:
    found = ask(f"{SERVE}\n{below}\n", "2xH100", version)[0].findings
    return [each.severity for each in found if "no class stands behind TORCH_SDPA" in each.message]


def test_its_log_has_the_words() -> None:
    assert severities(LOGGED) == [Severity.ERROR]


@pytest.mark.parametrize("below", ["", "(EngineCore pid=91) ERROR 06-24 09:10:11 [core.py:1229] ValueError: another"])
def test_without_them_it_stays_a_warning(below: str) -> None:
    assert severities(below) == [Severity.WARNING]


def test_a_release_needs_no_log() -> None:
    assert severities("", "0.23.0") == [Severity.ERROR]
