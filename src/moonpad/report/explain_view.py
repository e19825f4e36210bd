"""What `moonpad explain` shows: the command as it was written, a caret under each flag that has a finding, the mending
beneath, the line to copy."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from rich.text import Text

from moonpad.report.memory_bar import memory_bar
from moonpad.report.plan_commands import Command as Typed
from moonpad.report.plan_table import layout_words
from moonpad.values.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from moonpad.explain.commands import Script, Word
    from moonpad.explain.judged import Judged, Line, Remark
    from moonpad.values.finding import Finding

STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "dim"}
MAX_LINE: Final = 2000
"""Longer lines of a script are cut for the eye; the findings under them keep their words."""


def explain_view(judged: Sequence[Judged], script: Script, width: int, *, ascii_only: bool = False) -> Text:
    """Every deployment, then what is wrong with the script itself."""
    text = Text()
    for place, one in enumerate(judged):
        if place:
            text.append("\n")
        text.append_text(_deployment(one, script, width, ascii_only))
    for problem in script.problems:
        text.append(f"\nline {problem.line}: {problem.message}\n", style="yellow")
        if problem.remedy:
            text.append(f"  {problem.remedy}\n", style="dim")
    return text


def _deployment(one: Judged, script: Script, width: int, ascii_only: bool) -> Text:
    text = Text(_head(one), style="bold")
    text.append("\n")
    for number, source in enumerate(one.sources):
        remarks = [remark for remark in one.remarks if remark.command == number]
        text.append_text(_command(source.words or source.argv, source.argv, source.env, remarks, script, width))
    whole = [remark for remark in one.remarks if remark.command is None]
    for remark in whole:
        text.append_text(_finding(remark.finding, "", width))
    if one.memory is not None:
        text.append("\nOne device\n", style="bold")
        text.append_text(memory_bar(one.memory, min(width, 100), ascii_only=ascii_only))
    if one.corrected and one.corrected != one.commands:
        text.append("\nCorrected\n", style="bold")
        for line in one.corrected:
            text.append_text(_typed(line))
    for better in one.better:
        text.append(f"\nBetter: {better.why}\n", style="bold green")
        for line in better.lines:
            text.append_text(_typed(line))
    return text


def _head(one: Judged) -> str:
    words = [one.engine, one.version, f"({one.version_because})"]
    if one.kind not in ("serve", ""):
        words.append(f"[{one.kind}]")
    if one.checkpoint is not None:
        words.append(one.checkpoint.name)
    if one.cluster is not None:
        words.append(f"on {one.cluster.name} ({one.cluster_because})")
    if one.layout is not None:
        words.append(layout_words(one.layout))
    return "  ".join(word for word in words if word)


def _command(
    words: Sequence[Word],
    argv: Sequence[Word],
    env: object,
    remarks: Sequence[Remark],
    script: Script,
    width: int,
) -> Text:
    """The script's own lines that the command takes, each with its carets and findings below it."""
    text = Text()
    placed: dict[int, list[tuple[int, int, Finding]]] = {}
    loose: list[Finding] = []
    for remark in remarks:
        word = _word(remark, argv, env)
        if word is None or not 1 <= word.line <= len(script.lines):
            loose.append(remark.finding)
            continue
        end = word.end_column if word.end_line == word.line else len(script.lines[word.line - 1])
        placed.setdefault(word.line, []).append((word.column, max(end, word.column + 1), remark.finding))
    own = {line for word in words for line in range(word.line, word.end_line + 1)} | set(placed)
    for number in sorted(line for line in own if 1 <= line <= len(script.lines)):
        text.append(f"  {script.lines[number - 1][:MAX_LINE]}\n")
        for column, end, finding in sorted(placed.get(number, ()), key=lambda one: one[0]):
            if column >= MAX_LINE:
                text.append_text(_finding(finding, "", width))
                continue
            # Tabs stay tabs, so that the caret stands where the eye sees the word.
            blank = "".join("\t" if char == "\t" else " " for char in script.lines[number - 1][:column])
            carets = "^" * max(1, min(end, MAX_LINE) - column)
            text.append(f"  {blank}{carets}\n", style=STYLES[finding.severity])
            text.append_text(_finding(finding, "", width))
    for finding in loose:
        text.append_text(_finding(finding, "", width))
    return text


def _word(remark: Remark, argv: Sequence[Word], env: object) -> Word | None:
    if remark.variable is not None and isinstance(env, dict | type(None)) is False:
        found = env.get(remark.variable)  # type: ignore[attr-defined]
        return found  # type: ignore[no-any-return]
    if remark.at is not None and remark.at < len(argv):
        return argv[remark.at]
    return None


def _finding(finding: Finding, indent: str, width: int) -> Text:
    text = Text()
    for line in _wrapped(f"{finding.severity}: {finding.where}: {finding.message}", width, f"{indent}    "):
        text.append(line + "\n", style=STYLES[finding.severity])
    if finding.remedy:
        for line in _wrapped(finding.remedy, width, f"{indent}      "):
            text.append(line + "\n")
    return text


def _wrapped(sentence: str, width: int, indent: str) -> Iterator[str]:
    yield from textwrap.wrap(
        sentence, max(40, width), initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False
    )


def _typed(line: Line) -> Text:
    return Text("".join(f"  {row}\n" for row in Typed("", "", line.env, line.argv).lines()))
