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
from moonpad.report.explain_view import explain_view
from moonpad.values.finding import Finding, Severity

SEEDS = Path(__file__).resolve().parents[2] / "seeds"
NAMES = tuple(sorted(path.name for path in SEEDS.iterdir() if path.suffix in (".md", ".sh")))

Row = tuple[str, str, str]
"""Severity, code and place of a finding."""


@cache
def seed(name: str) -> Script:
    return read_script((SEEDS / name).read_text())


def ask(text: str | Script, on: str = "", version: str = "", model: str = "") -> tuple[Judged, ...]:
    script = read_script(text) if isinstance(text, str) else text
    known = find_model(model) if model else None
    question = Question(
        checkpoint=catalog_checkpoint(known) if known else None,
        cluster=parse_cluster(on) if on else None,
        version=version,
    )
    return judge(script, question, calibrations())


def ask_one(text: str, on: str = "8xH200", version: str = "", model: str = "") -> Judged:
    (judged,) = ask(text, on, version, model)
    return judged


def only_server(text: str) -> Judged:
    """The one that has a layout, whatever else the text starts."""
    (judged,) = [each for each in ask(text) if each.layout is not None]
    return judged


def reads_tp8(text: str) -> Judged:
    """The same, with its tensor parallelism known to be 8."""
    judged = only_server(text)
    assert not judged.unknown & {"tp"}
    assert judged.layout is not None
    assert judged.layout.tp == 8
    return judged


def summary(judged: Judged) -> list[Row]:
    told = (remark.finding for remark in judged.remarks if not remark.of_former)
    return sorted((str(finding.severity), str(finding.code), finding.where) for finding in told)


def at(judged: Judged, code: str) -> list[str]:
    """Where findings of that code are."""
    return [finding.where for finding in judged.findings if finding.code == code]


def message(judged: Judged, code: str) -> str:
    """Of the only finding of that code."""
    (only,) = [finding for finding in judged.findings if finding.code == code]
    return f"{only.message} => {only.remedy}"


def refused(judged: Judged) -> bool:
    """Whether a finding is an error."""
    return any(finding.severity is Severity.ERROR for finding in judged.findings)


def codes(judgements: Iterable[Judged]) -> set[str]:
    return {str(finding.code) for judged in judgements for finding in judged.findings}


def layout(judged: Judged) -> tuple[int, int, int]:
    """tp, pp and dp."""
    assert judged.layout is not None
    return judged.layout.tp, judged.layout.pp, judged.layout.dp


def devices(judged: Judged) -> str:
    return judged.cluster.name if judged.cluster else ""


def found(text: str, words: str) -> list[Finding]:
    """The findings of a text with these words in their place and message."""
    return [each for one in ask(text) for each in one.findings if words in f"{each.where} {each.message}"]


def first_line(text: str) -> str:
    """The verdict, as it stands on top of the answer."""
    return explain_view(ask(text), read_script(text), 300).plain.split("\n")[0]
