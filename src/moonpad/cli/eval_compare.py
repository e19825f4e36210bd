"""`moonpad compare` of two evaluations, question by question."""

from __future__ import annotations

from pathlib import Path

from moonpad.cli.output import emit, next_command, note
from moonpad.cli.run_argument import eval_folder, eval_path
from moonpad.values.errors import UsageError
from moonpad.values.visible_text import shell_word


def evals_of(first: str, second: str) -> bool:
    """Whether evaluations are meant.

    Raises:
        UsageError: one is an evaluation, and the other is not.
    """
    kinds = [eval_folder(named) is not None for named in (first, second)]
    if any(kinds) and not all(kinds):
        named = second if kinds[0] else first
        raise UsageError(f"{named} is not an evaluation, and the other is", remedy="name two folders of moonpad eval")
    return all(kinds)


def compare_evals(first: str, second: str, *, json: bool) -> None:
    """
    Raises:
        UsageError: they asked different questions, or in different ways.
    """
    from moonpad.evaluate.compare import compare
    from moonpad.evaluate.saved import read_eval
    from moonpad.report.eval_table import compare_block, compare_notes

    paths: list[Path] = [eval_path(named) for named in (first, second)]
    comparison = compare(*map(read_eval, paths))
    emit(compare_block(comparison), comparison.as_json(), json=json)
    if not json:
        for line in compare_notes(comparison):
            note(line)
    again = shell_word(paths[1])
    next_command(f"moonpad eval --resume {again} --against {shell_word(paths[0])}  writes it into the page of B")
