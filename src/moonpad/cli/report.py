"""`moonpad report`: a measured run or a sweep as one page."""

from __future__ import annotations

from pathlib import Path

from moonpad.cli.output import Json, emit_json, next_command, note
from moonpad.cli.run_argument import eval_folder, measured_path
from moonpad.values.errors import UsageError
from moonpad.values.visible_text import shell_word

FILE = "report.html"


def report(
    run: str,
    *,
    out: Path | None = None,
    devices: int = 1,
    json: Json = False,
) -> None:
    """Write a measured run, a sweep or an evaluation as one self-contained HTML page.

    Parameters
    ----------
    run
        A run's name, or last (moonpad runs lists them); a folder of moonpad bench --out, or of --sweep. Interrupted
        runs work too. Also the folder of an evaluation (moonpad eval).
    out
        The HTML file; by default report.html in that folder.
    devices
        For a sweep: the number of devices behind the endpoint, for tokens per second and device.
    """
    from moonpad.bench.report_data import RunData, read_report
    from moonpad.report.run_page import run_page
    from moonpad.report.sweep_page import sweep_page
    from moonpad.store.atomic_files import replace_as_is

    if (folder := eval_folder(run)) is not None:
        _report_eval(folder, out, json=json)
        return
    path = measured_path(run)
    if devices < 1:
        raise UsageError(f"--devices must be at least 1, not {devices}")
    data = read_report(path)
    html = run_page(data) if isinstance(data, RunData) else sweep_page(data, devices)
    file = path / FILE if out is None else out
    try:
        replace_as_is(file, html, mode=0o644)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror or error}", remedy="--out FILE.html") from error
    if json:
        emit_json({"written": str(file)})
    else:
        note(f"written: {file}")
    if isinstance(data, RunData):
        next_command(f"moonpad compare {shell_word(path)} ANOTHER  shows what a change brought")
    elif data.cut or len(data.points) == 1:
        next_command("moonpad bench --sweep … --out, as before: it measures the loads that are missing")
    else:
        loads = (data.points[at].load for at in (0, -1))
        folders = (shell_word(path / f"{data.over}-{load}") for load in loads)
        next_command(f"moonpad compare {' '.join(folders)}")


def _report_eval(folder: Path, out: Path | None, *, json: bool) -> None:
    from moonpad.evaluate.references import compared
    from moonpad.evaluate.saved import read_eval
    from moonpad.report.eval_page import eval_page
    from moonpad.store.atomic_files import replace_as_is

    saved = read_eval(folder)
    against, why_none = compared(saved.result, saved.conditions) if saved.is_published_task else ([], "")
    file = folder / FILE if out is None else out
    try:
        replace_as_is(file, eval_page(saved, against, why_none), mode=0o644)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror or error}", remedy="--out FILE.html") from error
    if json:
        emit_json({"written": str(file)})
    else:
        note(f"written: {file}")
    next_command(f"moonpad compare {shell_word(folder)} ANOTHER  compares two evaluations question by question")
