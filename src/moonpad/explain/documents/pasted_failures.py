"""Lines of a text by which an engine said why it stopped: each with its cause and what helps, where these are known.

Only what an engine has written counts: a line of a log, or an error that the author reports. A guide that says what to
do if an error comes has not had it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from typing import Final

from moonpad.engines import ENGINES
from moonpad.engines.host_expert_names import FEWER_ON_DEVICES, LESS_ON_DEVICES, OF_SHARES, OLD_PROGRAMS, ON_DEVICES
from moonpad.engines.log_grammar import CauseLine, failure_at, is_mild
from moonpad.engines.log_lines import behind_front
from moonpad.explain.commands import Command, ErrorLine, Script
from moonpad.explain.documents.answers import ANSWERED, is_answer, words_before
from moonpad.explain.documents.broken_errors import continued
from moonpad.explain.documents.error_items import behind_marker, listed_messages
from moonpad.explain.documents.fenced_logs import fenced_logs
from moonpad.explain.documents.loading_memory import KEYS, LOADING, is_of_loading, remedy_for
from moonpad.explain.documents.log_owners import writer_of
from moonpad.explain.documents.model_types import of_known_type
from moonpad.explain.documents.named_flags import in_flags
from moonpad.explain.documents.order_of_errors import causes_first, each_once
from moonpad.explain.documents.text_hints import version_mentions
from moonpad.explain.documents.told_ends import LABEL, OF_MEMORY, TOLD, begins_an_error, printed_lines, telling_lines
from moonpad.explain.documents.told_generally import CHAPTER, FENCE, HEADING, is_general, mended_lines
from moonpad.explain.grouping import Group, value_of
from moonpad.explain.results import Edit, Remark, shortened
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace

MOST_LINES: Final = 2_000
STOPPED: Final = "the engine stopped: "
OF_ANOTHER: Final = "not of this command, but of another person's with other options"
OUT_OF_MEMORY: Final = "out of memory"
_FULL: Final = re.compile(rf"{OUT_OF_MEMORY}|[\w.]+ could not allocate a buffer|the device's memory is full")
NO_CAUSE: Final = ": no cause is known to moonpad"
_MOST: Final = 3
"""Causes shown of one deployment; the first is the root."""
_AT_MOST: Final = re.compile(r"\bset (--[a-z][\w-]*) to at most ([0-9]+)")
_LONGEST: Final = 2_000
_MOST_BROKEN: Final = 3
_MOST_INTRODUCED: Final = 4
"""Lines of a log that a sentence above them is about, where no fence holds them."""

_ERRS: Final = re.compile(
    r"[Ee]rror|ERROR|OOM\b|CRITICAL|[Aa]ssert|[Ff]ail|No available|not divisible|[Cc]annot|Illegal|NCCL|Not enough"
    r"|not support|larger than|out of |exceeds|custom code|not aligned|no weight|is not valid|less than|NVSHMEM"
    r"|only support|[Uu]nsupported|exhausted|报错|OutOfResources|Exception: can't find|never been tested|Duplicate rpc"
    r"|Unable to find|metadata not found|invalid magic|not yet supported|not initialized|NULL value|\(E[A-Z]\d{4}\)"
    r"|malformed response|[Ww]atchdog timeout \(|ASSERT[(:]|MPI_ERR_\w|Caught signal \d|Oops\(|Memory access fault"
    r"|[Dd]oesn't support|\bE[A-Z]\d{4}: |of type \d{1,3} \(DEPRECATED\)|invalid ggml type|no matching manifest for"
    r"|requires use of the NVIDIA open|is not compatible with the current PyTorch"
)
_LOGGED_ERRS: Final = re.compile(
    r"too SMALL|undefined symbol|times? out|timed out|addProxyOp|Xid \(PCI|\bfatal\b|is restricted|[Cc]ouldn't"
    r"|tried to allocate|insufficient|exceeded|RetCode|mismatch|not found|denied|No space left|[Nn]o such file|非法"
    r"|please use one or more of|Unable to create ah|group of specs for \d{3,5} seconds|incompatible|memory: 0,"
    r"|Timed out|ProxyOps?\(|non-zero status|is not installed|Invalid diff|not available: Invalid Argument"
    r"|transfer timeout|Connect timeout to|not available$|no transport available|No route to host|Connection refused"
    r"|panicked at |has offset \d|Read-only file system|no socket interface|not allocate any GPUs|\bException: "
    r"|OOMKilled|OOM killer|status=2\d\d/|unrecognized option|already in use|nv files on this host|probe failed"
    r"|failed (?:liveness|startup) probe|initializing for too long|nodes are available|Exited with exit code 127"
    r"|returned error code: 4|low on resource|Back-off pulling|is invalid: |unknown f(?:ield|lag)|yaml: line \d"
    r"|invalid reference format|[Aa]dditional propert|is unhealthy|is required$|forbidden: |devices unavailable"
)
"""Words that say so in a line of a log alone, and in a sentence anything."""
_DEEPEST: Final = 7
_RAISED: Final = re.compile(r"\W{0,4}(?:\w+\.){0,8}(?:\w+(?:Error|Exception)|Exception(?=: )|OutOfResources)\b")
_CLASS: Final = re.compile(
    r"(?:\w{1,60}\.){0,8}\w{0,60}(?:Error|Exception)[:(] ?[\"']?$|\b(?:Value|Assertion) error, $"
    r"|(?<![\w./-])(?:[a-z]\w{0,60}\.){1,8}$"
)
"""The class of an exception, behind which its text begins; the second as Pydantic writes it, the third its module."""
_PASTED_BEHIND_HASH: Final = re.compile(
    r"[ \t]{0,8}(?:#|//)[ \t]{0,4}(?:\w{1,60}\.){0,8}\w{0,60}(?:Error|Exception)\([\"']\Z"
)
"""`# ValueError("`, as Python prints an exception: what a script's author pasted, and no word about an error."""
_GOES_ON: Final = re.compile(r"[ \t]*#[ \t].*[^\s.:!?。：！？][ \t]*$")
"""A line of a comment, which looks like a heading, that ends within a sentence."""
_CONTINUES: Final = re.compile(r"[ \t]*#[ \t]+(?:[a-z]+[ ,]|[a-z_]+\(\))")
"""A line of a comment that begins within a sentence, which explains a setting: no log has it."""
_SAYS: Final = re.compile(
    r"(?:error|exception"
    r"|\b(?:fail|crash|die|end)\w*(?:[ ](?:at|during|in|on|while)[ ](?:the[ ])?(?:start|load|launch|boot)\w*)?|fail\w*"
    r"|raises?|reports?|throws?|got|gets?|getting|hits?|saw|shows?|showed|printed|with|says?|报错|错误|失败"
    r"|\b(?:after|within)[ ][\d.,]{1,8}[ ]?(?:h|m|s|hours?|min\w*|sec\w*)"
    r"|\b(?:my|our|here(?:'s|[ ]is|[ ]are)(?:[ ](?:my|our|the))?)[ ](?:full[ ])?(?:error[ ])?"
    r"(?:message|logs?|output|trace(?:back)?))"
    r"(?:[ ](?:this|the[ ]following|an?))?\W{0,8}(?:is|was|are)?\W{0,8}$",
    re.IGNORECASE,
)
_OF_CAPTURE: Final = re.compile(r"(?:(?:\w{1,60}\.){0,8}Exception: )?Capture (?:[\w-]{1,20} ){0,3}graph failed: ")
"""By which SGLang begins the error that the capture of graphs ended with."""
_EXCEPTION_BEFORE: Final = re.compile(r"(?<![\w.])(?:\w{1,60}\.){0,8}\w{1,60}(?:Error|Exception): (?=\S)")
"""The class of an exception, some words into whose text a cause is known."""
_PLACE: Final = re.compile(r"(?:\[\w+\][ ])?(?:[\w.-]*/[\w./-]*(?::\d+)?:?[ ])?(?:[a-z]\w*_\w*:[ ])?")
"""`[AITER] /app/asm_mla.cu:193 get_heuristic_kernel_mla: `, the place in the source that complains."""
_PRINTED_BY: Final = re.compile(
    r"(?:docker|podman|nerdctl): |(?:dmesg: )?(?:\[[ \d.]{3,20}\] )?NVRM: .{0,200}|\[(?:ERROR|FATAL)\] \w{1,60}: ", re.S
)
_CHECKED: Final = re.compile(
    r"Failed: (?:C[Uu][Dd][Aa]|HIP|NCCL|Assertion) error (?:[\w./-]{0,200}/)?(?:[\w.-]{1,80}:\d{1,6} '?)?"
    r"|Assertion failed: [\w./-]{1,200}:\d{1,6}, condition: "
)
"""`Failed: Cuda error /workspace/csrc/`, as compiled code prints what a check of it found."""
_OF_PROCESS: Final = re.compile(
    r"\W{0,4}(?:(?:[\w./-]{1,80}:\d{1,6} )?\(\w{1,40} pid=\d{1,8}\)"
    r"|(?:\[PID: \d{1,8}\] )?\[?\d{4}-\d\d-\d\d[ T-]\d\d:\d\d:\d\d)"
)
"""`start.py:1395 (EngineCore pid=1713) ` or `[2026-03-25 05:44:29,435 W 39 39] `: a process that speaks."""
_CONSTANT: Final = re.compile(r"([\"'])[A-Z][A-Z0-9_]{3,80}\1[ ]?[,:)\]}]")
"""`"CUDA_ERROR_OUT_OF_MEMORY",` among others."""
_CATCHES: Final = re.compile(r"[ \t]{0,80}(?:except\b[^:]*:|raise[ \t]\w)")
"""A line of a program that stands where a log might."""
_OF_TABLE: Final = re.compile(r"[ \t]*[rbf]?([\"'])[^\"'\n]{1,200}\1[ ]?,[ \t]*")
"""A line that is one text of a program's list: what it looks for in a log."""
_TITLE: Final = re.compile(
    r"[# \t]{0,6}(?:\[(?:bug|usage|issue|installation|question)\]:?[ ]{0,2}){1,3}", re.IGNORECASE
)
"""How the title of a report begins."""

_TITLE_OF_BUG: Final = re.compile(r"[# \t]{0,6}\[bug\]", re.IGNORECASE)
"""It says that the error which it names came."""
_LONGEST_TITLE: Final = 200
_TITLE_OF_FAILURE: Final = re.compile(
    r"[# \t]{0,6}(?:\[[^\]]{1,40}\][ :：]{0,3}){0,3}(?:[\w./-]{1,40}[ ]){1,4}"
    r"(?:crash(?:es|ed)|fail(?:s|ed)|hangs|hung|dies|died|OOMs|runs out of memory)\b"
    r"(?![^#\n]{0,300}\b(?:may|might|can|could|often|sometimes|common\w*|how to|faq|you)\b)"
    r"[^#\n]{0,300}\b(?:if|when)\b",
    re.IGNORECASE,
)
"""`trtllm-serve crashes for Qwen3, if enable_block_reuse is false`, as the first line of a report."""


def error_lines(lines: Sequence[str], logged: Set[int], *, solved: bool = False) -> tuple[ErrorLine, ...]:
    """Those that are not in a part that speaks of errors in general; of parts that say what mended them only where the
    `solved` ones are asked for, and then no others."""
    found: list[ErrorLine] = []
    heading_general = intro_general = fenced = False
    chapter = intro = 0
    """The level of a heading whose parts are general too; 0: none is."""
    mended, pasted = mended_lines(lines), fenced_logs(lines, logged)
    printed, listed = logged | printed_lines(lines, logged), listed_messages(lines)
    telling = telling_lines(lines, printed, mended)
    first = next((number for number, line in enumerate(lines) if line.strip()), -1)
    for number, line in enumerate(lines):
        text = line[:_LONGEST]
        if number not in logged and FENCE.match(text):
            fenced = not fenced
        elif number == first and _TITLE_OF_FAILURE.match(text):
            continue  # what it says of the conditions is what its author found
        elif number not in logged and not fenced and (heading := HEADING.match(text)):
            level = len(heading[1] or "") or _DEEPEST
            title = heading[2] or heading[3] or ""
            chapter = chapter if chapter and level > chapter else level if CHAPTER.search(title) else 0
            goes_on = heading_general and number > 0 and _GOES_ON.match(lines[number - 1][:_LONGEST]) is not None
            heading_general, intro_general = bool(chapter) or goes_on or is_general(title), False
        elif number not in logged and not fenced and text.strip() and not _RAISED.match(text):
            intro_general, intro = is_general(text) and not is_answer(text), number
        elif not fenced and number > intro + _MOST_INTRODUCED:
            intro_general = False
        if heading_general or intro_general or number in listed or (number in mended) is not solved:
            continue
        if number not in logged and number and _CONTINUES.match(text) and _GOES_ON.match(lines[number - 1][:_LONGEST]):
            continue
        told = number in telling
        if not (told or _ERRS.search(text) or ((number in printed or number in pasted) and _LOGGED_ERRS.search(text))):
            continue
        column = behind_front(text) if number in printed or fenced else behind_marker(lines, number)
        found.append(ErrorLine(number + 1, column or behind_front(text), number in printed, number in pasted, told))
        if len(found) >= MOST_LINES:
            break
    return tuple(found)


def failures_in(errors: Sequence[ErrorLine], written: Group, script: Script) -> Iterator[Remark]:
    """What they say, each cause once; where no cause is known, the first exception of the log."""
    engine = writer_of(written)
    if engine is None or not errors:
        return
    causes = ENGINES[engine].log.all_causes
    yield from _of_others([error for error in errors if error.by], causes, engine, script)
    errors = causes_first(each_once([error for error in errors if not error.by], script), causes, script)
    seen: set[str] = set()
    for error in errors:
        script.budget.work(len(causes), "its error lines")
        remark = _remark(error, causes, engine, script)
        if remark is not None and (fault := fault_of(remark)) not in seen and len(seen) < _MOST:
            seen.add(fault)
            yield _with_figure(_of_program(remark, written.commands[0]), written.commands[0])
    if not seen and (last := _weakest(errors, causes, engine, script)) is not None:
        yield last


def fault_of(remark: Remark) -> str:
    """By which a cause is told once: of memory that ran out a log has several lines, each with other figures."""
    said = remark.finding.message.removeprefix(STOPPED)
    return OUT_OF_MEMORY if _FULL.match(said) else said


def _of_others(
    errors: Sequence[ErrorLine], causes: Sequence[CauseLine], engine: str, script: Script
) -> Iterator[Remark]:
    """What stopped the engine of another person of the thread: a note, since this command did not have it."""
    for error in errors:
        script.budget.work(len(causes), "its error lines")
        remark = _remark(error, causes, engine, script)
        if remark is not None:
            finding = remark.finding
            message = f"{OF_ANOTHER} ({error.by}): {finding.message.removeprefix(STOPPED)}"
            note = replace(finding, severity=Severity.NOTE, code=Code.KNOWN_REPORT, message=message)
            yield replace(remark, finding=note)
            return


def _of_program(remark: Remark, command: Command) -> Remark:
    """Without the options of an engine that its former programs do not have, and with the one that helps most."""
    if command.program in OLD_PROGRAMS and OF_SHARES in remark.finding.remedy:
        return replace(remark, finding=replace(remark.finding, remedy=LESS_ON_DEVICES))
    if OF_SHARES in remark.finding.remedy and "out of memory" in remark.finding.message:
        on_devices = value_of(command.argv, (ON_DEVICES,))
        if on_devices is not None and on_devices.text not in ("0", "1"):
            remedy = f"{FEWER_ON_DEVICES}{remark.finding.remedy}"
            return replace(remark, finding=replace(remark.finding, remedy=remedy))
    return remark


def _with_figure(remark: Remark, command: Command) -> Remark:
    """With the figure that the engine itself gives as what mends the command."""
    match = _AT_MOST.search(remark.finding.remedy)
    if match is None:
        return remark
    flag, figure = match.groups()
    edit = Edit(len(command.argv), 0, (flag, figure))
    for at, word in enumerate(command.argv):
        if word.text.partition("=")[0] == flag:
            edit = Edit(at, 1, (f"{flag}={figure}",)) if "=" in word.text else Edit(at, 2, (flag, figure))
    return replace(remark, command=0, edits=(edit,))


def causes_in(errors: Sequence[ErrorLine], engine: str, script: Script) -> Iterator[Remark]:
    """What the lines of an engine's log say, of a text that starts nothing."""
    causes = ENGINES[engine].log.all_causes
    for error in errors:
        script.budget.work(len(causes), "its error lines")
        if (remark := _remark(error, causes, engine, script)) is not None:
            yield remark


def _weakest(errors: Sequence[ErrorLine], causes: Sequence[CauseLine], engine: str, script: Script) -> Remark | None:
    """What follows from a cause as well, where no line names one; else an exception of which none is known."""
    weak = [cause for cause in causes if cause.weak and not cause.symptom]
    for error in errors:
        script.budget.work(len(weak), "its error lines")
        reported = error.logged or error.pasted
        if reported and (remark := _remark(error, weak, engine, script, weakly=True)) is not None:
            return remark
    return itself_told(errors, engine, script) or _first_exception(errors, engine, script) or _end_alone(errors, script)


def itself_told(errors: Sequence[ErrorLine], engine: str, script: Script) -> Remark | None:
    """Of an error that no row knows what it says itself."""
    from moonpad.explain.documents.unknown_errors import told_by_itself  # what most texts need nothing of

    if (told := told_by_itself(errors, engine, script, _is_report)) is None:
        return None
    failure, number = told
    message = f"{STOPPED}{shortened(failure.message, 400)}"
    remedy = in_flags(failure.remedy, engine)
    finding = Finding(Severity.WARNING, Code.LOGGED_FAILURE, script.where(number), message, remedy)
    return Remark(finding, None, by_itself=True)


def _remark(
    error: ErrorLine, causes: Sequence[CauseLine], engine: str, script: Script, *, weakly: bool = False
) -> Remark | None:
    text = script.lines[error.number - 1][error.column : _LONGEST].rstrip()
    length, mild = len(text), is_mild(script.lines[error.number - 1][:_LONGEST])
    if _RAISED.match(text):
        bare, text = _CLASS.fullmatch(text), _unwrapped(text, error.number, script)
        length = len(text) if bare else length  # what it says begins in the next line
    for cause in causes:
        match = None if cause.weak and not cause.symptom and not weakly else cause.pattern.search(text)
        if match is None or (mild and not (cause.mild or cause.only_with)):
            continue  # what its writer calls a warning ended nothing
        if cause.only_with is not None and not _is_anywhere(cause.only_with, script):
            continue
        reported = error.logged or error.pasted or error.told
        if match.start() >= length or not (reported or _is_report(text[: match.start()])):
            continue
        if not error.logged and (_CONSTANT.match(text, match.start() - 1) or _OF_TABLE.fullmatch(text)):
            continue  # a table of a program
        if not error.logged and _is_of_another(error.number, engine, script):
            continue
        failure = failure_at(cause, match)
        message = f"{ANSWERED if cause.answer else STOPPED}{shortened(failure.message, 400)}"
        remedy = of_known_type(match) or in_flags(failure.remedy, engine)
        if cause.key in KEYS and is_of_loading(error.number, script.lines):
            message = message.replace("out of memory", LOADING, 1)
            remedy = remedy_for(ENGINES[engine].command_line.options)
        finding = Finding(Severity.WARNING, Code.LOGGED_FAILURE, script.where(error.number), message, remedy)
        return Remark(finding, None)
    return None


def _is_anywhere(pattern: re.Pattern[str], script: Script) -> bool:
    script.budget.work(len(script.lines) // 4, "its error lines")
    return any(pattern.search(line[:_LONGEST]) for line in script.lines)


def _is_of_another(number: int, engine: str, script: Script) -> bool:
    """Whether a sentence tells an error of a release, and the text names others too: one of those may run."""
    script.budget.once("releases of errors", script.steps_to_scan, "its error lines")
    names = "|".join(ENGINES[engine].command_line.names)
    near = "\n".join(line[:_LONGEST] for line in script.lines[max(0, number - 2) : number])
    beside = {match[1] for match in re.finditer(rf"(?:{names})[ -]v?(\d+\.\d+(?:\.\d+)?)", near, re.IGNORECASE)}
    named = (each.version for each in version_mentions(tuple(script.lines)) if each.engine == engine)
    return bool(beside) and any(version not in beside for version in named)


def _unwrapped(text: str, number: int, script: Script) -> str:
    """A message with its lines below, as people break it: until a line that begins something else."""
    for line in script.lines[number : number + _MOST_BROKEN]:
        below = line[:_LONGEST].strip()
        if not below or behind_front(line) or line[:1] in "#>-*|`~" or _RAISED.match(below) or len(text) > _LONGEST:
            break
        text += f" {below}"
    return text


def _first_exception(errors: Sequence[ErrorLine], engine: str, script: Script) -> Remark | None:
    """The exception that none of the known failures is. Generic ones only say that there was another."""
    from moonpad.explain.documents.unknown_errors import asserted, happened, in_sentence, thrown

    generic = ENGINES[engine].log.generic
    for error in errors:
        if _CATCHES.match(script.lines[error.number - 1]):
            continue
        text = script.lines[error.number - 1][error.column : _LONGEST].rstrip()
        what_ended = ""
        if error.logged:
            text = continued(text, error.number, script.lines)
            what_ended = thrown(text)
        elif script.markdown and not _OF_TABLE.fullmatch(text) and (match := in_sentence(text, _is_report)):
            what_ended = match["error"].rstrip(" .,;")
        if what_ended and "WARNING" not in text and not any(part in what_ended for part in generic):
            said = what_ended if ":" in what_ended else asserted(error.number, script.lines) or what_ended
            event = happened(text)
            what, remedy = (f": {event.message}", in_flags(event.remedy, engine)) if event else (NO_CAUSE, "")
            return _unknown(error.number, f"the log says {shortened(said, 160)}{what}", remedy, script)
    return None


def _end_alone(errors: Sequence[ErrorLine], script: Script) -> Remark | None:
    """What was printed when the start ended, or what its author says of that, without the words of an exception."""
    from moonpad.explain.documents.unknown_errors import happened

    for error in errors:
        text = script.lines[error.number - 1][error.column : _LONGEST].strip()
        begun = error.logged and begins_an_error(text) and not _CATCHES.match(script.lines[error.number - 1])
        if not begun and not error.told:
            continue
        if not begun and OF_MEMORY.search(text):
            where = script.where(error.number)
            finding = Finding(Severity.WARNING, Code.LOGGED_FAILURE, where, f"{STOPPED}out of memory, by the text")
            return Remark(finding, None, by_itself=True)
        event = happened(text)
        what = f": {event.message}" if event else NO_CAUSE
        sentence = text.strip(" \t#>*_-:：.。")
        said = f"the log says {shortened(text, 160)}" if begun else f"{TOLD}{shortened(sentence, 160)}"
        return _unknown(error.number, f"{said}{what}", event.remedy if event else "", script)
    return None


def _unknown(number: int, message: str, remedy: str, script: Script) -> Remark:
    finding = Finding(Severity.NOTE, Code.LOGGED_FAILURE, script.where(number), message, remedy)
    return Remark(finding, None, by_itself=True)


def _is_report(lead: str) -> bool:
    """Whether what stands before an error on its line is nothing, or says that it came."""
    if (title := _TITLE_OF_BUG.match(lead)) is not None and len(lead) < _LONGEST_TITLE:
        return not is_general(lead[title.end() :])
    if _PASTED_BEHIND_HASH.fullmatch(lead):
        return True
    if (words := words_before(lead)) is not None:
        return not words or (words.endswith(":") and not is_general(words)) or _is_report(words)
    if (raised := _EXCEPTION_BEFORE.search(lead)) is not None and _is_report(lead[: raised.start()]):
        return True
    lead = _CLASS.sub("", _OF_CAPTURE.sub("", lead))
    plain = lead.strip(" \t`'\"*>:：，,\\")
    known = any(each.fullmatch(lead) for each in (_PLACE, _TITLE, _CHECKED, _PRINTED_BY)) or _OF_PROCESS.match(lead)
    if not plain or known or LABEL.fullmatch(lead.rstrip(" \t`'\"")):
        return True
    return len(plain) < 200 and bool(_SAYS.search(lead)) and not is_general(plain)
