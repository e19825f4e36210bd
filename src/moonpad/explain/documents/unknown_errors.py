"""Errors of a pasted log that no row of the catalogue knows: what their own sentence says is wrong, or of which kind
they are. Of others nothing is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from moonpad.engines import ENGINES
from moonpad.engines.log_grammar import EXCEPTION, Failure, events, failure_at, first_cause, kind_of_error
from moonpad.engines.own_words import OwnWords, Says, own_words
from moonpad.engines.start_log import READY
from moonpad.explain.commands import ErrorLine, Script
from moonpad.explain.documents.broken_errors import continued
from moonpad.explain.documents.checked_keys import told_of_keys
from moonpad.explain.results import shortened

OWN_WORDS: Final = "the error says itself what is wrong: "
_MOST: Final = 400
"""Error lines that are looked at."""
_LONGEST: Final = 2_000
_SHOWN: Final = 320
_ABOVE: Final = 4
"""Lines above an AssertionError that may show the statement which raised it."""
_FRAMES: Final = 40
"""Lines above an error that show where it was raised."""
_WORK: Final = 40
"""Patterns that a line is held against."""
_OF_ANY_KIND: Final = "release-fault"
"""The row that knows no more than that code failed."""
_OF_A_REQUEST: Final = re.compile(r"[\[/]serving\w*\.py\b|Exception in ASGI|/starlette/|/preprocess\w*\.py\b")
"""Where a server answers a request, whose errors end nothing."""
_OF_A_CLIENT: Final = re.compile(
    r"\b(?:BadRequest|NotFound|APIConnection|APIStatus|API|InternalServer|Authentication|RateLimit|UnprocessableEntity)Error\b"
    r"|\bHTTP(?:Status)?Error\b|\b(?:openai|httpx|aiohttp|requests|urllib3?|litellm)\.\w|\bError code: [45]\d\d\b"
    r"|\b[45]\d\d (?:Client|Server) Error\b"
)
"""What a client of the server says: its request failed, and the server goes on."""
_REFUSES: Final = re.compile(
    r"\b(?:[Rr]equires?|must (?:be|have|not|equal|evenly|divide)|(?:[Cc]annot|[Cc]an't) (?:be|use|find|load|run|import)"
    r"|[Oo]nly (?:supports?|supported|valid|available|compatible|works?|implemented)"
    r"|only \w+(?: \w+)? (?:is|are) supported"
    r"|(?:is|are) missing|[Mm]issing \w+ \w+|[Uu]nsupported|[Ii]ncompatible|mutually exclusive"
    r"|not (?:yet |currently )?(?:supported|implemented|installed|available|divisible|compatible|valid|allowed|enough"
    r"|enabled)|does(?:n't| not) (?:support|work|have|fit|match|divide|exist)"
    r"|[Pp]lease (?:install|set|use|enable|disable|update|upgrade|add|pass|specify)"
    r"|[Ee]xceeds?|(?:larger|greater|smaller|less|more) than|at (?:least|most) \d"
    r"|too (?:old|new|large|small|many|few))\b"
)
"""Words by which a program refuses what it was given."""
_OF_A_COMPILER: Final = re.compile(r"\bop requires\b|\b(?:MLIR|LLVM|mlir|llvm|ptxas|nvcc)\b")
"""What a compiler says of code that people did not write."""
_OF_A_LIST: Final = re.compile(r"\b(?:list|tuple|string|pop)\b.{0,20}\b(?:out of range|from empty)")
"""An index into a list of Python, which says nothing of the sizes of tensors."""
_IN_SENTENCE: Final = re.compile(
    r"(?P<mark>[`\"“]?)(?P<error>(?:[a-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception): [^`\"”\n]{8,400})(?P=mark)"
)
_OPTION: Final = re.compile(r"(?<![\w-])--[a-z][\w-]{2,60}|\b[A-Z][A-Z0-9]{1,20}(?:_[A-Z0-9]+){1,8}\b")
_INSTALL: Final = re.compile(r"\binstall\w*\b", re.IGNORECASE)
_WAY_OUT: Final = re.compile(
    r"\b(?:please|try to|consider) (?P<way>(?:us(?:e|ing)|set(?:ting)?|add(?:ing)?|enabl(?:e|ing)|disabl(?:e|ing)"
    r"|reduce|increase|pass|specify|choose|switch to) [^.;:]{3,160})",
    re.IGNORECASE,
)
"""What an error asks for."""
_BREAKS: Final = re.compile(
    r"GGML_ASSERT(?:\(.{1,300}\) failed|: .{1,300})|(?:CUDA|HIP|ROCm) error: \S.{0,300}|Fatal Python error: \S.{0,200}"
    r"|^[ \t]*thread '[^'\n]{1,60}' (?:\(\d{1,10}\) )?panicked at .{1,300}"
)
"""By this a program says that it ends, where it is not one of Python's."""


def told_by_itself(
    errors: Sequence[ErrorLine], engine: str, script: Script, reported: Callable[[str], bool]
) -> tuple[Failure, int] | None:
    """What the first error that no row knows says for itself, with the number of its line, from 1. `reported`: whether
    what stands before an error in a sentence says that it came."""
    logged = dict(_lines(errors, engine, script))
    for lines in (logged, {} if _has_error(logged.values()) else dict(_quoted(errors, script, reported))):
        if (told := _told_in(lines, script, in_log=lines is logged)) is not None:
            return told
    return None


def _has_error(lines: Iterable[str]) -> bool:
    """Whether a log has the exception that ended it: one that is cut within its traceback has none."""
    return any(EXCEPTION.search(line) for line in lines)


def _told_in(lines: Mapping[int, str], script: Script, *, in_log: bool) -> tuple[Failure, int] | None:
    script.budget.work(_WORK * len(lines), "its error lines")
    numbers = sorted(lines)
    own = own_words([continued(lines[number], number, script.lines) for number in numbers])
    if in_log and (keys := _of_keys(numbers if own is None else numbers[: own.number + 1], script)) is not None:
        return keys
    if own is None or own.says is Says.LOGGED or _OF_A_CLIENT.search(own.words):
        return None
    number = numbers[own.number]
    above = [line[:_LONGEST] for line in script.lines[max(0, number - _FRAMES) : number]]
    if any(map(_OF_A_REQUEST.search, above)):
        return None
    failure = _in_words(own) if own.says is Says.WHAT else _of_kind(own, above) if in_log else None
    return None if failure is None else (failure, number)


def _of_keys(numbers: Sequence[int], script: Script) -> tuple[Failure, int] | None:
    """What the first of the lines that counts wrong keys says of them."""
    for number in numbers:
        if (failure := told_of_keys(number, script.lines)) is not None:
            return failure, number
    return None


def happened(text: str) -> Failure | None:
    """What the line of an error says that happened, where it does not say why."""
    event = first_cause(events(), [text], symptoms=True)
    return None if event is None else failure_at(event.cause, event.match)


def thrown(text: str) -> str:
    """What ended a program, by the line of a log: an exception of Python's, or an assertion of compiled code."""
    match = EXCEPTION.search(text)
    if match is not None:
        return match["error"]
    return broke[0] if (broke := _BREAKS.search(text)) is not None else ""


def _lines(errors: Sequence[ErrorLine], engine: str, script: Script) -> Iterator[tuple[int, str]]:
    """The logged ones behind the last start that served, each with what Python shows above an assertion."""
    generic = ENGINES[engine].log.generic
    logged = [error.number for error in errors[:_MOST] if error.logged]
    if not logged:
        return
    between = range(logged[0], logged[-1])
    served = max((number for number in between if READY.search(script.lines[number - 1][:_LONGEST])), default=0)
    for number in between:
        if "above exception" in script.lines[number - 1][:_LONGEST]:
            yield number, script.lines[number - 1][:_LONGEST]
    for number in logged:
        text = script.lines[number - 1][:_LONGEST].rstrip()
        if number <= served or "WARNING" in text or any(part in text for part in generic):
            continue
        if text.endswith("AssertionError"):
            yield from _statements(number, script.lines)
        yield number, text


def in_sentence(text: str, reported: Callable[[str], bool]) -> re.Match[str] | None:
    """The error in a sentence of the text's author that says that it came."""
    match = _IN_SENTENCE.search(text)
    return match if match is not None and reported(text[: match.start()]) else None


def _quoted(errors: Sequence[ErrorLine], script: Script, reported: Callable[[str], bool]) -> Iterator[tuple[int, str]]:
    """Errors within sentences of the text's author."""
    for error in errors[:_MOST]:
        text = script.lines[error.number - 1][error.column : _LONGEST]
        if (match := in_sentence(text, reported)) is not None:
            yield error.number, match["error"].rstrip(" .,;")


def _statements(number: int, lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    above = range(max(1, number - _ABOVE), number)
    return ((each, line) for each in above if "assert " in (line := lines[each - 1][:_LONGEST]))


def asserted(number: int, lines: Sequence[str]) -> str:
    """Of an AssertionError without words the statement that Python shows above it; "" where it shows none."""
    if not lines[number - 1].rstrip().endswith("AssertionError"):
        return ""
    found = [line.partition("assert ")[2].strip() for _, line in _statements(number, lines)]
    return f"AssertionError: assert {found[-1]}" if found else ""


def _in_words(own: OwnWords) -> Failure | None:
    if _REFUSES.search(own.words) is None or _OF_A_COMPILER.search(own.words):
        return None
    options = list(dict.fromkeys(_OPTION.findall(own.words)))
    if options:
        remedy = f"change what it names ({', '.join(options[:3])})"
    elif (way := _WAY_OUT.search(own.words)) is not None:
        remedy = f"do what it asks for: {shortened(way['way'].strip(), _SHOWN)}"
    elif _INSTALL.search(own.words):
        remedy = "install it where the engine runs, for an image in a layer of its own, or leave out what needs it"
    else:
        remedy = "change the setting that it is about, or take a release or a device that can do it"
    return Failure(f"{OWN_WORDS}{shortened(own.words, _SHOWN)}", remedy, own.words)


def _of_kind(own: OwnWords, above: Sequence[str]) -> Failure | None:
    """`above`: the lines up to the error's own."""
    found = None if _OF_A_LIST.search(own.words) else kind_of_error(own.words, above[:-1])
    return None if found is None or found[0].key == _OF_ANY_KIND else failure_at(*found)
