"""`moonpad bench --sweep`: the same measurement at growing load."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from moonpad.bench.config import BenchConfig
from moonpad.bench.result import as_json
from moonpad.bench.run import resume_bench, run_bench
from moonpad.bench.sweep import SWEEP_FILE, Point, SweepResult, parse_sweep, run_sweep
from moonpad.cli.bench_progress import check_complete, progress_bar, write_summary
from moonpad.cli.output import emit_json, next_command, note, out
from moonpad.load.prompt_calibration import PromptCalibration
from moonpad.report.bench_tables import knee_notes, sweep_table
from moonpad.values.endpoint import Endpoint


def bench_sweep(
    endpoint: Endpoint,
    config: BenchConfig,
    text: str,
    requests_per_stream: int,
    folder: Path | None,
    same_endpoint: str,
    *,
    json: bool,
) -> None:
    """`folder`: None where nothing can be saved; the table is printed all the same.

    Raises:
        Interrupted: Ctrl-C; finished points are kept, and the same command resumes.
        CheckFailed: a point had no successful request.
    """
    sweep = parse_sweep(text, requests_per_stream)
    points: list[Point] = []
    calibration: PromptCalibration | None = None

    def measure(config: BenchConfig, place: Path | None, *, resume: bool) -> dict[str, Any]:
        nonlocal calibration
        note(f"{sweep.over} {config.concurrency}: {config.requests} requests{', resumed' if resume else ''}")
        with progress_bar() as on_progress:
            if resume and place:
                result = resume_bench(endpoint, place, on_progress=on_progress)
            else:
                result = run_bench(endpoint, config, out_dir=place, on_progress=on_progress, before=calibration)
        calibration = result.plan.calibration
        resumable = f"; the same command with --out {folder} continues" if folder else ""
        check_complete(result, f"interrupted at {sweep.over} {config.concurrency}{resumable}", same_endpoint)
        return as_json(result)

    for point in run_sweep(sweep, config, endpoint.base_url, folder, measure):
        points.append(point)
        if point.read and folder:
            note(f"{sweep.over} {point.load}: already measured, in {sweep.folder_at(folder, point.load)}")
    result = SweepResult(sweep, tuple(points))
    if json:
        emit_json(result.as_json())
    else:
        out().print(sweep_table(result))
    for line in knee_notes(result.knee, sweep.loads):
        note(line)
    if folder:
        write_summary(folder, SWEEP_FILE, result.as_json(), sweep_table(result))
    next_command(f"moonpad report {shlex.quote(str(folder))}" if folder else "moonpad bench --out FOLDER")
