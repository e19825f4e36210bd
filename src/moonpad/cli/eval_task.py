"""The questions of `moonpad eval`, and who scores the answers: lm-eval, or moonpad itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from moonpad.catalog.evaluations import Protocol, Task
from moonpad.cli.output import busy, note
from moonpad.cli.verify_target import writing
from moonpad.environments.installed import find
from moonpad.environments.paths import cache_home
from moonpad.evaluate import question_file, tool_questions
from moonpad.evaluate.gsm8k import SOURCE, Gsm8k, download, find_gsm8k, is_published
from moonpad.evaluate.lm_eval import LmEval
from moonpad.evaluate.question import Question, digest, lines_of
from moonpad.evaluate.sample import Sample
from moonpad.evaluate.score import Score
from moonpad.store.atomic_files import replace_as_is
from moonpad.values.errors import PreflightRefused, UsageError

DOWNLOADED: Final = "downloaded"
"""In place of a folder of the user's."""
Scorer = Callable[[Sequence[Sample]], tuple[list[Score], Mapping[str, Any]]]
"""The scores of samples that have an answer, and what lm-eval says of the whole."""


@dataclass(frozen=True, slots=True)
class Work:
    """`task`: its name, or the path of the user's file. `data` is what eval.json says of the questions' source."""

    kind: Task
    task: str
    data: Mapping[str, Any]
    make: Callable[[Protocol, str, Path, int | None], dict[str, Any]]
    """Writes the questions to a file; what else is to be known of them."""
    scorer: Callable[[Protocol, str, Sequence[Question]], Scorer]

    def same_data(self, about: object) -> bool:
        """Whether an evaluation with that in its eval.json asked these questions. Its folder may lie elsewhere now."""
        moved = {"folder": self.data.get("folder")} if "folder" in self.data else {}
        return isinstance(about, dict) and {**about, **moved} == self.data


def work_of(task: str, data: Path | None) -> Work:
    """
    Raises:
        UsageError: there is no such task or file, or a line of the file is not a question.
        PreflightRefused: lm-eval is not installed.
    """
    if task == "gsm8k":
        return _gsm8k(data)
    if task == "tools":
        return _tools(data)
    path = Path(task)
    if not task.strip() or (path.suffix != ".jsonl" and not path.exists()):
        raise UsageError(f"there is no task {task[:80]!r}", remedy="--task gsm8k, tools, or a FILE.jsonl of questions")
    if data is not None:
        raise UsageError("--data goes with gsm8k and tools", remedy="leave --data out")
    return _questions(path)


def _gsm8k(folder: Path | None) -> Work:
    installed = find("lm-eval")
    if installed is None:
        remedy = "moonpad engine install lm-eval"
        raise PreflightRefused("gsm8k is scored by lm-eval, which is not installed", remedy=remedy)
    gsm8k = find_gsm8k(folder) if folder else _downloaded()
    if not gsm8k.published:
        note("these are not the files that GSM8K's authors published: no published result is compared")
    about = {
        "folder": str(folder.resolve()) if folder else DOWNLOADED,
        "sha256": dict(gsm8k.sha256),
        "published": gsm8k.published,
    }

    def child(protocol: Protocol, model: str) -> LmEval:
        return LmEval(installed.python, protocol, model, gsm8k.paths)

    def make(protocol: Protocol, model: str, file: Path, limit: int | None) -> dict[str, Any]:
        with busy("lm-eval builds the requests"):
            part = file.with_name(f".{file.name}.part")
            version = child(protocol, model).build(part, limit)
            part.replace(file)
        return {"lm_eval": version}

    def scorer(protocol: Protocol, model: str, questions: Sequence[Question]) -> Scorer:
        def score(samples: Sequence[Sample]) -> tuple[list[Score], Mapping[str, Any]]:
            with busy(f"lm-eval scores {len(samples):,} answers"):
                scores, said = child(protocol, model).score(samples)
            return scores, {"lm_eval_results": said.results, "task_version": said.task_version}

        return score

    return Work("gsm8k", "gsm8k", about, make, scorer)


def _downloaded() -> Gsm8k:
    folder = cache_home() / "moonpad" / "data" / "gsm8k"
    if not is_published(folder):
        with busy("fetching GSM8K (MIT licence, 4.9 MB)"):
            texts = download()
        with writing(folder, "--data FOLDER, if you have the files"):
            for name, text in texts.items():
                replace_as_is(folder / name, text, 0o644)
        note(f"GSM8K's files are in {folder}, from {SOURCE}")
    return find_gsm8k(folder)


def _questions(path: Path) -> Work:
    lines = question_file.read_lines(path)
    about = {"file": str(path.resolve()), "digest": digest([line.question for line in lines]), "published": False}

    def make(protocol: Protocol, model: str, file: Path, limit: int | None) -> dict[str, Any]:
        questions = question_file.questions_of(lines[:limit], protocol, model)
        replace_as_is(file, lines_of(questions))
        return {}

    def scorer(protocol: Protocol, model: str, questions: Sequence[Question]) -> Scorer:
        made = {question.doc_id: question.doc_hash for question in question_file.questions_of(lines, protocol, model)}
        if any(made.get(question.doc_id) != question.doc_hash for question in questions):
            raise UsageError(f"{path} was changed since its questions were asked", remedy="evaluate it again")
        return lambda samples: (question_file.score(lines, samples), {})

    return Work("questions", str(path.resolve()), about, make, scorer)


def _tools(path: Path | None) -> Work:
    def made(protocol: Protocol, model: str) -> list[Question]:
        if path is None:
            return tool_questions.own_questions(protocol, model)
        return tool_questions.questions_of_file(path, protocol, model)

    def make(protocol: Protocol, model: str, file: Path, limit: int | None) -> dict[str, Any]:
        replace_as_is(file, lines_of(made(protocol, model)[:limit]))
        return {}

    def scorer(protocol: Protocol, model: str, questions: Sequence[Question]) -> Scorer:
        return lambda samples: (tool_questions.score(questions, samples), {})

    about = {"file": "moonpad's own 500" if path is None else str(path.resolve()), "published": False}
    return Work("tools", "tools", about, make, scorer)


def saved_work(head: Mapping[str, Any]) -> Work:
    """Of an evaluation that goes on, by its eval.json."""
    data = head.get("data")
    where = data if isinstance(data, dict) else {}
    if head.get("task") == "gsm8k":
        folder = str(where.get("folder", ""))
        return work_of("gsm8k", None if folder == DOWNLOADED else Path(folder))
    if head.get("task") == "tools":
        file = str(where.get("file", ""))
        return work_of("tools", None if file.startswith("moonpad's own") else Path(file))
    return work_of(str(head.get("task", "")), None)
