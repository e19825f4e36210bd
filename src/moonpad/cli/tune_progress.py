"""How `moonpad tune` shows what it does: a line for each visit, and on a terminal what goes on within one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from moonpad.bench.run import BenchProgress
from moonpad.cli.output import busy, note
from moonpad.tune.visit import Visit
from moonpad.values.units import duration

STAGES = {"screen": "screening", "again": "again", "final": "side by side", "proof": "proof"}


class TuneProgress:
    """`unit` of the goal's figure."""

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self._stack = ExitStack()
        self._show: Callable[[str], None] = lambda text: None
        self._what = ""

    def __enter__(self) -> TuneProgress:
        self._show = self._stack.enter_context(busy("tuning"))
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def say(self, text: str) -> None:
        note(text)

    def phase(self, text: str) -> None:
        self._show(f"{self._what}: {text}" if self._what else text)

    def load(self, progress: BenchProgress) -> None:
        if progress.record is not None or progress.phase != "measure":
            failed = f", {progress.failed} failed" if progress.failed else ""
            self._show(f"{self._what}: {progress.phase} {progress.done}/{progress.total}{failed}")

    def event(self, name: str, fields: dict[str, Any]) -> None:
        match name:
            case "judged":
                refused = [one for one in fields["judged"] if one.refused]
                note(f"{len(fields['order'])} candidates fit, {len(refused)} do not")
            case "sizes":
                sizes = fields["sizes"]
                note(
                    f"{len(fields['entered'])} of them are screened with {sizes.screen} requests; the best "
                    f"{sizes.finalists} are measured {sizes.rounds} × {sizes.runs} times with {sizes.final}"
                )
            case "kept":
                note(f"goes on: {', '.join(fields['kept']) or 'none'}")
            case "begin":
                self._what = f"{STAGES[fields['stage']]}, {fields['candidate']}"
                self.phase("next")
            case "visit":
                note(self._visit(fields["visit"]))

    def _visit(self, visit: Visit) -> str:
        stage = STAGES[visit.stage]
        if visit.stage == "final":
            stage = f"{stage}, round {visit.round + 1}"
        head = f"{stage}: {visit.candidate}"
        took = f" after {duration(visit.seconds)}"
        if visit.problem:
            return f"{head}: {visit.problem}{took}"
        if visit.stage == "proof":
            if not visit.answers:
                return f"{head}: answers as the default does{took}"
            return f"{head}: answers otherwise: {visit.answers[0]}{took}"
        worth = f"{visit.worth:.4g} {self.unit}" if visit.worth is not None else "nothing measured"
        if visit.hopeless:
            return f"{head}: given up, at most {worth} was possible{took}"
        if visit.kept_from:
            return f"{head}: {worth}, by {visit.kept_from}"
        return f"{head}: {worth}{took}"
