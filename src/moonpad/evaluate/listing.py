"""The folders of evaluations as one row each, whatever state they are in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from moonpad.evaluate.question import FILE_BYTES
from moonpad.evaluate.saved import REQUESTS_FILE, RESULT_FILE, read_head, read_kept
from moonpad.evaluate.setup import Setup
from moonpad.spec.input_file import read_regular
from moonpad.spec.json_input import read_json_file
from moonpad.values.errors import UsageError
from moonpad.values.records import replace

State = Literal["whole", "partial", "unreadable"]


@dataclass(frozen=True, slots=True)
class ListedEval:
    """`accuracies` by filter, of a whole one; `questions` is None of one that did not get so far as to count them."""

    folder: Path
    state: State
    date: str = ""
    model: str = ""
    base_url: str = ""
    task: str = ""
    protocol: str = ""
    answered: int = 0
    questions: int | None = None
    cut: int | None = None
    accuracies: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.folder.name,
            "folder": str(self.folder),
            "state": self.state,
            "date": self.date,
            "model": self.model,
            "base_url": self.base_url,
            "task": self.task,
            "protocol": self.protocol,
            "answered": self.answered,
            "questions": self.questions,
            "cut": self.cut,
            "accuracies": dict(self.accuracies),
        }


def list_eval(folder: Path) -> ListedEval:
    """`unreadable` where its files are damaged."""
    try:
        head, setup = read_head(folder)
        return _result(folder, head, setup) or _begun(folder, head, setup)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, UsageError):
        return ListedEval(folder, "unreadable")


def _result(folder: Path, head: Mapping[str, Any], setup: Setup) -> ListedEval | None:
    """None: it did not end yet, or questions have no answer; result.json may then be older than the answers."""
    path = folder / RESULT_FILE
    if not path.is_file():
        return None
    document = read_json_file(path)
    if document["failed"] or document["missing"]:
        return None
    return replace(
        _row(folder, head, setup),
        state="whole",
        answered=int(document["answered"]),
        questions=int(document["questions"]),
        cut=int(document["cut"]),
        accuracies={str(name): float(row["accuracy"]) for name, row in document["filters"].items()},
    )


def _begun(folder: Path, head: Mapping[str, Any], setup: Setup) -> ListedEval:
    answers = [sample for sample in read_kept(folder) if sample.round == 1 and not sample.failed]
    requests = folder / REQUESTS_FILE
    questions = len(read_regular(requests, FILE_BYTES).splitlines()) if requests.is_file() else None
    cut = sum(each.cut for each in answers)
    return replace(_row(folder, head, setup), answered=len(answers), questions=questions, cut=cut)


def _row(folder: Path, head: Mapping[str, Any], setup: Setup) -> ListedEval:
    date, model, base_url, task = (str(head.get(key) or "") for key in ("started_at", "model", "base_url", "task"))
    return ListedEval(folder, "partial", date, model, base_url, Path(task).name, setup.protocol.name)
