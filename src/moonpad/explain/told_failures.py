"""Lines of a log held against what the checks found: a cause that a finding names is not called unknown, and what the
parser refused has the remedy that a check has for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from moonpad.catalog.options import option_set, values_of, versions
from moonpad.engines import ENGINES
from moonpad.explain.checks.releases.error_agreement import error_pairs, pairs_of, shared_pairs, shares_particulars
from moonpad.explain.commands import ErrorLine, Script
from moonpad.explain.documents.answers import ANSWERED
from moonpad.explain.documents.loading_memory import LOADING
from moonpad.explain.documents.own_mends import own_mend
from moonpad.explain.documents.pasted_failures import NO_CAUSE, STOPPED
from moonpad.explain.documents.told_ends import TOLD
from moonpad.explain.programs import is_server
from moonpad.explain.results import Judged, Remark
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace

_WORD: Final = re.compile(r"[a-z][a-z0-9]{2,}")
_COMMON: Final = re.compile(
    r"\w*error|and|the|that|this|with|which|from|where|when|have|been|they|than|into|more|were|not|for|are|was|has|file"
    r"|line|most|recent|call|last|traceback|runtime|torch|model|models|value|start|ends?|said|says|log|self|get|set"
)
_NO_CHOICE: Final = re.compile(r"(?P<flag>--[a-z-]+): invalid choice: '(?P<value>[\w-]+)'")
PERHAPS: Final = ": perhaps this: "
BY_AUTHOR: Final = ": the text itself says what mends it: "
_CLASS: Final = re.compile(r"\b([A-Z]\w{3,40})(?:Error|Exception)\b")
_COMMON_CLASSES: Final = re.compile(
    r"(?:runtime|value|type|index|attribute|assertion|import|lookup|memory|outofmemory|timeout|connection|notimplemented"
    r"|unicode|filenotfound|modulenotfound|permission|validation|internal|system|unknown|zerodivision|recursion)",
    re.IGNORECASE,
)
"""Classes that say nothing of the fault."""
_TAKE_OUT: Final = "take it out of the command"
"""The remedy of a known failure, where no more is known of the option."""
_READ_AGAIN: Final = "moonpad explain reads the command line, and says what the release calls it"
_OF_LAUNCHER: Final = (
    "{} is nowhere in this text: what starts the engine adds it, so tell that not to, or take a release that has it"
)
_LEAST: Final = 2
"""So many pairs of neighbouring words have to be in both."""
_ABOVE: Final = 3
"""Lines above an exception that show the statement which raised it."""
_OF_MEMORY: Final = re.compile(r"the engine stopped: (?:out of memory|the weights leave no memory)")
_OF_MODEL: Final = re.compile(r"takes text only|this release serves as one of text|has no class|not among the models")
_LACKS_MODEL: Final = re.compile(
    r"\bthis release does not know \S+ ?\(|\bthis release does not know [A-Z]\S+$|has no class for"
)
_NAME: Final = re.compile(
    r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)+(?:\.\w+)?(?<!Error)(?<!Exception)\b|\b[a-z]+(?:_[a-z0-9]+){2,}\b"
    r"|\b[a-z]+(?:[A-Z][a-z]+){2,}\b|\b[a-z]+_[a-z]+\.(?!py\b)[a-z_]+\b"
)
"""`AutoImageProcessor.register`, `validate_fp8_block_shape`, `addProxyOpIfNeeded`, `self_attn.attn`: names in a
source."""
_OF_BLOCKS: Final = ", no multiple of the FP8 block of "
_COPIED: Final = "a config.json that is copied from the FP8 weights still says fp8"
_UNKNOWN: Final = re.compile(r"does not know (?P<flag>--?[A-Za-z][\w-]*)")
_SHARE: Final = re.compile(r"set --[a-z-]+ 0\.\d+ or less")
_OF_NAMES: Final = frozenset(
    {Code.RENAMED_FLAG, Code.REMOVED_FLAG, Code.PREFIX_FLAG, Code.DEAD_ENV, Code.REDUNDANT_FLAG}
)
_QUOTED: Final = 20
"""What an exception says, as far as a finding quotes it, is at least so long."""
_FIGURE: Final = re.compile(r"(?<![\w.,-])-?\d{3,}(?![\w.,]*\d)")
"""`-240`: what a check has reckoned as the engine did."""
_SIZE: Final = re.compile(r"(?<![\w.,-])\d{2,12}(?![\w.])")
_REFUSES: Final = "it refuses them"
_TWICE: Final = re.compile(rf"{STOPPED}(?:\w+ serve stands there twice|this version of \S+ does not know serve\b)")
_REPEATED: Final = re.compile(r"\(([^()]{20,200})\)")
_LONGEST: Final = 400
_CUT: Final = 3
"""So many letters of an option's end are lost where it is copied by hand."""


def beside_findings(
    failures: Iterable[Remark], found: Sequence[Remark], errors: Sequence[ErrorLine], script: Script, *, newest: bool
) -> Iterator[Remark]:
    """The failures, as far as no other finding tells more of them. `newest`: no release is named, so that what later
    ones mended is asked about in the first line."""
    told = [remark for remark in found if not remark.of_former and remark.finding.code is not Code.LOGGED_FAILURE]
    reports = [each for each in found if each.finding.code is Code.KNOWN_REPORT]
    mended = [each for each in found if each.finding.code is Code.MENDED_LATER]
    refused = any(each.finding.severity is Severity.ERROR and _REFUSES in each.finding.message for each in told)
    for failure in failures:
        if refused and _TWICE.match(failure.finding.message):
            continue  # the error shows the same words in the command
        unknown = failure.finding.severity is Severity.NOTE
        faults = [*(reports if unknown or failure.by_itself else ()), *(mended if unknown else ())]
        teller = _fault_of(failure, faults) or _quoting(failure, reports)
        if teller is None and (failure.by_itself or failure.finding.message.endswith(NO_CAUSE)):
            lines = [error for error in errors if script.where(error.number) == failure.finding.where]
            script.budget.work(len(told), "its error lines")
            teller = next((remark for remark in told if _tells(remark, lines, script)), None)
            teller = teller or _complained_of(failure, reports)
            if teller is None:
                named = _perhaps_by_name(_of_whole_release(failure, told), mended)
                yield _by_author(named, script)
        elif teller is None:
            shown = [
                script.lines[each.number - 1] for each in errors if script.where(each.number) == failure.finding.where
            ]
            yield _told_by_report(failure, told, shown) or _with_remedies(failure, told, script)
        if teller is not None and unknown and not _is_told_first(teller, newest=newest):
            yield _perhaps(failure, teller)


def _fault_of(failure: Remark, faults: Iterable[Remark]) -> Remark | None:
    """The known fault that tells of that very error."""
    pairs = pairs_of(failure.finding.message)
    return next((fault for fault in faults if shared_pairs(fault.finding.message, pairs) >= _LEAST), None)


def _quoting(failure: Remark, reports: Iterable[Remark]) -> Remark | None:
    """A report that has the very words of the error that a row of failures only repeats in brackets."""
    words = [match[1] for match in _REPEATED.finditer(failure.finding.message)]
    return next((report for report in reports if any(each in report.finding.message for each in words)), None)


def _complained_of(failure: Remark, reports: Iterable[Remark]) -> Remark | None:
    """The report that the first line names, of an error with the same sizes, or of a failure that is only told."""
    said = failure.finding.message
    if not said.endswith(NO_CAUSE):
        return None
    named = (each for each in reports if each.complained and each.finding.severity is Severity.WARNING)
    sizes = frozenset(_SIZE.findall(said))
    only_told = said.startswith(TOLD)
    shared = (each for each in named if only_told or len(sizes & {*_SIZE.findall(each.finding.message)}) >= _LEAST)
    return next(shared, None)


def _is_told_first(remark: Remark, *, newest: bool) -> bool:
    """Whether the first line of the judgement tells it."""
    first = remark.finding.severity is Severity.ERROR or remark.stops or remark.complained or remark.ends_start
    return first or (newest and remark.as_told) or remark.finding.severity is Severity.WARNING


def _perhaps(failure: Remark, cause: Remark) -> Remark:
    said = cause.finding.message.partition(": ")
    why = said[2] if said[0].startswith(("reported for ", "in releases ")) else cause.finding.message
    message = f"{failure.finding.message.removesuffix(NO_CAUSE)}{PERHAPS}{why}"
    return replace(failure, finding=replace(failure.finding, message=message, remedy=cause.finding.remedy))


def _perhaps_by_name(failure: Remark, mended: Sequence[Remark]) -> Remark:
    """By the one fault mended since that names the class of the error: `an Inductor error` for an InductorError."""
    if not failure.finding.message.endswith(NO_CAUSE):
        return failure
    names = {name for name in _CLASS.findall(failure.finding.message) if not _COMMON_CLASSES.fullmatch(name)}
    patterns = [re.compile(rf"\b{name}[ ]?(?:error|exception)", re.IGNORECASE) for name in sorted(names)]
    named = [each for each in mended if any(pattern.search(each.finding.message) for pattern in patterns)]
    return _perhaps(failure, named[0]) if len(named) == 1 else failure


def _by_author(failure: Remark, script: Script) -> Remark:
    """With what its author says has mended it, where no cause is known."""
    if not failure.finding.message.endswith(NO_CAUSE):
        return failure
    script.budget.work(len(script.lines), "its error lines")
    logged = {each.number for each in script.error_lines if each.logged}
    if (mend := own_mend(script.lines, logged)) is None:
        return failure
    message = f"{failure.finding.message.removesuffix(NO_CAUSE)}{BY_AUTHOR}({script.where(mend[0])}) {mend[1]}"
    return replace(failure, finding=replace(failure.finding, message=message))


def without_repeated(remarks: Sequence[Remark], failures: Sequence[Remark]) -> tuple[Remark, ...]:
    """Without a report of the whole release that a line of the log is told by."""
    told = [failure.finding.message.removeprefix(STOPPED) for failure in failures]

    def is_told(remark: Remark) -> bool:
        whole = remark.finding.code is Code.KNOWN_REPORT and not remark.placed and not remark.mends
        return whole and any(remark.finding.message.endswith(f": {message}") for message in told)

    return tuple(remark for remark in remarks if not is_told(remark))


def without_guesses(remarks: Sequence[Remark], failures: Sequence[Remark], script: Script) -> tuple[Remark, ...]:
    """Where a line of the log names its cause, a fault of older releases that only shares words with the text is no
    longer called one that it may be about; one that shares those of the error is."""
    if not any(each.finding.severity is Severity.WARNING and not each.by_itself for each in failures):
        return tuple(remarks)
    errors = error_pairs(script)

    def is_guess(remark: Remark) -> bool:
        return remark.as_told and shared_pairs(remark.finding.message, errors) < _LEAST

    return tuple(replace(each, as_told=False) if is_guess(each) else each for each in remarks)


def without_mended_elsewhere(remarks: Sequence[Remark], script: Script) -> tuple[Remark, ...]:
    """Where a report that still holds has the words of the error, a fault with the same words that a release mended for
    others is no longer called one that the text may be about: an upgrade would not help."""
    errors = error_pairs(script)
    holds = [
        each
        for each in remarks
        if each.finding.code is Code.KNOWN_REPORT
        and each.finding.severity is Severity.WARNING
        and (each.complained or each.stops)
        and not each.of_former
    ]
    words = frozenset().union(*(pairs_of(each.finding.message) for each in holds)) & errors

    def is_elsewhere(remark: Remark) -> bool:
        mended = remark.finding.code is Code.MENDED_LATER and remark.as_told
        return mended and shares_particulars(remark.finding.message, words)

    return tuple(replace(each, as_told=False) if is_elsewhere(each) else each for each in remarks)


def _tells(remark: Remark, errors: Iterable[ErrorLine], script: Script) -> bool:
    told = remark.finding.message.casefold()
    pairs = _pairs(told)
    for error in errors:
        *above, line = script.lines[max(0, error.number - 1 - _ABOVE) : error.number]
        quoted = line[:_LONGEST].rpartition("Error: ")[2].strip(" .").casefold()
        if len(quoted) >= _QUOTED and quoted in told:
            return True
        if remark.finding.severity is Severity.ERROR and _reckons(told, quoted):
            return True
        raising = [each for each in above if "assert" in each or "raise" in each]
        if len(pairs & frozenset().union(*map(_pairs, (line, *raising)))) >= _LEAST:
            return True
    return False


def _reckons(told: str, quoted: str) -> bool:
    """Whether an error has reckoned what the log's line has: two of its figures, or one below zero."""
    figures = frozenset(_FIGURE.findall(quoted))
    most = len(figures) > 1 or any(figure.startswith("-") for figure in figures)
    return most and figures <= frozenset(_FIGURE.findall(told))


def with_what_stopped(judged: Judged, failures: Sequence[Remark]) -> Judged:
    """Without a corrected command, and better ones, where the text's log says why the engine stopped, and nothing in it
    is changed but what was added for other reasons: it stops again."""
    stopped = any(
        each.finding.severity is Severity.WARNING and not each.changes and not each.finding.message.startswith(ANSWERED)
        for each in failures
    )
    errors = (each for each in judged.remarks if each.mends)
    mended = any((each.placed and _may_stop_it(each)) or each.finding.severity is Severity.ERROR for each in errors)
    if not stopped or mended or judged.corrected_with:
        return judged
    return replace(judged, corrected=(), corrected_files=(), better=())


def _may_stop_it(remark: Remark) -> bool:
    """A former name that the release of the log may well have taken did not, nor a fault that ends no start."""
    if remark.unmeant and not remark.ends_start:
        return False  # it starts with that, and answers otherwise than it should
    if remark.finding.code is Code.KNOWN_REPORT and remark.finding.severity is not Severity.ERROR:
        return remark.stops or remark.complained or remark.ends_start
    return remark.finding.code not in _OF_NAMES or remark.ends_start


def _pairs(text: str) -> frozenset[tuple[str, str]]:
    """Neighbouring words, those of a name of a program too: `disable_chunked_prefix_cache` has three pairs."""
    words = _WORD.findall(text[:_LONGEST].casefold())
    return frozenset(pair for pair in pairwise(words) if not any(_COMMON.fullmatch(word) for word in pair))


def _told_by_report(failure: Remark, told: Iterable[Remark], lines: Sequence[str]) -> Remark | None:
    """By what is reported of the release, where that names what the error names and the failure itself does not: `the
    installed transformers is of another release` says less than where it ends."""
    named = {name for line in lines for name in _NAME.findall(line[:_LONGEST])}
    named -= {*_NAME.findall(f"{failure.finding.message} {failure.finding.remedy}")}
    for remark in told if named else ():
        finding = remark.finding
        of_report = finding.code is Code.KNOWN_REPORT and finding.severity is Severity.WARNING
        if of_report and named & {*_NAME.findall(finding.message)}:
            # What stands at an option is shown there: the log's line has no other remedy than that.
            same = replace(failure, finding=replace(failure.finding, remedy=finding.remedy))
            return same if remark.placed else _in_words_of(failure, finding)
    return None


def _of_whole_release(failure: Remark, told: Iterable[Remark]) -> Remark:
    """An error that no row knows, by what is known to end each start of the model in this release."""
    for remark in told:
        finding = remark.finding
        whole = finding.where == "engine" and not remark.placed and remark.stops
        if failure.by_itself and whole and finding.code is Code.KNOWN_REPORT and finding.severity is Severity.WARNING:
            told_by = _in_words_of(failure, finding)
            return replace(told_by, finding=replace(told_by.finding, severity=Severity.WARNING))
    return failure


def _in_words_of(failure: Remark, cause: Finding) -> Remark:
    said = cause.message.partition(": ")
    message = said[2] if said[0].startswith("reported for ") else cause.message
    return replace(failure, finding=replace(failure.finding, message=f"{STOPPED}{message}", remedy=cause.remedy))


def _release_with_choice(finding: Finding) -> str | None:
    """Of a value that a parser refused and later releases take: the first that is known to take it."""
    refused = _NO_CHOICE.search(finding.message)
    if refused is None:
        return None
    title = finding.message.removeprefix(STOPPED).partition(" ")[0]
    program = next((engine.program for engine in ENGINES.values() if engine.facts.title == title), "")
    name = refused["flag"].removeprefix("--").replace("-", "_")
    recorded = versions(program) if program else ()
    taking = [each for each in recorded if refused["value"] in values_of(program, each, name)]
    return f"take a release that has it, {taking[0]} or later" if taking and taking[-1] == recorded[-1] else None


def _is_given(flag: str, script: Script) -> bool:
    """Whether a command of the text has it, or a file that writes the options without hyphens."""
    texts = {word.text.partition("=")[0] for command in script.commands for word in command.words}
    return flag in texts or any(re.match(rf"\s*{flag[2:]}:", line) for line in script.lines)


def _uncut(flag: str, script: Script) -> str:
    """The one option of the text's commands that begins with what an error names, `--kt-amx-weight-pat`, where none is
    called so."""
    texts = {word.text.partition("=")[0] for command in script.commands for word in command.words}
    longer = [text for text in texts if text.startswith(flag) and len(text) <= len(flag) + _CUT]
    return longer[0] if flag not in texts and len(longer) == 1 else flag


def _is_known_now(flag: str, script: Script) -> bool:
    """Whether the newest release of a program of the text has the option that another one refused."""
    programs = {command.program for command in script.commands if is_server(command.program)}
    sets = (option_set(program) for program in sorted(programs))
    return any(options is not None and options.named(flag) is not None for options in sets)


def _with_remedies(failure: Remark, told: Iterable[Remark], script: Script) -> Remark:
    """What the parser refused has a finding of its own, with what to write instead."""
    finding = failure.finding
    told = tuple(told)
    lacks = (remark.finding for remark in told if _LACKS_MODEL.search(remark.finding.message))
    if _OF_MODEL.search(finding.message) and (cause := next(lacks, None)) is not None:
        return _in_words_of(failure, cause)  # the engine says what follows from it
    loading = LOADING in finding.message
    lacking = (remark.finding for remark in told if remark.finding.code is Code.DOES_NOT_FIT)
    short = (each.remedy for each in lacking if not loading or each.message.startswith("the weights"))
    if _OF_MEMORY.search(finding.message) and (enough := next(filter(None, short), "")):
        # Weights that do not fit fit with no other share of the memory.
        return replace(failure, finding=replace(finding, remedy=enough), edits=())
    copied = (remark.finding.remedy for remark in told if _COPIED in remark.finding.message)
    if _OF_BLOCKS in finding.message and (instead := next(copied, "")):
        message = f"{finding.message.removesuffix(': tp is too large')}: the weights are BF16, and {_COPIED}"
        return replace(failure, finding=replace(finding, message=message, remedy=instead))
    share = (remark.finding.remedy for remark in told if remark.finding.code is Code.TIGHT)
    if _OF_MEMORY.search(finding.message) and not loading and (less := next(filter(_SHARE.fullmatch, share), "")):
        return replace(failure, finding=replace(finding, remedy=less))
    if (later := _release_with_choice(finding)) is not None:
        return replace(failure, finding=replace(finding, remedy=later))
    unknown = _UNKNOWN.search(finding.message)
    newer = unknown is not None and _is_known_now(unknown["flag"], script)
    if finding.remedy != _TAKE_OUT and not (newer and finding.remedy == _READ_AGAIN):
        return failure
    refused = finding.message.split()
    named = [_uncut(word, script) for word in refused if re.match(r"--[a-z]", word)]
    own = [remark.finding for remark in told if remark.mends and remark.finding.where in (*refused, *named)]
    words = dict.fromkeys(f"{one.remedy[:1].lower()}{one.remedy[1:].rstrip('.')}" for one in own if one.remedy)
    if not words and unknown is not None and newer:
        words = {f"take a newer build or release, which has {unknown['flag']}; or leave it out": None}
    if not words and len(named) == 1:
        words = {f"leave {named[0]} out" if _is_given(named[0], script) else _OF_LAUNCHER.format(named[0]): None}
    return replace(failure, finding=replace(finding, remedy="; ".join(words))) if words else failure
