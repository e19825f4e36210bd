"""What `moonpad explain` shows: the command as it was written, a caret under each flag that has a finding, the mending
beneath, the line to copy."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Final

from rich.text import Text

from moonpad.explain.commands import Command, Script, Word
from moonpad.explain.results import Judged, Line, Remark
from moonpad.explain.typo_repair import shown_with_words
from moonpad.report.caret_rows import Mark, source_rows
from moonpad.report.memory_bar import memory_bar
from moonpad.report.shell_line import typed_lines
from moonpad.values.finding import Finding, Severity

STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "dim"}
WIDEST: Final = 120
_PLAIN: Final = str.maketrans({"×": "x", "–": "-", "—": "-", "→": ">", "’": "'", "…": "."})


def explain_view(deployments: Sequence[Judged], script: Script, width: int, *, ascii_only: bool = False) -> Text:
    """Every deployment, then what is wrong elsewhere in the script. `width` in columns."""
    width = max(40, min(width, WIDEST))
    text = Text()
    reported: set[int] = set()
    for place, judged in enumerate(deployments):
        if place:
            text.append("\n")
        text.append_text(_deployment(judged, script, width, reported, ascii_only))
    for number, problem in enumerate(script.problems):
        if number not in reported:
            text.append(f"\n{script.where(problem.line)}: {problem.message}\n", style=STYLES[Severity.WARNING])
            if problem.remedy:
                text.append(f"  {problem.remedy}\n")
    # One character for each, so that the styles stay where they are.
    shown = "".join(char if char.isprintable() or char in "\n\t" else " " for char in text.plain)
    text.plain = shown.translate(_PLAIN).encode("ascii", "replace").decode("ascii") if ascii_only else shown
    return text


def _deployment(judged: Judged, script: Script, width: int, reported: set[int], ascii_only: bool) -> Text:
    text = Text()
    text.append_text(_wrapped(_head(judged), width, "bold"))
    lines: set[int] = set()
    for number, source in enumerate(judged.sources):
        remarks = [remark for remark in judged.remarks if remark.command == number]
        if not remarks and _own_lines(source, script) <= lines:
            continue  # a loop: the same line, read with its next value
        lines |= _own_lines(source, script)
        text.append_text(_command(source, remarks, script, width, reported))
    for remark in judged.remarks:
        if remark.command is None:
            text.append_text(_finding(remark.finding, width))
    text.append_text(_memory(judged, width, ascii_only))
    if judged.corrected and [line.argv for line in judged.corrected] != [line.argv for line in judged.commands]:
        text.append(f"\n{_corrected_heading(judged)}\n", style="bold")
        text.append_text(_typed(judged.corrected))
    for better in judged.better:
        text.append("\n")
        text.append_text(_wrapped(f"Better: {better.why}", width, "bold green"))
        text.append_text(_typed(better.lines))
    return text


def _head(judged: Judged) -> str:
    words = [judged.engine, judged.version, f"({judged.version_because})" if judged.version_because else ""]
    if judged.kind not in ("serve", ""):
        words.append(f"[{judged.kind}]")
    if judged.checkpoint is not None:
        words.append(judged.checkpoint.name)
    if judged.cluster is not None:
        words.append(f"on {judged.cluster.name} ({judged.cluster_because})")
    if judged.layout is not None:
        words.append(judged.layout_words)
    return "  ".join(word for word in words if word)


def _memory(judged: Judged, width: int, ascii_only: bool) -> Text:
    text = Text()
    if judged.memory is None:
        if judged.layout is not None and judged.unjudged:
            text.append(f"\nThe memory is not judged: {judged.unjudged}\n", style="bold")
        return text
    tokens = f"{judged.memory.context:,} tokens"
    fit = f"{tokens} of context fit ({judged.confidence})" if judged.fits else f"{tokens} of context do not fit"
    text.append(f"\nOne device: {fit}\n", style="bold" if judged.fits else STYLES[Severity.ERROR])
    text.append_text(memory_bar(judged.memory, min(width, 100), ascii_only=ascii_only))
    return text


def _corrected_heading(judged: Judged) -> str:
    """Says what the corrected lines do not mend."""
    left = [
        remark.finding.where
        for remark in judged.remarks
        if remark.finding.severity is Severity.ERROR and not remark.mends
    ]
    if judged.fits is False:
        return f"Corrected, and it still does not fit{': see below for what does' if judged.better else ''}"
    return f"Corrected, but for {', '.join(dict.fromkeys(left))}" if left else "Corrected"


def _command(source: Command, remarks: Sequence[Remark], script: Script, width: int, reported: set[int]) -> Text:
    """The script's own lines that the command takes, each with its carets and findings below it."""
    own = _own_lines(source, script)
    last = max(own, default=0)
    marks: dict[int, list[Mark]] = {}
    for remark in remarks:
        word = _word(remark, source)
        placed = word is not None and 1 <= word.line <= len(script.lines)
        line = word.line if word is not None and placed else last
        column, end = _columns(word, script) if word is not None and placed else (None, 0)
        finding = remark.finding
        marks.setdefault(line, []).append(Mark(column, end, _finding(finding, width), STYLES[finding.severity]))
    for number, problem in enumerate(script.problems):
        if problem.line in own:
            reported.add(number)
            if not shown_with_words(problem, source):
                message = _message(f"the shell: {problem.message}", problem.remedy, STYLES[Severity.WARNING], width)
                marks.setdefault(problem.line, []).append(
                    Mark(problem.column, problem.end_column, message, STYLES[Severity.WARNING])
                )
    text = Text()
    if script.origins:
        text.append(f"{script.where(min(own, default=last))}\n", style="dim")
    for line in sorted(own | set(marks)):
        written = script.lines[line - 1] if 1 <= line <= len(script.lines) else ""
        text.append_text(source_rows(written, marks.get(line, ()), width))
    return text


def _own_lines(source: Command, script: Script) -> set[int]:
    words = (*source.prefix, *source.argv)
    lines = {line for word in words for line in range(word.line, word.end_line + 1)}
    return {line for line in lines if 1 <= line <= len(script.lines)}


def _columns(word: Word, script: Script) -> tuple[int, int]:
    end = word.end_column if word.end_line == word.line else len(script.lines[word.line - 1])
    return word.column, max(end, word.column + 1)


def _word(remark: Remark, source: Command) -> Word | None:
    if remark.word is not None:
        return remark.word
    if remark.variable is not None:
        return source.env.get(remark.variable)
    return source.argv[remark.at] if remark.at is not None and remark.at < len(source.argv) else None


def _finding(finding: Finding, width: int) -> Text:
    # Many messages begin with the name of the flag; it is not said twice.
    named = "" if finding.message.startswith(finding.where) else f"{finding.where}: "
    return _message(f"{finding.severity}: {named}{finding.message}", finding.remedy, STYLES[finding.severity], width)


def _message(message: str, remedy: str, style: str, width: int) -> Text:
    return _wrapped(message, width, style, "    ").append_text(_wrapped(remedy, width, "", "      "))


def _wrapped(sentence: str, width: int, style: str, indent: str = "") -> Text:
    """Lines of at most `width` columns; every line but the first is indented by two more."""
    hang = f"{indent}  "
    lines = textwrap.wrap(sentence, width, initial_indent=indent, subsequent_indent=hang, break_on_hyphens=False)
    return Text.assemble(*((line + "\n", style) for line in lines))


def _typed(lines: Iterable[Line]) -> Text:
    commands = (typed_lines(line) for line in lines)
    return Text("\n".join("".join(f"  {row}\n" for row in rows) for rows in commands))
