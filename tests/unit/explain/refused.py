"""Rows of what an engine refuses, each with a sample: a command that is told, and one close to it that is not."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from moonpad.catalog.start_refusals import start_refusals
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

LEVELS = {"error": Severity.ERROR, "warning": Severity.WARNING}


def samples(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def said(key: str, text: str, version: str, on: str = "") -> list[Severity]:
    """How severe each finding is that has the row's message, but for the numbers in it. What stands behind `@` in a key
    tells further samples of one row apart."""
    part = max(start_refusals()[key.partition("@")[0]].message.replace("{right}", "{left}").split("{left}"), key=len)
    found = [finding for judgement in ask(text, on, version) for finding in judgement.findings]
    return [finding.severity for finding in found if part in finding.message]
