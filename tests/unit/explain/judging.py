"""What the tests of the judge ask it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from moonpad.catalog.calibrations import calibrations
from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.models import find_model
from moonpad.explain.commands import Script
from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.plan.tensors import catalog_checkpoint

SEEDS = Path(__file__).resolve().parents[2] / "seeds"
NAMES = tuple(sorted(path.name for path in SEEDS.iterdir() if path.suffix in (".md", ".sh")))

Said = tuple[str, str, str]
"""Severity, code and place of a finding."""


@cache
def seed(name: str) -> Script:
    return read_script((SEEDS / name).read_text())


def ask(text: str | Script, on: str = "", version: str = "", model: str = "") -> tuple[Judged, ...]:
    script = read_script(text) if isinstance(text, str) else text
    found = find_model(model) if model else None
    question = Question(
        checkpoint=catalog_checkpoint(found) if found else None,
        cluster=parse_cluster(on) if on else None,
        version=version,
    )
    return judge(script, question, calibrations())


def one(text: str, on: str = "8xH200", version: str = "", model: str = "") -> Judged:
    (judged,) = ask(text, on, version, model)
    return judged


def said(judged: Judged) -> list[Said]:
    return sorted((str(one.severity), str(one.code), one.where) for one in judged.findings)


def at(judged: Judged, code: str) -> list[str]:
    """Where findings of that code are."""
    return [one.where for one in judged.findings if one.code == code]


def message(judged: Judged, code: str) -> str:
    """Of the only finding of that code."""
    (found,) = [one for one in judged.findings if one.code == code]
    return f"{found.message} => {found.remedy}"


def codes(found: Iterable[Judged]) -> set[str]:
    return {str(finding.code) for judged in found for finding in judged.findings}
