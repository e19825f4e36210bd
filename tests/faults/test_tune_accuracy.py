"""A winner of `moonpad tune` that is asked questions beside the default, at the fake engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moonpad.bench.config import Slo
from moonpad.catalog.knobs import knobs
from moonpad.cli.tune_eval import TaskAccuracy
from moonpad.spec.loader import load_spec
from moonpad.tune.answers import Answers
from moonpad.tune.candidate import Candidate, Change
from moonpad.tune.halving import Prove
from moonpad.tune.journal import TuneFolder
from moonpad.tune.load import TuneLoad
from moonpad.tune.measurer import DeploymentMeasurer
from moonpad.tune.order import Judged
from moonpad.tune.search import Search
from moonpad.tune.subject import Subject
from moonpad.tune.visit import Visit
from moonpad.values.records import replace
from moonpad.values.workload import Lengths, Workload
from tests.conftest import Moonpad

pytestmark = [pytest.mark.usefixtures("clean_world"), pytest.mark.slow]

CHANGED = Candidate((Change.to(knobs()["prefix_caching"], False),))
COUNT = 12


def proved(moonpad: Moonpad, spec: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """Half of the questions want the fake engine's word, half no answer that it gives."""
    for name, value in moonpad.env.items():
        monkeypatch.setenv(name, value)
    for name, value in (("FAKE_TOKEN_S", "0.001"), ("FAKE_LOAD_S", "0.05")):
        monkeypatch.setenv(name, value)
    questions = spec.with_name("questions.jsonl")
    wanted = ["kimi"] * COUNT + ["moonshot"] * COUNT
    lines = [json.dumps({"question": f"Question {at}?", "regex": word}) for at, word in enumerate(wanted)]
    questions.write_text("\n".join(lines))
    accuracy = TaskAccuracy.of(str(questions), max_tokens=16)
    load = TuneLoad(Workload(Lengths.fixed(32), Lengths.fixed(8), concurrency=2), "32:8", "throughput", Slo(), 8)
    subject = Subject.of(load_spec(spec), load, numerics=False, questions=accuracy.words)
    folder = TuneFolder(spec.parent / "tune")
    answers = Answers(folder, lambda _: None, lambda _: None, numerics=False, accuracy=accuracy)
    search = Search("throughput", judged={CHANGED.id: Judged(CHANGED)})
    visit = DeploymentMeasurer(subject, folder, answers).prove(search, Prove(CHANGED.id), lambda _: None)
    assert Visit.of(json.loads(json.dumps(visit.as_json()))) == visit
    return replace(visit, seconds=0.0)


def test_the_same_answers_are_no_difference(moonpad: Moonpad, fake_spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    visit = proved(moonpad, fake_spec, monkeypatch)
    assert visit.problem == ""
    assert visit.answers == ()
    assert visit.accuracy.startswith("no evidence of a difference")
    assert "50.0% of 24 questions right before, 50.0% with it" in visit.accuracy


def test_a_setting_that_is_less_accurate_is_told_and_out(
    moonpad: Moonpad, fake_spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_OTHER_FLAG", "--no-enable-prefix-caching")
    visit = proved(moonpad, fake_spec, monkeypatch)
    assert visit.answers is not None
    assert len(visit.answers) == 1
    # Twelve changes to the worse and none to the better: exact McNemar gives 2 / 2^12.
    assert visit.answers[0].startswith("it is less accurate: −50.0 points")
    assert "p = 0.00049" in visit.answers[0]
