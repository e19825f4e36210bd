"""`moonpad bench --repeat`: the same measurement several times."""

from __future__ import annotations

from pathlib import Path

from moonpad.bench.config import BenchConfig
from moonpad.bench.repeat import REPEAT_FILE, as_json, check_repeats, config_of, spreads
from moonpad.bench.result import as_json as result_json
from moonpad.bench.run import run_bench
from moonpad.cli.bench import progress_bar
from moonpad.cli.output import emit_json, next_command, note, out
from moonpad.report.repeat_table import repeat_table
from moonpad.store.files import replace_json
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, Interrupted


def bench_repeat(
    endpoint: Endpoint, config: BenchConfig, count: int, folder: Path | None, same_endpoint: str, *, json: bool
) -> None:
    """
    Raises:
        Interrupted: Ctrl-C; the runs before are kept.
        CheckFailed: a run had no successful request.
    """
    check_repeats(count)
    documents, weighed = [], None
    for number in range(count):
        note(f"run {number + 1} of {count}, seed {config.seed + number}")
        place = folder / f"run-{number + 1}" if folder else None
        with progress_bar() as on_progress:
            result = run_bench(
                endpoint, config_of(config, number), out_dir=place, on_progress=on_progress, before=weighed
            )
        weighed = result.calibration
        if result.partial:
            raise Interrupted(f"interrupted in run {number + 1} of {count}")
        if not result.metrics.completed:
            raise CheckFailed(f"none of {config.requests} requests succeeded", remedy=f"moonpad verify{same_endpoint}")
        documents.append(result_json(result))
    if folder:
        try:
            replace_json(folder / REPEAT_FILE, as_json(documents), mode=0o644)
            note(f"written: {folder}")
        except OSError as error:
            note(f"{folder} cannot be written: {error.strerror or error}")
    if json:
        emit_json(as_json(documents))
    else:
        out().print(repeat_table(spreads(documents)))
    next_command(f"moonpad compare {folder}/run-1 RUN  for what another setting changes" if folder else "moonpad runs")
