"""The questions of `moonpad tune --eval`: asked of the default and of the winner, each answer kept as it comes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from moonpad.cli.eval_answers import Answers, only_one
from moonpad.cli.eval_run import ask_missing, eval_head, named_model
from moonpad.cli.eval_task import Work, work_of
from moonpad.cli.eval_verdict import scored_eval, write_scores
from moonpad.evaluate.compare import EvalComparison, compare
from moonpad.evaluate.question import read_questions
from moonpad.evaluate.saved import HEAD_FILE, REQUESTS_FILE, read_eval, read_kept
from moonpad.evaluate.setup import Setup, setup_of
from moonpad.store.atomic_files import replace_json
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, UsageError


@dataclass(frozen=True, slots=True)
class TaskAccuracy:
    """`limit`: of the task's questions the first so many; None all."""

    work: Work
    setup: Setup
    limit: int | None

    @classmethod
    def of(cls, task: str, limit: int | None = None, max_tokens: int | None = None) -> TaskAccuracy:
        """
        Raises:
            UsageError: there is no such task or file, or a number is out of range.
            PreflightRefused: what scores it is not installed.
        """
        if limit is not None and limit < 1:
            raise UsageError(f"--eval-limit must be at least 1, not {limit}", remedy="--eval-limit 200")
        work = work_of(task, None)
        return cls(work, setup_of(work.kind, None, max_tokens=max_tokens), limit)

    @property
    def words(self) -> str:
        first = "" if self.limit is None else f", the first {self.limit}"
        changed = "".join(f", {each}" for each in self.setup.changed)
        return f"{self.work.task}, {self.setup.protocol.name}{first}{changed}, {self.work.data.get('digest', '')}"

    def ask(self, endpoint: Endpoint, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with only_one(folder):
            named, card = asyncio.run(named_model(endpoint))
            head = {**eval_head(self.work, self.setup, named, card), "limit": self.limit, "again": 0}
            if not (folder / REQUESTS_FILE).exists():
                head.update(self.work.make(self.setup.protocol, named.model, folder / REQUESTS_FILE, self.limit))
            replace_json(folder / HEAD_FILE, head)
            questions = read_questions(folder / REQUESTS_FILE)
            answers = Answers(folder, read_kept(folder), questions)
            asyncio.run(ask_missing(named, card, self.setup, questions, answers, quiet=True))
            saved, _ = scored_eval(folder, self.work, self.setup, head, questions, answers.samples)
            write_scores(saved)
            if saved.result.failed:
                first = next(each.problem for each in saved.samples if each.failed)
                raise CheckFailed(f"{saved.result.failed} of {saved.result.planned} questions have no answer: {first}")

    def compare(self, default: Path, candidate: Path) -> EvalComparison:
        return compare(read_eval(default), read_eval(candidate))
