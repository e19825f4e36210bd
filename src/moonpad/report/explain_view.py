"""What `moonpad explain` shows: the verdict, the command as it was written with a caret under each flag that has a
finding, the mending beneath, the line to copy. In short, what fits a screen; with `verbose`, all of it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Final

from rich.text import Text

from moonpad.catalog.cached_names import repository_of
from moonpad.catalog.models import uncounted_file
from moonpad.explain.alternatives import SHOWN, differences
from moonpad.explain.as_written import as_written
from moonpad.explain.commands import NUMBER_AS_WORD, Command, Problem, Script, Word
from moonpad.explain.documents.logged_caches import tells_of_answers
from moonpad.explain.other_publishers import published_as, shown_name
from moonpad.explain.results import Better, Judged, Line, Remark, shortened
from moonpad.explain.shell.typo_repair import shown_with_words
from moonpad.explain.spoiling import left_in
from moonpad.report.alike_starts import alike_but_numbers, with_numbers
from moonpad.report.caret_rows import Mark, source_rows
from moonpad.report.changed_lines import is_changed, left_open, misread, own_lines, severity_of
from moonpad.report.explain_sentences import STYLES, finding_text, is_told, mended_later, message_text, said, wrapped
from moonpad.report.explain_verdict import is_mended_later, memory_words, suspected, usual, verdict
from moonpad.report.manifest_frame import as_keys, corrected_rows, corrected_texts
from moonpad.report.memory_bar import memory_bar
from moonpad.report.same_starts import SameStarts, left_out_again
from moonpad.report.shell_line import typed_lines
from moonpad.values.finding import Finding, Severity
from moonpad.values.records import replace
from moonpad.values.visible_text import visible

WIDEST: Final = 120
NOTES: Final = 3
"""So many notes are shown in short, and so many commands of one deployment."""
_UNTROUBLED: Final = ("No error", "Fits", "Tight")
_TRACEBACK: Final = re.compile(
    r"[^'\"`]{0,200}?(?<![\w.])(?:Traceback \(most recent call last\):?[ \t]*$|File \"[^\"]{1,300}\", line \d+, in )"
)
"""A line of one; a script that looks for it has it between quotes."""
_PLAIN: Final = str.maketrans({"×": "x", "–": "-", "—": "-", "→": ">", "’": "'", "…": "."})

_FOREIGN: Final = re.compile(
    r"the text (?:names|is about) ([^,]{1,40}), which "
    r"(?:the catalogue does not have|(?P<unjudged>moonpad does not judge))"
)


def explain_view(
    deployments: Sequence[Judged], script: Script, width: int, *, ascii_only: bool = False, verbose: bool = False
) -> Text:
    """Every deployment, then what is wrong elsewhere in the script. `width` in columns."""
    width = max(40, min(width, WIDEST))
    text = Text()
    reported: set[int] = set()
    told: set[str] = set()
    corrected: dict[str, int] = {}
    answered = tells_of_answers(script.lines)
    starts = SameStarts(script)
    for place, judged in enumerate(deployments):
        sentence, style = verdict(judged, answered=answered)
        if (slip := misread(judged, script)) is not None:
            who = "Python does not start it" if slip.code == NUMBER_AS_WORD else "The shell does not read it as meant"
            sentence = f"{who} ({script.where(slip.line)}). As meant: {sentence}"
            style = STYLES[Severity.ERROR]
        runs = len(deployments) > 1 and any(command.serves for command in judged.sources)  # the other one failed
        if not runs and sentence.startswith(_UNTROUBLED) and any(map(_TRACEBACK.match, script.lines)):
            cause = suspected(judged) or "."
            sentence, style = f"The text shows a traceback{cause} The command: {sentence}", STYLES[Severity.WARNING]
        rows = _deployment(judged, script, width, reported, ascii_only) if verbose else Text()
        if not verbose:
            rows = _short(judged, script, width, reported, told, corrected, ascii_only)
            rest = rows.plain.removeprefix(_first_rows(judged, script, width).plain)
            if starts.is_told(judged, f"{sentence}  {_head(judged, script)}", rest):
                continue
        text.append("\n" if place else "").append_text(wrapped(sentence, width, style)).append_text(rows)
        for alike in alike_but_numbers(judged):
            text.append_text(_alternative(alike, judged, script, width))
    for again in starts.sentences():
        text.append("\n").append_text(wrapped(again, width, ""))
    if not verbose:
        text.append_text(_usual(deployments, width))
    of_commands = not any(judged.kind in ("report", "rollout") for judged in deployments)
    for number, problem in enumerate(script.problems):
        if number not in reported and of_commands:
            text.append(f"\n{script.where(problem.line)}: {problem.message}\n", style=STYLES[Severity.WARNING])
            if problem.remedy:
                text.append(f"  {problem.remedy}\n")
    # One character for each, so that the styles stay where they are: a template is as long as the name for it.
    shown = "".join(char if char.isprintable() or char in "\n\t" else " " for char in text.plain)
    shown = as_written(shown, script)
    text.plain = shown.translate(_PLAIN).encode("ascii", "replace").decode("ascii") if ascii_only else shown
    return text


def _short(
    judged: Judged,
    script: Script,
    width: int,
    reported: set[int],
    told: set[str],
    corrected: dict[str, int],
    ascii_only: bool,
) -> Text:
    """What a person needs first: lines with an error or a warning, three notes, the memory in two lines, the corrected
    line, and of what is better the words that change. What was `told` of an earlier deployment is only named, and what
    was `corrected` to the same, by the line of its command."""
    before = frozenset(told)
    again: dict[str, None] = {}

    def news(remarks: Sequence[Remark]) -> list[Remark]:
        told.update(said(remark.finding) for remark in remarks)
        repeated = [remark for remark in remarks if is_told(remark.finding, before)]
        again.update((remark.finding.where, None) for remark in repeated)
        return [remark for remark in remarks if remark not in repeated]

    at = min((source.line for source in judged.sources if source.line), default=0)
    text = _first_rows(judged, script, width)
    notes: dict[str, None] = {}
    lines_of: dict[Finding, list[int]] = {}
    for remark in judged.remarks:
        if remark.command is not None:
            lines_of.setdefault(remark.finding, []).append(_place(remark, judged.sources[remark.command])[0])
    shown: set[Finding] = set()
    for number, source in enumerate(judged.sources):
        remarks = [remark for remark in judged.remarks if remark.command == number and not usual(remark)]
        remarks = [remark for remark in remarks if not is_mended_later(remark)]
        # What is true of each node's command is said once.
        remarks = news([remark for remark in remarks if remark.finding not in shown])
        shown |= {remark.finding for remark in remarks}
        remarks = [_also(remark, lines_of[remark.finding], script) for remark in remarks]
        notes |= {said(remark.finding): None for remark in remarks if remark.finding.severity is Severity.NOTE}
        marked = [remark for remark in remarks if remark.finding.severity is not Severity.NOTE]
        text.append_text(_command(source, marked, script, width, reported, marked_only=True))
    for remark in news([remark for remark in judged.remarks if remark.command is None]):
        if remark.finding.severity is not Severity.NOTE:
            text.append_text(finding_text(remark.finding, width))
        else:
            notes[said(remark.finding)] = None
    for note in list(notes)[:NOTES]:
        text.append_text(wrapped(f"note: {note}", width, STYLES[Severity.NOTE], "  "))
    if len(notes) > NOTES:
        more = len(notes) - NOTES
        text.append(f"  and {more} more note{'s' * (more > 1)}: --verbose\n", style=STYLES[Severity.NOTE])
    text.append_text(mended_later(judged, width, before, again, verbose=False))
    told.update(said(remark.finding) for remark in judged.remarks if is_mended_later(remark))
    if again:
        text.append_text(wrapped(f"As said of an earlier command: {', '.join(again)}", width, STYLES[Severity.NOTE]))
    if judged.memory is not None:
        text.append_text(memory_bar(judged.memory, min(width, 100), ascii_only=ascii_only, legend=False))
        text.append_text(wrapped(memory_words(judged.memory), width, ""))
    for sentence in left_open(judged, script):
        text.append_text(wrapped(sentence, width, STYLES[Severity.NOTE]))
    changed = is_changed(judged, script)
    without = left_out_again(judged, before) if changed and corrected and misread(judged, script) is None else ""
    if without:
        text.append_text(wrapped(f"Corrected: without {without}, as said above", width, "bold"))
    elif changed:
        typed = "".join(f"  {row}\n" for row in corrected_rows(judged, script, width - 2, NOTES))
        last, first = [*corrected][-1:] == [typed], corrected.pop(typed, 0)
        same = last or first > 0
        which = "above" if last else f"for {script.where(first)}"
        text.append_text(wrapped(f"{_corrected_heading(judged)}{f': as {which}' if same else ''}", width, "bold"))
        text.append("" if same else typed)
        corrected[typed] = first or at
        if len(judged.corrected) > NOTES:
            text.append(f"  and {len(judged.corrected) - NOTES} more commands: --verbose\n")
        text.append_text(_left_in(judged, width))
    text.append_text(_corrected_files(judged, width))
    for better in judged.better:
        if changed and better.why == judged.corrected_with:
            continue
        text.append_text(wrapped(f"Better: {better.why}", width, "bold green"))
        added = [word for edit in better.edits[0] for word in edit.words] if better.edits else []
        words = as_keys(judged, script, added) or shlex.join(added)
        text.append_text(wrapped(words, width, "", "  "))
        text.append_text(_but(better, width))
    return text


def _first_rows(judged: Judged, script: Script, width: int) -> Text:
    """What it is, and the line of its command."""
    at = min((source.line for source in judged.sources if source.line), default=0)
    return wrapped("  ".join([_head(judged, script), script.where(at) if at else ""]).rstrip(), width, "")


def _but(better: Better, width: int) -> Text:
    """What is reported of it in the release that runs."""
    text = Text()
    for finding in better.but:
        text.append_text(wrapped(f"but {finding.message} ({finding.remedy})", width, STYLES[Severity.WARNING], "  "))
    return text


def _also_in(lines: Sequence[int], script: Script) -> str:
    """Where the same slip stands besides; "" where it stands nowhere else."""
    more = f" and {len(lines) - NOTES} more" if len(lines) > NOTES else ""
    return f" (also {', '.join(map(script.where, lines[:NOTES]))}{more})" if lines else ""


def _also(remark: Remark, lines: Sequence[int], script: Script) -> Remark:
    others = [line for line in dict.fromkeys(lines) if line != lines[0] and line]
    if not others:
        return remark
    message = f"{remark.finding.message}{_also_in(others, script)}"
    return replace(remark, finding=replace(remark.finding, message=message))


def _alternative(alike: Sequence[Judged], main: Judged, script: Script, width: int) -> Text:
    """What it has of its own: the differences, the verdict, the errors and warnings that the main one has not, and the
    corrected commands where one of these is mended; of several that differ in numbers alone once."""
    other, words = alike[0], differences(alike[0], main)
    more = f", and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    where = f"Or, {script.where(other.sources[0].line)}: {', '.join(words[:SHOWN]) or 'the same words'}{more}"
    where += with_numbers(alike, main)
    sentence, style = verdict(other, answered=tells_of_answers(script.lines))
    text = wrapped(where, width, "bold").append_text(wrapped(sentence, width, style, "  "))
    for finding in dict.fromkeys(other.findings):
        if finding.severity is not Severity.NOTE and finding not in main.findings:
            text.append_text(finding_text(finding, width))
    warned = (each for each in other.remarks if each.finding.severity is Severity.WARNING and not usual(each))
    if above := dict.fromkeys(each.finding.where for each in warned if each.finding in main.findings):
        text.append_text(wrapped(f"As said above: {', '.join(above)}", width, STYLES[Severity.NOTE], "    "))
    own = (each for each in other.remarks if each.changes and each.finding not in main.findings)
    if any(each.finding.severity is not Severity.NOTE for each in own) and is_changed(other, script):
        text.append_text(wrapped(_corrected_heading(other), width, "bold", "  "))
        rows = corrected_rows(other, script, width - 4, NOTES)
        text.append("".join(f"    {row}\n" for row in rows)).append_text(_left_in(other, width))
    return text


def _left_in(judged: Judged, width: int) -> Text:
    """Which warnings the corrected commands do not mend."""
    places = dict.fromkeys(remark.finding.where for remark in left_in(judged))
    if not places:
        return Text()
    return wrapped(f"Not mended in it: {', '.join(places)}, see above", width, STYLES[Severity.WARNING], "  ")


def _usual(deployments: Sequence[Judged], width: int) -> Text:
    """One line for what is true of nearly every command."""
    sentences = dict.fromkeys(usual(remark) for judged in deployments for remark in judged.remarks if usual(remark))
    return (
        wrapped(f"As nearly everywhere: {'; '.join(sentences)}.", width, STYLES[Severity.NOTE]) if sentences else Text()
    )


def _deployment(judged: Judged, script: Script, width: int, reported: set[int], ascii_only: bool) -> Text:
    text = Text()
    text.append_text(wrapped(_head(judged, script), width, ""))
    lines: set[int] = set()
    for number, source in enumerate(judged.sources):
        remarks = [remark for remark in judged.remarks if remark.command == number]
        remarks = [remark for remark in remarks if not is_mended_later(remark)]
        if not remarks and own_lines(source, script) <= lines:
            continue  # a loop: the same line, read with its next value
        lines |= own_lines(source, script)
        text.append_text(_command(source, remarks, script, width, reported))
    for remark in judged.remarks:
        if remark.command is None:
            text.append_text(finding_text(remark.finding, width))
    text.append_text(mended_later(judged, width, frozenset(), {}, verbose=True))
    text.append_text(_memory(judged, width, ascii_only))
    for sentence in left_open(judged, script):
        text.append_text(wrapped(sentence, width, STYLES[Severity.NOTE]))
    if is_changed(judged, script):
        text.append(f"\n{_corrected_heading(judged)}\n", style="bold")
        text.append("\n".join("".join(f"  {row}\n" for row in rows) for rows in corrected_texts(judged, script)))
        text.append_text(_left_in(judged, width))
    text.append_text(_corrected_files(judged, width))
    for better in judged.better:
        text.append("\n")
        text.append_text(wrapped(f"Better: {better.why}", width, "bold green"))
        text.append_text(_typed(better.lines))
        text.append_text(_but(better, width))
    return text


def _head(judged: Judged, script: Script) -> str:
    words = [
        judged.program or judged.engine,
        judged.version,
        f"({judged.version_because})" if judged.version_because else "",
    ]
    if judged.kind not in ("serve", ""):
        words.append(f"[{judged.kind}]")
    if judged.checkpoint is not None:
        meant = published_as(judged, script.lines)
        counted = judged.checkpoint.name
        words.append(f"{meant} (counted as {counted})" if meant else shown_name(judged, script.lines))
    elif judged.model_written:
        name = repository_of(judged.model_written)
        known = uncounted_file(judged.model_written)
        words.append(known or f"{shortened(name.rstrip('/').rpartition('/')[2] or name)} (not known)")
    elif judged.model_folder:
        words.append(f"{judged.model_folder} (not known)")
    if judged.cluster is not None:
        words.append(f"on {judged.cluster.name} ({judged.cluster_because})")
    elif (foreign := _FOREIGN.match(judged.cluster_because)) and foreign[0] not in judged.unjudged:
        words.append(f"on {foreign[1]} ({'not judged' if foreign['unjudged'] else 'not in the catalogue'})")
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


def _corrected_files(judged: Judged, width: int) -> Text:
    text = Text()
    for file in judged.corrected_files:
        text.append_text(wrapped(f"{file.path}, corrected", width, "bold"))
        text.append("".join(f"  {visible(row)}\n" for row in file.text.rstrip("\n").split("\n")))
    return text


def _corrected_heading(judged: Judged) -> str:
    return f"Corrected, with {judged.corrected_with}" if judged.corrected_with else "Corrected"


def _command(
    source: Command,
    remarks: Sequence[Remark],
    script: Script,
    width: int,
    reported: set[int],
    *,
    marked_only: bool = False,
) -> Text:
    """The script's own lines that the command takes, each with its carets and findings below it; or of these only the
    lines that have some."""
    own = own_lines(source, script)
    last = max(own, default=0)
    marks: dict[int, list[Mark]] = {}
    unplaced = Text()
    for remark in remarks:
        word = _word(remark, source)
        placed = word is not None and 1 <= word.line <= len(script.lines)
        if marked_only and not placed:
            unplaced.append_text(finding_text(remark.finding, width))
            continue
        line = word.line if word is not None and placed else last
        column, end = _columns(word, script) if word is not None and placed else (None, 0)
        finding = remark.finding
        marks.setdefault(line, []).append(Mark(column, end, finding_text(finding, width), STYLES[finding.severity]))
    alike: dict[tuple[str, str, Severity], list[Problem]] = {}
    for number, problem in enumerate(script.problems):
        if problem.line in own:
            reported.add(number)
            if not shown_with_words(problem, source):
                alike.setdefault((problem.code, problem.message, severity_of(problem, script)), []).append(problem)
    for (_, slip, severity), (first, *others) in alike.items():
        reader = "Python" if first.code == NUMBER_AS_WORD else "the shell"
        more = _also_in([each.line for each in others if each.line != first.line], script)
        shown = message_text(f"{severity}: {reader}: {slip}{more}", first.remedy, STYLES[severity], width)
        marks.setdefault(first.line, []).append(Mark(first.column, first.end_column, shown, STYLES[severity]))
    text = Text()
    if script.origins and (marks or not marked_only):
        text.append(f"{script.where(min(own, default=last))}\n", style="dim")
    for line in sorted(set(marks) if marked_only else own | set(marks)):
        written = script.lines[line - 1] if 1 <= line <= len(script.lines) else ""
        text.append_text(source_rows(written, marks.get(line, ()), width, marked_only=marked_only))
    return text.append_text(unplaced)


def _columns(word: Word, script: Script) -> tuple[int, int]:
    end = word.end_column if word.end_line == word.line else len(script.lines[word.line - 1])
    return word.column, max(end, word.column + 1)


def _place(remark: Remark, source: Command) -> tuple[int, int]:
    """Line and column of what it is about."""
    word = _word(remark, source)
    return (word.line, word.column) if word is not None else (source.line, -1)


def _word(remark: Remark, source: Command) -> Word | None:
    if remark.word is not None:
        return remark.word
    if remark.variable is not None:
        return source.env.get(remark.variable)
    return source.argv[remark.at] if remark.at is not None and remark.at < len(source.argv) else None


def _typed(lines: Iterable[Line]) -> Text:
    commands = (typed_lines(line) for line in lines)
    return Text("\n".join("".join(f"  {row}\n" for row in rows) for rows in commands))
