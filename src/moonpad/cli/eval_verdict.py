"""The end of `moonpad eval`: scores, figures, files, the gate, the next command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from moonpad.cli.eval_task import Scorer, Work
from moonpad.cli.output import emit, next_command, note
from moonpad.cli.run_argument import eval_path
from moonpad.cli.verify_target import check_gate, with_gate
from moonpad.evaluate.compare import EvalComparison, compare
from moonpad.evaluate.gate import EvalGate
from moonpad.evaluate.limitations import Limitation
from moonpad.evaluate.question import Question
from moonpad.evaluate.references import compared
from moonpad.evaluate.sample import Sample
from moonpad.evaluate.saved import HEAD_FILE, PAGE_FILE, RESULT_FILE, SCORES_FILE, SavedEval, read_eval
from moonpad.evaluate.score import Score
from moonpad.evaluate.setup import Setup
from moonpad.report.eval_page import eval_page
from moonpad.report.eval_table import compare_block, eval_block
from moonpad.store.atomic_files import replace_as_is, replace_json, replace_text
from moonpad.values.errors import CheckFailed
from moonpad.values.visible_text import shell_word

if TYPE_CHECKING:
    from moonpad.cli.eval_run import Evaluation


def show(
    evaluation: Evaluation,
    folder: Path,
    work: Work,
    setup: Setup,
    head: Mapping[str, Any],
    questions: Sequence[Question],
    samples: Sequence[Sample],
    limitations: Sequence[Limitation],
    limits: EvalGate | None,
) -> None:
    """
    Raises:
        CheckFailed: questions have no answer, or the gate is not passed.
    """
    saved, said = scored_eval(folder, work, setup, head, questions, samples)
    result = saved.result
    against, why_none = compared(result, saved.conditions) if saved.is_published_task else ([], "")
    comparison = compare(read_eval(eval_path(str(evaluation.against))), saved) if evaluation.against else None
    broken = limits.of(result, comparison) if limits else None
    document = {
        "eval": str(folder),
        "model": saved.model,
        "task": work.task,
        **setup.as_json(),
        **result.as_json(),
        "references": [each.as_json() for each in against],
        "not_compared": why_none,
        "limitations": [msgspec.to_builtins(each) for each in limitations],
        **said,
    }
    if comparison:
        document["against"] = comparison.as_json()
    document = with_gate(document, broken)
    page = eval_page(saved, against, why_none, broken, comparison)
    emit(eval_block(result, against, why_none), document, json=evaluation.json)
    if not evaluation.json and comparison:
        note(compare_block(comparison))
    _write(saved, document, page)
    if not evaluation.json:
        note(f"written: {folder}")
    if result.failed:
        first = next(each.problem for each in saved.samples if each.failed)
        remedy = f"moonpad eval --resume {shell_word(folder)} asks those again"
        raise CheckFailed(f"{result.failed} of {result.planned} questions have no answer: {first}", remedy=remedy)
    check_gate(broken)
    next_command(_next(saved, comparison))


def scored_eval(
    folder: Path,
    work: Work,
    setup: Setup,
    head: Mapping[str, Any],
    questions: Sequence[Question],
    samples: Sequence[Sample],
) -> tuple[SavedEval, Mapping[str, Any]]:
    """The evaluation with its scores, not written yet; and what lm-eval says of the whole."""
    scores, said = _scored(work.scorer(setup.protocol, str(head["model"]), questions), samples)
    return SavedEval(folder, {**head, **said}, setup, tuple(questions), tuple(samples), tuple(scores)), said


def _write(saved: SavedEval, document: Mapping[str, Any], page: str) -> None:
    """After the figures were shown, so that a full disk does not cost them.

    Raises:
        CheckFailed: a file cannot be written. The answers are kept.
    """
    folder = saved.folder
    try:
        write_scores(saved)
        replace_json(folder / RESULT_FILE, document)
        replace_as_is(folder / PAGE_FILE, page, 0o644)
    except OSError as error:
        message = f"the figures and the page cannot be written to {folder}: {error.strerror or error}"
        remedy = f"free some space; moonpad eval --resume {shell_word(folder)} writes them, and asks nothing again"
        raise CheckFailed(message, remedy=remedy) from error


def write_scores(saved: SavedEval) -> None:
    """Raises OSError."""
    rows = "".join(msgspec.json.encode(row).decode() + "\n" for row in saved.scores)
    replace_text(saved.folder / SCORES_FILE, rows)
    replace_json(saved.folder / HEAD_FILE, saved.head)


def _scored(scorer: Scorer, samples: Sequence[Sample]) -> tuple[list[Score], Mapping[str, Any]]:
    """Of both rounds; what lm-eval says is of the first."""
    said: Mapping[str, Any] = {}
    scores: list[Score] = []
    for round_ in (2, 1):
        answered = [each for each in samples if each.round == round_ and not each.failed]
        if answered:
            rows, said = scorer(sorted(answered, key=lambda each: each.doc_id))
            scores = [*(msgspec.structs.replace(row, round=round_) for row in rows), *scores]
    return scores, said


def _next(saved: SavedEval, comparison: EvalComparison | None) -> str:
    if comparison:
        return f"moonpad report {shell_word(saved.folder)}"
    return f"moonpad compare {shell_word(saved.folder)} ANOTHER  compares two evaluations question by question"
