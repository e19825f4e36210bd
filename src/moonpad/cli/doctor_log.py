"""`moonpad doctor --log`: the cause that a log names, with its line and what helps."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from moonpad.cli.log_file import read_log_file
from moonpad.cli.named_inputs import known_engine
from moonpad.cli.output import emit_json, next_command, out
from moonpad.observe.log_cause import OWN_WORDS, LogAnswer, read_log
from moonpad.values.errors import UsageError
from moonpad.values.records import as_dict
from moonpad.values.redaction import TooManyKeys, remember_labelled
from moonpad.values.visible_text import shell_word

SHOWN: Final = 400


def show_cause(file: Path, engine: str, *, json: bool) -> None:
    """Raises UsageError: the log cannot be read."""
    text = read_log_file(file, "moonpad doctor --log")
    answer = read_log(text, known_engine(engine) if engine else "")
    try:
        remember_labelled(f"{answer.text}\n{answer.message}")
    except TooManyKeys as problem:
        raise UsageError(f"too large to show: {problem}") from None
    if json:
        emit_json({**as_dict(answer), "known": bool(answer.key)})
        return
    for line in _lines(answer):
        out().print(line)
    next_command("moonpad doctor SPEC.toml" if answer.key else f"moonpad explain --file {shell_word(file)}")


def _lines(answer: LogAnswer) -> list[str]:
    where = f"line {answer.line}: {answer.text[:SHOWN]}"
    of = f" of {answer.engine}" if answer.engine else ""
    if not answer.line:
        served = ", and it came to serve" if answer.ready else ""
        return [f"No error is in this log{of}{served}: no cause is known."]
    if not answer.key:
        lines = ["No cause is known. The first error of the log is", f"  {where}"]
        lines += [f"  What happened: {answer.kind[:SHOWN]}"] if answer.kind else []
        return [*lines, *([f"  {answer.remedy}"] if answer.remedy else [])]
    title = "In its own words" if answer.key == OWN_WORDS else "Cause"
    lines = [f"{title}{of}: {answer.message[:SHOWN]}", f"  {where}"]
    lines += [f"  {answer.remedy}"] if answer.remedy else []
    if answer.phase:
        lines.append(f"It had come to: {answer.phase}{', and had begun to serve' if answer.ready else ''}.")
    if answer.later:
        lines.append(f"{answer.later} more error{'s' * (answer.later != 1)} follow{'s' * (answer.later == 1)} from it.")
    return lines
