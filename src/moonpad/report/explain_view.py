"""What `moonpad explain` shows: the command as it was written, a caret under each flag that has a finding, the mending
beneath, the line to copy."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from rich.text import Text

from moonpad.explain.typo_repair import shown_with_words
from moonpad.report.caret_rows import Mark, source_rows
from moonpad.report.memory_bar import memory_bar
from moonpad.report.plan_table import layout_words
from moonpad.report.shell_line import typed_lines
from moonpad.values.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from moonpad.explain.commands import Command, Problem, Script, Word
    from moonpad.explain.results import Judged, Line, Remark
    from moonpad.values.finding import Finding

STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "dim"}
WIDEST: Final = 120
_PLAIN: Final = str.maketrans({"×": "x", "–": "-", "—": "-", "→": ">", "’": "'", "…": "."})


def explain_view(judged: Sequence[Judged], script: Script, width: int, *, ascii_only: bool = False) -> Text:
    """Every deployment, then what is wrong elsewhere in the script. `width` in columns."""
    width = max(40, min(width, WIDEST))
    text = Text()
    said: set[int] = set()
    for place, one in enumerate(judged):
        if place:
            text.append("\n")
        text.append_text(_deployment(one, script, width, said, ascii_only))
    for number, problem in enumerate(script.problems):
        if number not in said:
            text.append(f"\n{script.where(problem.line)}: {problem.message}\n", style=STYLES[Severity.WARNING])
            if problem.remedy:
                text.append(f"  {problem.remedy}\n")
    # One character for each, so that the styles stay where they are.
    shown = "".join(char if char.isprintable() or char in "\n\t" else " " for char in text.plain)
    text.plain = shown.translate(_PLAIN).encode("ascii", "replace").decode("ascii") if ascii_only else shown
    return text


def _deployment(one: Judged, script: Script, width: int, said: set[int], ascii_only: bool) -> Text:
    text = Text()
    for line in textwrap.wrap(_head(one), width, subsequent_indent="  ", break_on_hyphens=False):
        text.append(line + "\n", style="bold")
    lines: set[int] = set()
    for number, source in enumerate(one.sources):
        remarks = [remark for remark in one.remarks if remark.command == number]
        if not remarks and _own_lines(source, script) <= lines:
            continue  # a loop: the same line, read with its next value
        lines |= _own_lines(source, script)
        text.append_text(_command(source, remarks, script, width, said))
    for remark in one.remarks:
        if remark.command is None:
            text.append_text(_finding(remark.finding, width))
    text.append_text(_memory(one, width, ascii_only))
    if one.corrected and [line.argv for line in one.corrected] != [line.argv for line in one.commands]:
        text.append(f"\n{_corrected_heading(one)}\n", style="bold")
        text.append_text(_typed(one.corrected))
    for better in one.better:
        text.append("\n")
        for row in textwrap.wrap(f"Better: {better.why}", width, subsequent_indent="  ", break_on_hyphens=False):
            text.append(row + "\n", style="bold green")
        text.append_text(_typed(better.lines))
    return text


def _head(one: Judged) -> str:
    words = [one.engine, one.version, f"({one.version_because})" if one.version_because else ""]
    if one.kind not in ("serve", ""):
        words.append(f"[{one.kind}]")
    if one.checkpoint is not None:
        words.append(one.checkpoint.name)
    if one.cluster is not None:
        words.append(f"on {one.cluster.name} ({one.cluster_because})")
    if one.layout is not None:
        words.append(layout_words(one.layout))
    return "  ".join(word for word in words if word)


def _memory(one: Judged, width: int, ascii_only: bool) -> Text:
    text = Text()
    if one.memory is None:
        if one.layout is not None and one.unjudged:
            text.append(f"\nThe memory is not judged: {one.unjudged}\n", style="bold")
        return text
    tokens = f"{one.memory.context:,} tokens"
    fit = f"{tokens} of context fit ({one.confidence})" if one.fits else f"{tokens} of context do not fit"
    text.append(f"\nOne device: {fit}\n", style="bold" if one.fits else STYLES[Severity.ERROR])
    text.append_text(memory_bar(one.memory, min(width, 100), ascii_only=ascii_only))
    return text


def _corrected_heading(one: Judged) -> str:
    """Says what the corrected lines do not mend."""
    left = [
        remark.finding.where for remark in one.remarks if remark.finding.severity is Severity.ERROR and not remark.mends
    ]
    if one.fits is False:
        return f"Corrected, and it still does not fit{': see below for what does' if one.better else ''}"
    return f"Corrected, but for {', '.join(dict.fromkeys(left))}" if left else "Corrected"


def _command(source: Command, remarks: Sequence[Remark], script: Script, width: int, said: set[int]) -> Text:
    """The script's own lines that the command takes, each with its carets and findings below it."""
    own = _own_lines(source, script)
    last = max(own, default=0)
    marks: dict[int, list[Mark]] = {}
    for remark in remarks:
        word = _word(remark, source)
        placed = word is not None and 1 <= word.line <= len(script.lines)
        line = word.line if word is not None and placed else last
        column, end = _columns(word, script) if word is not None and placed else (None, 0)
        marks.setdefault(line, []).append(
            Mark(column, end, _finding(remark.finding, width), STYLES[remark.finding.severity])
        )
    for number, problem in enumerate(script.problems):
        if problem.line in own:
            said.add(number)
            if not shown_with_words(problem, source):
                marks.setdefault(problem.line, []).append(
                    Mark(problem.column, problem.end_column, _said(problem, width), STYLES[Severity.WARNING])
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
    text = Text()
    for line in _wrapped(f"{finding.severity}: {named}{finding.message}", width, "    "):
        text.append(line + "\n", style=STYLES[finding.severity])
    for line in _wrapped(finding.remedy, width, "      ") if finding.remedy else ():
        text.append(line + "\n")
    return text


def _said(problem: Problem, width: int) -> Text:
    text = Text()
    for line in _wrapped(f"the shell: {problem.message}", width, "    "):
        text.append(line + "\n", style=STYLES[Severity.WARNING])
    for line in _wrapped(problem.remedy, width, "      ") if problem.remedy else ():
        text.append(line + "\n")
    return text


def _wrapped(sentence: str, width: int, indent: str) -> Iterator[str]:
    yield from textwrap.wrap(
        sentence, width, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False
    )


def _typed(lines: Iterable[Line]) -> Text:
    return Text("\n".join("".join(f"  {row}\n" for row in typed_lines(line)) for line in lines))
