"""One `moonpad tune`, from the lock of its folder to the result; the same command after a kill goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from moonpad.bench.run import OnProgress
from moonpad.store.atomic_files import read_json, replace_json
from moonpad.tune.answers import Answers
from moonpad.tune.candidate_run import stop_left
from moonpad.tune.driver import OnEvent, run_search
from moonpad.tune.in_place import make_room, put_back
from moonpad.tune.journal import TuneFolder
from moonpad.tune.measurer import DeploymentMeasurer
from moonpad.tune.outcome import Outcome, outcome_of
from moonpad.tune.search import Search, replay
from moonpad.tune.subject import Subject
from moonpad.tune.worth import unit_of
from moonpad.values.errors import PreflightRefused

RESULT = "result.json"


@dataclass(frozen=True, slots=True)
class Session:
    """`say` gets sentences for people, `on_event` what the search does; `phase` and `progress` how far a visit is."""

    subject: Subject
    folder: TuneFolder
    answers: Answers
    budget_s: float
    in_place: bool
    say: Callable[[str], None]
    on_event: OnEvent
    phase: Callable[[str], None]
    progress: OnProgress

    def run(self) -> Outcome:
        """
        Raises:
            PreflightRefused: another tune is at it, there is no room, or the default cannot be measured.
            UsageError: the default gives no log-probabilities.
            KeyboardInterrupt: Ctrl-C; what was measured is kept, and the world is as before.
        """
        with self.folder.held():
            self.folder.begin(self.about())
            if stop_left(self.subject.name):
                self.say(f"stopped {self.subject.name}, which a tune that was killed had left")
            self._restore_before()
            try:
                search = self._search()
            finally:
                put_back(self.folder, self.say)
            outcome = outcome_of(search, self.unit, search.ended)
            replace_json(self.folder.path / RESULT, {**self.about(), **outcome.as_json()}, mode=0o644)
        if search.ended.startswith("the default cannot be measured"):
            raise PreflightRefused(
                search.ended, remedy=f"moonpad up {self.subject.loaded.path}; --in-place makes room where that is up"
            )
        return outcome

    def _restore_before(self) -> None:
        """Of a tune that was killed: with --in-place there is no need to start it in between."""
        if not self.in_place:
            put_back(self.folder, self.say)

    def _search(self) -> Search:
        load = self.subject.load
        before = replay(load.goal, self.folder.events())
        if not before.ended:
            if before.visits or before.running:
                self.say(f"goes on after {len(before.visits)} visits and {before.spent_s:.0f} s of the budget")
            make_room(self.folder, self.subject, in_place=self.in_place, say=self.say)
        elif before.ended.startswith("the default cannot be measured"):
            self.folder.set_aside()
            make_room(self.folder, self.subject, in_place=self.in_place, say=self.say)
        measurer = DeploymentMeasurer(self.subject, self.folder, self.answers, self.phase, self.progress)
        return run_search(
            self.folder,
            load.goal,
            self.subject.candidates,
            measurer,
            requests=load.requests,
            users=load.users,
            budget_s=self.budget_s,
            on_event=self.on_event,
        )

    @property
    def unit(self) -> str:
        return unit_of(self.subject.load.goal, limits=self.subject.load.limits)

    def about(self) -> dict[str, Any]:
        prepared = self.subject.prepared
        return {
            "spec": str(self.subject.loaded.path.absolute()),
            "name": self.subject.loaded.spec.name,
            "model": prepared.deployment.served_name,
            "engine": prepared.engine.name,
            "engine_version": prepared.engine_version or prepared.plan.engine_version,
            "cluster": prepared.planned.cluster.name,
            "load": self.subject.load.as_json(),
            "load_words": self.subject.load.words,
            "budget_s": self.budget_s,
            "numerics": self.answers.numerics,
            "questions": self.subject.questions,
            "knobs_asked": list(self.subject.only),
            "at": time.strftime("%Y-%m-%d %H:%M:%S"),
        }


def saved_search(folder: TuneFolder) -> tuple[dict[str, Any], Search] | None:
    """What stands in a folder, without measuring: what was asked, and what is known. None where nothing does."""
    about = read_json(folder.path / "tune.json")
    if about is None or about.get("load", {}).get("goal") not in ("latency", "throughput"):
        return None
    return about, replay(about["load"]["goal"], folder.events())
