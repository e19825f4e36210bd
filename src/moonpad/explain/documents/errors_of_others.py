"""Errors that are of something else than the command: of a checkpoint that it does not start, of an issue that the text
refers to, of a day of which a later part of a long document tells, of another person with options of his own, or of an
attempt before the start that works."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Command, ErrorLine, Script
from moonpad.explain.documents.told_generally import FENCE, HEADING
from moonpad.explain.grouping import model_of

_CHECKPOINT: Final = re.compile(
    r"\b(?:[Uu]nrecognized model in|[Cc]an't load (?:the )?(?:config\w*|tokenizer|model) for|No such model:?"
    r"|[Uu]nable to load (?:the )?(?:config\w*|weights|model) (?:for|from|of))[ ]['\"`]?"
    r"(?P<publisher>[A-Za-z][\w.-]{1,60})/(?P<name>[\w.-]{2,80}?)['\"`]?(?=[.,;:]?(?:[ ]|$))"
)
"""`Unrecognized model in RadixArk/Kimi-K3-DSpark`."""
_NAME: Final = re.compile(r"(?<![\w./-])(?:[\w.-]{1,60}/)?(?P<name>[A-Za-z][\w.]{1,40}(?:-[\w.]{1,40}){1,8})")
_REFERENCE: Final = re.compile(
    r"\b(?:issue|bug|PR|pull request|thread|ticket)s?[ ]{1,2}(?:\[?[\w./-]{0,80}#\d{2,6}\]?(?:\([^()\s]{1,200}\))?"
    r"|\[[^\]]{1,80}\]\([^()\s]{1,200}\))[ ](?:reports?|reported|describes?|tells?|is about|covers?|tracks?|shows?)\b"
    r"(?!.*\b(?:I|we|my|our|same)\b)[^!?]{0,200}\Z"
)
"""`SGLang issue #32569 reports DSPARK crashing with`, before the error of another."""
_QUOTE: Final = re.compile(r"[`\"'“]|\b\w*(?:Error|Exception)\b")
"""Where an error begins in a sentence."""
_DATED: Final = re.compile(
    r"\bon[ ][*_]{0,2}(?:\d{1,2}[ ](?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6},?[ ]20\d\d"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}[ ]\d{1,2},?[ ]20\d\d|20\d\d-\d\d-\d\d)\b"
)
_FAR: Final = 100
"""Lines from a command to an incident that another part of a document tells of."""
_PART: Final = re.compile(
    r"[#*_> \t]{0,6}@?(?P<name>[A-Za-z0-9][\w-]{0,38})[*_]{0,3}(?:[ ]\([\w ]{1,20}\))?[ ](?:"
    r"[·•|][ ](?:description|comment|reply|review(?: thread)?)\b|(?:commented|opened|replied|wrote|answered)\b.{0,80}$)"
    r"|[ \t]*\[turn \d{1,4} by (?P<turn>[\w-]{1,39})[,\]]"
)
"""`bob · comment · 2026-06-23`, `bob commented on Jun 23`: where what one person wrote begins in a thread."""
_OPTION: Final = re.compile(r"(?<![\w-])--[a-z][a-z0-9]{1,30}(?:[-_][a-z0-9]{1,30}){1,10}(?![\w-])")
_OWN_ERROR: Final = re.compile(
    r"\b(?:I|we)\b.{0,80}\b(?:get|got|have|hit|see|saw|ran into)[ ]an?(?:other|[ ]different)[ ]"
    r"(?:error|problem|issue)\b",
    re.IGNORECASE,
)
_OF_HIS_OWN: Final = re.compile(r"\b(?:I|I'm|we|my|our)\b|我")
_SAME: Final = re.compile(
    r"\bsame\b(?! (?:machine|node|host|model|weights|checkpoint|image|release|version)\b)|\bme too\b|(?<!\w)\+1\b"
    r"|\b(?:I|we)(?:'m)? also\b|相同|同样",
    re.IGNORECASE,
)
"""Words of a person who has what the first one has."""
_FAILED: Final = re.compile(
    r"\b(?:failed|broken|abandoned|discarded|previous|earlier|former|dead[ -]ends?)\b"
    r"|\bwhat (?:did ?n[o']t|does ?n[o']t|failed)\b|\bdid(?: not|n't) work\b|失败的",
    re.IGNORECASE,
)
"""Of a heading below which a text tells of attempts."""
_FARTHEST: Final = 400
"""Lines up to the line that names who wrote a part."""
_LONGEST: Final = 2_000
_MOST: Final = 8
"""Lines of a paragraph on either side."""


def is_of_another(error: ErrorLine, commands: Sequence[Command], script: Script) -> bool:
    """Whether a sentence quotes an error that another had, an incident of some day is far from the command, or it is
    of an attempt before it."""
    if _is_of_a_day(error.number, commands, script) or _is_of_an_attempt(error.number, commands, script):
        return True
    if _is_introduced_as_anothers(error.number, commands, script):
        return True
    if error.logged or error.pasted:
        return False
    before, behind = _paragraph(error.number - 1, script)
    own = script.lines[error.number - 1][:_LONGEST]
    quote = _QUOTE.search(own)
    if quote is not None and _REFERENCE.search(" ".join((*before, own[: quote.start()]))):
        return True
    named = {match["name"].casefold() for match in _CHECKPOINT.finditer(" ".join((*before, own, *behind)))}
    words = [word for command in commands for word in command.words]
    if len(named) != 1 or any(word.unresolved for word in words):
        return False
    (name,) = named
    return not any(name in word.text.casefold() for word in words)


def who_else_had(error: ErrorLine, commands: Sequence[Command], script: Script) -> str:
    """Another person of a thread than the one who wrote the commands, where what he says of his start names options
    that no command has, or calls his error another one; "" where the error may be theirs."""
    line = min((command.line for command in commands), default=0)
    if error.number <= line:
        return ""
    script.budget.once("who wrote the parts of a thread", len(script.lines), "its error lines")
    (_, author), (first, other) = _part_of(line, script), _part_of(error.number, script)
    if not author or not other or author.casefold() == other.casefold():
        return ""
    said = " ".join(text[:_LONGEST] for text in script.lines[first : error.number])
    given = {word.text.partition("=")[0].replace("_", "-") for command in commands for word in command.words}
    named = {option.replace("_", "-") for option in _OPTION.findall(said)}
    if _OWN_ERROR.search(said):
        return other
    return other if named - given and _OF_HIS_OWN.search(said) and not _SAME.search(said) else ""


def _part_of(number: int, script: Script) -> tuple[int, str]:
    """Where the part with the line begins, and who wrote it; "" where nothing says so."""
    for at in range(number - 1, max(-1, number - 1 - _FARTHEST), -1):
        if match := _PART.match(script.lines[at][:_LONGEST]):
            return at + 1, match["name"] or match["turn"]
    return 0, ""


def _is_of_a_day(number: int, commands: Sequence[Command], script: Script) -> bool:
    end = max((word.end_line for command in commands for word in command.words), default=number)
    if number - end < _FAR:
        return False
    before, _ = _paragraph(number - 1, script)
    above = number - 1 - len(before)
    if above > 1 and FENCE.match(script.lines[above - 1]):  # the sentence above a block of what was printed
        at = next((each for each in range(above - 2, max(0, above - 4), -1) if script.lines[each].strip()), above - 2)
        before = [*_paragraph(at, script)[0], _plain(script.lines[at])]
    own = _plain(script.lines[number - 1])
    return _DATED.search(" ".join((*before, own))) is not None and any(
        HEADING.match(line[:_LONGEST]) for line in script.lines[end : number - 1]
    )


def _is_of_an_attempt(number: int, commands: Sequence[Command], script: Script) -> bool:
    """Whether it stands in a part of failed attempts, and behind the command a log shows that it serves."""
    first = min((command.line for command in commands), default=0)
    if number >= first or not any(command.serves and command.held_tokens is not None for command in commands):
        return False
    above = range(number - 1, max(-1, number - 1 - _FARTHEST), -1)
    script.budget.work(len(above), "its error lines")
    heading = next((at for at in above if HEADING.match(script.lines[at][:_LONGEST])), None)
    if heading is None or not _FAILED.search(script.lines[heading][:_LONGEST]):
        return False
    return any(HEADING.match(line[:_LONGEST]) for line in script.lines[number : first - 1])


def _is_introduced_as_anothers(number: int, commands: Sequence[Command], script: Script) -> bool:
    """Whether the sentence in front of the log, `DeepSeek-V2-Lite fails there too, with:`, names another model."""
    logged = {each.number for each in script.error_lines if each.logged}
    above = range(number - 2, max(-1, number - 2 - _MOST), -1)
    script.budget.work(len(above), "its error lines")
    said = next((text for at in above if at + 1 not in logged and (text := _plain(script.lines[at])).strip("`~")), "")
    if not said.endswith((":", "：")):
        return False
    models = [name.casefold() for each in commands if (name := (model_of(each) or "").rstrip("/").rpartition("/")[2])]
    if not models or any(model in said.casefold() for model in models):
        return False
    named = [match["name"].casefold().rstrip(".-") for match in _NAME.finditer(said)]
    return any(_is_sibling(name, model) for name in named for model in models)


def _is_sibling(name: str, model: str) -> bool:
    """Whether two names begin alike and go on otherwise: neither is short for the other."""
    alike = model.partition("-")[0] == name.partition("-")[0] and any(char.isdigit() for char in name)
    return alike and not model.startswith(name) and not name.startswith(model)


def _paragraph(number: int, script: Script) -> tuple[list[str], list[str]]:
    """The lines before and behind one, from 0, up to an empty one, a heading or a fence."""
    lines, first, last = script.lines, number, number + 1
    while first > max(0, number - _MOST) and not _ends(lines[first - 1]):
        first -= 1
    while last < min(len(lines), number + _MOST) and not _ends(lines[last]):
        last += 1
    return [_plain(line) for line in lines[first:number]], [_plain(line) for line in lines[number + 1 : last]]


def _plain(line: str) -> str:
    return line[:_LONGEST].strip(" \t>")


def _ends(line: str) -> bool:
    text = line[:_LONGEST]
    return not text.strip() or HEADING.match(text) is not None or FENCE.match(text) is not None
