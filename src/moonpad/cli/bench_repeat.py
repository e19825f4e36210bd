"""`moonpad bench --repeat`: the same measurement several times."""

from __future__ import annotations

from pathlib import Path

from moonpad.bench.config import BenchConfig
from moonpad.bench.repeat import REPEAT_FILE, as_json, config_of, spreads_of
from moonpad.bench.result import as_json as result_json
from moonpad.bench.run import run_bench
from moonpad.cli.bench_progress import check_complete, progress_bar, write_summary
from moonpad.cli.output import emit_json, next_command, note, out
from moonpad.report.bench_tables import repeat_table
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import UsageError


def bench_repeat(
    endpoint: Endpoint, config: BenchConfig, count: int, folder: Path | None, same_endpoint: str, *, json: bool
) -> None:
    """
    Raises:
        Interrupted: Ctrl-C; the runs before are kept.
        CheckFailed: a run had no successful request.
    """
    if count < 2:
        raise UsageError(f"--repeat must be at least 2, not {count}")
    documents, calibration = [], None
    for number in range(count):
        note(f"run {number + 1} of {count}, seed {config.seed + number}")
        place = folder / f"run-{number + 1}" if folder else None
        with progress_bar() as on_progress:
            result = run_bench(
                endpoint, config_of(config, number), out_dir=place, on_progress=on_progress, before=calibration
            )
        calibration = result.plan.calibration
        check_complete(result, f"interrupted in run {number + 1} of {count}", same_endpoint)
        documents.append(result_json(result))
    if json:
        emit_json(as_json(documents))
    else:
        out().print(repeat_table(spreads_of(documents)))
    if folder:
        write_summary(folder, REPEAT_FILE, as_json(documents))
    next_command(f"moonpad compare {folder}/run-1 RUN  shows what a setting changes" if folder else "moonpad runs")
