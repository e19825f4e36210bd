"""`moonpad bench --sweep`: the same measurement at growing load."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from moonpad.bench.config import BenchConfig
from moonpad.bench.result import as_json
from moonpad.bench.run import resume_bench, run_bench
from moonpad.bench.sweep import SWEEP_FILE, Point, SweepResult, parse_sweep, run_sweep
from moonpad.cli.bench import progress_bar
from moonpad.cli.output import emit_json, next_command, note, out
from moonpad.load.calibrate import Calibration
from moonpad.report.sweep_table import knee_notes, sweep_table
from moonpad.store.files import replace_json, replace_text
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, Interrupted


def bench_sweep(
    endpoint: Endpoint,
    config: BenchConfig,
    text: str,
    requests_per_stream: int,
    folder: Path | None,
    *,
    json: bool,
) -> None:
    """`folder`: None where nothing can be kept; the table is printed all the same.

    Raises:
        Interrupted: Ctrl-C; the points before are kept, and the same command goes on.
        CheckFailed: a point had no successful request.
    """
    sweep = parse_sweep(text, requests_per_stream)
    points: list[Point] = []
    weighed: Calibration | None = None

    def measure(config: BenchConfig, place: Path | None, *, resume: bool) -> dict[str, Any]:
        nonlocal weighed
        note(f"{sweep.over} {config.concurrency}: {config.requests} requests{', the rest of them' if resume else ''}")
        with progress_bar() as on_progress:
            if resume and place:
                result = resume_bench(endpoint, place, on_progress=on_progress)
            else:
                result = run_bench(endpoint, config, out_dir=place, on_progress=on_progress, before=weighed)
        weighed = result.calibration
        if result.partial:
            goes_on = f"; with --out {folder} the same command goes on" if folder else ""
            raise Interrupted(f"interrupted in {sweep.over} {config.concurrency}{goes_on}")
        if not result.metrics.completed:
            kinds = ", ".join(result.metrics.failures)
            raise CheckFailed(f"none of {config.requests} requests succeeded ({kinds})", remedy="moonpad verify")
        return as_json(result)

    for point in run_sweep(sweep, config, endpoint.base_url, folder, measure):
        points.append(point)
        if point.read and folder:
            note(f"{sweep.over} {point.load}: measured before, in {sweep.folder_at(folder, point.load)}")
    found = SweepResult(sweep, tuple(points))
    if folder:
        _keep(folder, found)
    if json:
        emit_json(found.as_json())
    else:
        out().print(sweep_table(found))
    for line in knee_notes(found.knee, sweep.loads):
        note(line)
    if folder:
        note(f"written: {folder}")
    next_command(f"moonpad report {shlex.quote(str(folder))}" if folder else "moonpad bench --out FOLDER")


def _keep(folder: Path, found: SweepResult) -> None:
    try:
        replace_json(folder / SWEEP_FILE, found.as_json(), mode=0o644)
        replace_text(folder / "sweep.md", sweep_table(found) + "\n", mode=0o644)
    except OSError as error:
        note(f"{folder} cannot be written: {error.strerror or error}")
