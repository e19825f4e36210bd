"""What `moonpad bench` runs: one measurement, `--sweep` and `--repeat`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from moonpad.bench.config import BenchConfig
from moonpad.bench.progress_line import LiveFigures
from moonpad.bench.repeat import REPEAT_FILE, config_of, spreads_of
from moonpad.bench.repeat import as_json as repeat_json
from moonpad.bench.result import BenchResult, as_json
from moonpad.bench.run import BenchProgress, OnProgress, resume_bench, run_bench
from moonpad.bench.sweep import SWEEP_FILE, SweepResult, parse_sweep, run_sweep
from moonpad.cli.bench_options import doubled, option_words
from moonpad.cli.output import bar, emit, next_command, note
from moonpad.load.lengths import check_bounds
from moonpad.load.prompt_calibration import PromptCalibration
from moonpad.report.bench_block import bench_block, bench_notes
from moonpad.report.bench_tables import knee_notes, repeat_table, sweep_table
from moonpad.report.predicted_words import predicted_words
from moonpad.report.run_phrases import client_bound_words
from moonpad.store.atomic_files import replace_json, replace_text
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, Interrupted, MoonpadError
from moonpad.values.estimate import Planned
from moonpad.values.records import replace
from moonpad.values.visible_text import shell_word

MOST_REPEATS = 1000


@dataclass(slots=True)
class Bench:
    """Measurements of one endpoint. `words` name it again for the next command.

    Each method raises Interrupted after Ctrl-C and keeps what was measured, CheckFailed where no request succeeded.
    A `folder` of None means that nothing can be saved: the figures are printed all the same.
    """

    endpoint: Endpoint
    words: str
    json: bool
    calibration: PromptCalibration | None = None
    """Of the run before: what a prompt's words cost in tokens is measured once."""
    predicted: Callable[[BenchConfig], tuple[Planned, ...]] = lambda config: ()
    """What the plan of the endpoint lets expect of a load."""

    def single(self, config: BenchConfig, folder: Path | None, *, resume: bool) -> None:
        result = self._measure(config, folder, resume=resume)
        document = as_json(result)
        if self.json:
            _note_client_bound("this run", document)
        emit(bench_block(result, document), document, json=self.json)
        for line in bench_notes(result, document):
            note(line)
        if folder:
            note(f"written: {folder}")
        done, planned = len(result.records), result.plan.config.requests
        self._check(result, f"interrupted after {done} of {planned} requests; the figures are of these")
        next_command(
            f"moonpad bench{self.words} {' '.join(map(shell_word, option_words(doubled(result.plan.config))))}"
        )

    def sweep(self, config: BenchConfig, text: str, requests_per_stream: int, folder: Path | None) -> None:
        """The same measurement at growing load; the same command measures the loads that are missing."""
        sweep = parse_sweep(text, requests_per_stream)
        points = []

        def measure(config: BenchConfig, place: Path | None, *, resume: bool) -> dict[str, Any]:
            note(f"{sweep.over} {config.concurrency}: {config.requests} requests{', resumed' if resume else ''}")
            result = self._measure(config, place, resume=resume)
            resumable = f"; the same command with --out {folder} continues" if folder else ""
            self._check(result, f"interrupted at {sweep.over} {config.concurrency}{resumable}")
            return as_json(result)

        failure: MoonpadError | None = None
        try:
            for point in run_sweep(sweep, config, self.endpoint.base_url, folder, measure):
                points.append(point)
                if point.read and folder:
                    note(f"{sweep.over} {point.load}: already measured, in {sweep.folder_at(folder, point.load)}")
        except MoonpadError as error:
            if not points:
                raise
            failure = error  # what was measured before is shown all the same
        result = SweepResult(sweep, tuple(points))
        for point in points:
            _note_client_bound(f"{sweep.over} {point.load}", point.document)
            for line in predicted_words(point.document):
                note(f"{sweep.over} {point.load}: {line}")
        emit(sweep_table(result), result.as_json(), json=self.json)
        for line in knee_notes(result.knee, sweep.loads) if failure is None else ():
            note(line)
        if folder:
            _write_summary(folder, SWEEP_FILE, result.as_json(), sweep_table(result))
        if failure:
            raise failure
        next_command(f"moonpad report {shell_word(folder)}" if folder else "moonpad bench --out FOLDER")

    def repeat(self, config: BenchConfig, count: int, folder: Path | None) -> None:
        """The same measurement several times, each with its own prompts."""
        check_bounds("repeat", count, 2, MOST_REPEATS)
        documents: list[dict[str, Any]] = []
        failure: MoonpadError | None = None
        try:
            for number in range(count):
                note(f"run {number + 1} of {count}, seed {config.seed + number}")
                place = folder / f"run-{number + 1}" if folder else None
                result = self._measure(config_of(config, number), place, resume=False)
                self._check(result, f"interrupted in run {number + 1} of {count}")
                documents.append(as_json(result))
        except MoonpadError as error:
            if len(documents) < 2:  # one run has no spread; its own folder has its figures
                raise
            failure = error
        for number, document in enumerate(documents, 1):
            _note_client_bound(f"run {number}", document)
        emit(repeat_table(spreads_of(documents)), repeat_json(documents), json=self.json)
        if folder:
            _write_summary(folder, REPEAT_FILE, repeat_json(documents))
        if failure:
            raise failure
        next_command(
            f"moonpad compare {shell_word(folder / 'run-1')} RUN  shows what a setting changes"
            if folder
            else "moonpad runs"
        )

    def _measure(self, config: BenchConfig, folder: Path | None, *, resume: bool) -> BenchResult:
        with _progress_bar() as show:
            if resume and folder:
                result = resume_bench(self.endpoint, folder, on_progress=show)
            else:
                endpoint = replace(self.endpoint, planned=(*self.endpoint.planned, *self.predicted(config)))
                result = run_bench(endpoint, config, out_dir=folder, on_progress=show, before=self.calibration)
        self.calibration = result.plan.calibration
        return result

    def _check(self, result: BenchResult, interrupted: str) -> None:
        if result.partial:
            raise Interrupted(interrupted)
        if not result.metrics.completed:
            kinds = ", ".join(f"{count} × {kind}" for kind, count in result.metrics.failures.items())
            raise CheckFailed(
                f"none of {result.plan.config.requests} requests succeeded: {kinds}",
                remedy=f"moonpad verify{self.words}",
            )


def _note_client_bound(where: str, document: Mapping[str, Any]) -> None:
    if text := client_bound_words(document):
        note(f"{where}: {text}")


@contextmanager
def _progress_bar() -> Iterator[OnProgress]:
    live: LiveFigures | None = None
    shown = ""
    with bar("calibrate", 1) as show:

        def on_progress(progress: BenchProgress) -> None:
            nonlocal live, shown
            text = f"{progress.phase}, {progress.failed} failed" if progress.failed else progress.phase
            if progress.record is not None:
                live = live or LiveFigures(monotonic)
                live.add(progress.record)
                text = f"{text}: {live.text(progress.running)}"
            if text != shown or progress.done == progress.total:  # of a thousand that end at once, a few are shown
                shown = text
                show(progress.done, text, progress.total)

        yield on_progress


def _write_summary(folder: Path, name: str, document: Mapping[str, Any], table: str = "") -> None:
    """Of a sweep or of repeats. A folder that cannot be written only causes a note."""
    try:
        replace_json(folder / name, document, mode=0o644)
        if table:
            replace_text((folder / name).with_suffix(".md"), table + "\n", mode=0o644)
        note(f"written: {folder}")
    except OSError as error:
        note(f"{folder} cannot be written: {error.strerror or error}")
