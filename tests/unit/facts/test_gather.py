"""One document of facts, in which an unknown one says why."""

from __future__ import annotations

import json

import pytest

from moonpad.facts import gather as module
from moonpad.facts.probe import Unknown


def test_it_is_json_and_names_this_host() -> None:
    facts = json.loads(json.dumps(module.gather()))
    assert set(facts) == {"system", "processor", "memory", "devices"}


def test_an_unknown_fact_has_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "memory", lambda: Unknown("no /proc here"))
    assert module.gather()["memory"] == "unknown (no /proc here)"
