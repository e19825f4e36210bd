"""A folder of `moonpad eval`, as it is read again. Every file is readable with `cat`.

eval.json       what was asked and of whom, written first
requests.jsonl  the questions, with the payload of each, in the order in which they are sent
samples.jsonl   each answer as it came
scores.jsonl    what each filter took from an answer, and whether it is right
result.json     the figures
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from moonpad.evaluate.question import Question, read_questions
from moonpad.evaluate.references import Conditions
from moonpad.evaluate.result import EvalResult, summarise
from moonpad.evaluate.sample import Sample, read_samples
from moonpad.evaluate.score import Score, read_scores
from moonpad.evaluate.setup import Setup, setup_from
from moonpad.spec.json_input import json_lines, read_json_file
from moonpad.values.errors import UsageError

HEAD_FILE: Final = "eval.json"
REQUESTS_FILE: Final = "requests.jsonl"
SAMPLES_FILE: Final = "samples.jsonl"
SCORES_FILE: Final = "scores.jsonl"
RESULT_FILE: Final = "result.json"
PAGE_FILE: Final = "report.html"
SCHEMA: Final = 1
REMEDY: Final = "name a folder that moonpad eval wrote"


@dataclass(frozen=True, slots=True)
class SavedEval:
    """`head` is eval.json."""

    folder: Path
    head: dict[str, Any]
    setup: Setup
    questions: tuple[Question, ...]
    samples: tuple[Sample, ...]
    scores: tuple[Score, ...]

    @property
    def model(self) -> str:
        return str(self.head.get("model", ""))

    @property
    def is_published_task(self) -> bool:
        """Whether others have published accuracies of this task."""
        return self.setup.protocol.task == "gsm8k"

    @property
    def result(self) -> EvalResult:
        return summarise(len(self.questions), self.samples, self.scores)

    @property
    def conditions(self) -> Conditions:
        data = self.head.get("data")
        published = bool(data.get("published")) if isinstance(data, dict) else False
        names = (self.model, str(self.head.get("root") or ""))
        return Conditions(self.setup, names, published, self.head.get("task_version"))


def is_eval(folder: Path) -> bool:
    return (folder / HEAD_FILE).is_file()


def read_head(folder: Path) -> tuple[dict[str, Any], Setup]:
    """
    Raises:
        UsageError: it is not a folder of an evaluation, or a newer moonpad wrote it.
    """
    path = folder / HEAD_FILE
    try:
        head = read_json_file(path)
        if not isinstance(head, dict) or not isinstance(head.get("schema"), int):
            raise ValueError("it has no schema number")
        if head["schema"] != SCHEMA:
            raise ValueError(f"its schema is {head['schema']}, this moonpad reads {SCHEMA}")
        return head, setup_from(head)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{path} cannot be read: {reason}", remedy=REMEDY) from error


def read_kept(folder: Path) -> list[Sample]:
    """The answers so far."""
    path = folder / SAMPLES_FILE
    try:
        return read_samples(json_lines(path, most_bytes=2_000_000_000)) if path.exists() else []
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", remedy=REMEDY) from error


def read_eval(folder: Path) -> SavedEval:
    """
    Raises:
        UsageError: it is not a folder of an evaluation, or the answers were not scored yet.
    """
    head, setup = read_head(folder)
    scores = folder / SCORES_FILE
    if not scores.is_file():
        remedy = f"moonpad eval --resume {folder}"
        raise UsageError(f"{folder} has no scores: the evaluation did not end", remedy=remedy)
    try:
        rows = read_scores(scores)
    except (OSError, ValueError) as error:
        raise UsageError(f"{scores} cannot be read: {error}", remedy=f"moonpad eval --resume {folder}") from error
    questions = read_questions(folder / REQUESTS_FILE)
    known = {question.doc_id for question in questions}
    samples = [sample for sample in read_kept(folder) if sample.doc_id in known]
    return SavedEval(folder, head, setup, tuple(questions), tuple(samples), tuple(rows))
