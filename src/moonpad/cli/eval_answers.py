"""The answers of one evaluation, each kept as it comes, by one process at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import msgspec

from moonpad.cli.eval_progress import ProgressLines
from moonpad.cli.verify_target import writing
from moonpad.environments.cancellation import Cancellation
from moonpad.environments.lock import holder, locked
from moonpad.evaluate.question import Question
from moonpad.evaluate.sample import Sample, short_enough
from moonpad.evaluate.saved import SAMPLES_FILE
from moonpad.store.atomic_files import LINE_BYTES, append_line
from moonpad.values.errors import CheckFailed, PreflightRefused
from moonpad.values.visible_text import shell_word

LOCK_FILE: Final = ".lock"


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """While the block runs no other process asks for the folder's evaluation. The lock ends with its holder.

    Raises:
        PreflightRefused: another process is at it.
        UsageError: the folder cannot be written.
    """
    path = folder / LOCK_FILE
    with ExitStack() as held:
        try:
            with writing(folder, "--out FOLDER"):
                held.enter_context(locked(path, Cancellation()))
        except PreflightRefused as error:
            remedy = f"wait until it has ended; moonpad eval --resume {shell_word(folder)} then asks what is missing"
            raise PreflightRefused(f"{holder(path)} is evaluating into {folder}", remedy=remedy) from error
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


class Answers:
    """The samples so far, each written at once."""

    def __init__(self, folder: Path, samples: Sequence[Sample], questions: Sequence[Question]) -> None:
        self.folder = folder
        self._asked = {question.doc_id: question.asked for question in questions}
        self._by_key: dict[tuple[int, int], Sample] = {}
        self._counts: Counter[str] = Counter()
        self._show_bar: Callable[..., None] | None = None
        self._lines: ProgressLines | None = None
        for sample in samples:
            if self._asked.get(sample.doc_id) == sample.asked:
                self._add(sample)

    @property
    def samples(self) -> list[Sample]:
        return list(self._by_key.values())

    @property
    def count(self) -> int:
        """Answers of both rounds."""
        return self._counts["answered"]

    def has(self, question: Question, round_: int) -> bool:
        sample = self._by_key.get((round_, question.doc_id))
        return sample is not None and not sample.failed

    def keep(self, sample: Sample) -> None:
        """
        Raises:
            CheckFailed: the disk is full. What was kept before is there.
        """
        sample, path = short_enough(sample, LINE_BYTES - 1), self.folder / SAMPLES_FILE
        try:
            append_line(path, msgspec.to_builtins(sample))
        except OSError as error:
            message = f"{path} cannot be written: {error.strerror or error}; {self.count:,} answers are kept"
            remedy = f"free some space; moonpad eval --resume {shell_word(self.folder)} asks the others"
            raise CheckFailed(message, remedy=remedy) from error
        self._add(sample)
        self._tell()

    def report_to(self, show_bar: Callable[..., None], lines: ProgressLines) -> None:
        self._show_bar, self._lines = show_bar, lines
        self._tell()

    def _add(self, sample: Sample) -> None:
        """Counted as it comes, since there may be a hundred thousand."""
        key = (sample.round, sample.doc_id)
        if key in self._by_key:
            self._counts.subtract(_kinds(self._by_key[key]))
        self._by_key[key] = sample
        self._counts.update(_kinds(sample))

    def _tell(self) -> None:
        if self._show_bar is None or self._lines is None:
            return
        counts = ", ".join(f"{self._counts[kind]} {kind}" for kind in ("cut", "empty", "failed"))
        self._show_bar(self.count, f"answering: {counts}")
        self._lines.show(self.count, f"answered: {counts}")


def _kinds(sample: Sample) -> list[str]:
    """What it counts as; cut, empty and failed in the first round only, whose answers the accuracy is of."""
    kinds = [] if sample.failed else ["answered"]
    if sample.round == 1:
        kinds += [kind for kind in ("cut", "empty", "failed") if getattr(sample, kind)]
    return kinds
