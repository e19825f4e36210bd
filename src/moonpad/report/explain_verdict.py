"""The first line of a judgement, and the line that is true of nearly every command."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from moonpad.engines import ENGINES
from moonpad.engines.option_grammar import SHORT_SIZES
from moonpad.explain.checks.models.other_families import IF_PUBLISHED
from moonpad.explain.documents.answers import ANSWERED
from moonpad.explain.documents.told_ends import TOLD
from moonpad.explain.results import NONE_GIVEN, Judged, Remark
from moonpad.explain.target_detection import BY_NEWEST
from moonpad.explain.told_failures import BY_AUTHOR, PERHAPS
from moonpad.explain.unknowns import CONTEXT
from moonpad.plan.judgement import OF_HOST
from moonpad.report.refused_by_newest import is_of_others, refused_by_newest
from moonpad.values.finding import OF_MEMORY, Code, Finding, Severity
from moonpad.values.memory import Memory
from moonpad.values.units import GIB

_STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold green"}
_LONGEST: Final = 170
_LONGEST_CAUSE: Final = 170
_LONGEST_SIZE: Final = 220
_COMPARED: Final = 80
"""Of two causes, which may be cut at different lengths."""
_SOURCE: Final = re.compile(r" \([\w.-]{1,60}/[\w.-]{1,60}#\d{1,6}\)$")
_OF_OLDER: Final = "Perhaps a fault of an older release, see below."
_UNKNOWN: Final = " with an error whose cause is not known."
_ONE_OF: Final = "One of the commands around"
_THE_COMMAND: Final = "The command: "
_THE_ENGINE_STOPPED: Final = "the engine stopped: "

_ENDS_WITHOUT: Final = "ends at its start without it"
_NO_PROGRAM: Final = "has no module of that name to start"
_NEVER_SERVES: Final = (
    "Kubernetes refuses",
    "the pod never becomes ready",
    "and nothing here writes ",
)
_WEIGHTS: Final = "weights"
_WEIGHTS_ALONE: Final = "the weights alone are "
_OF_MEMORY: Final = ("out of memory", "the KV cache holds", "GiB")
_OF_EXPERTS: Final = " of host memory"
"""Experts that the processors compute, beside what the text says of RAM."""
_OF_RELEASES: Final = ("reported for ", "in releases ")
"""Beginnings of a finding that names its releases in front of the fault."""
_OF_ALL: Final = ("engine", "weights", "model")
"""Places of a finding that is about no option."""
_ENDS_SOMEWHERE: Final = frozenset({Code.ILLEGAL_LAYOUT, Code.UNSUPPORTED_FORMAT})


def verdict(judged: Judged, *, answered: bool = False) -> tuple[str, str]:
    """The sentence and its style. `answered`: the text tells of answers, by whatever release it is."""
    refused = None if answered or not is_of_others(judged) else refused_by_newest(judged)
    said, style = _verdict(judged, answered=answered or refused is not None)
    if refused is None or style == _STYLES[Severity.ERROR] or _short(refused) in said:
        return said, style
    return f"{said.rstrip('.')}. May not start, by what the newest release refuses: {_short(refused)}", style


def _verdict(judged: Judged, *, answered: bool) -> tuple[str, str]:
    errors = [finding for finding in judged.findings if finding.severity is Severity.ERROR]
    wrong = [finding for finding in errors if finding.code not in OF_MEMORY]
    wrong.sort(key=lambda finding: _NO_PROGRAM not in finding.message)  # whose options nothing reads
    memory = judged.memory
    starts = not any(finding.code is Code.DOES_NOT_FIT for finding in errors)
    if memory is not None and not memory.fits and starts and not wrong:
        tokens = f"{max(0.0, memory.kv_tokens.value):,.0f} tokens of KV cache"
        doubts = [finding.message for finding in judged.findings if finding.code is Code.DOES_NOT_FIT]
        doubts.sort(key=lambda doubt: _WEIGHTS_ALONE not in doubt)
        if any("the engine starts" in doubt for doubt in doubts):
            return f"Starts with less context than asked: {tokens}, not {memory.context:,}", _STYLES[Severity.WARNING]
        why = f"; {doubts[0].rpartition('; ')[2]}" if doubts else ""
        return f"May not fit: {tokens}, not {memory.context:,}{why}", _STYLES[Severity.WARNING]
    if memory is not None and not memory.fits and not starts:
        more = f"; {len(wrong)} more error{'s' if len(wrong) > 1 else ''}" if wrong else ""
        return f"{_stopped_otherwise(judged)}{_does_not_fit(judged, memory)}{more}", _STYLES[Severity.ERROR]
    large = (finding for finding in errors if finding.code is Code.DOES_NOT_FIT and _WEIGHTS in finding.message)
    unfit = next(large, None)
    if memory is None and unfit is not None and wrong and _NO_PROGRAM not in wrong[0].message:
        remedy = f"; {unfit.remedy}" if unfit.remedy else ""  # no value mends that
        more = f"; {len(wrong)} more error{'s' if len(wrong) > 1 else ''}"
        return f"Does not fit: {unfit.message}{remedy}{more}", _STYLES[Severity.ERROR]
    if wrong:
        more = f", the first of {len(errors)} errors" if len(errors) > 1 else ""
        return f"Error{more}: {_short(wrong[0])}", _STYLES[Severity.ERROR]
    if errors and memory is None:
        remedy = f"; {errors[0].remedy}" if errors[0].remedy else ""
        return f"Does not fit: {errors[0].message}{remedy}", _STYLES[Severity.ERROR]
    if judged.kind == "report":
        reports = (finding.message for finding in judged.findings if finding.severity is not Severity.NOTE)
        whole = next(reports, "what the text reports is judged alone")
        said = whole.partition(": ")
        cause = _cut(said[2] if said[2] and said[0].startswith(_OF_RELEASES) else whole, _LONGEST)
        return f"No command: {cause}", _STYLES[Severity.WARNING]
    if judged.kind == "rollout":
        return f"No server: {judged.unjudged}{_counted(judged)}", _STYLES[Severity.NOTE]
    stopped = _stopped(judged)
    if judged.unknown - {CONTEXT}:
        doubted = "" if stopped else _doubted(judged) or _failed(judged)
        return f"{stopped}{doubted}Not judged: {judged.unjudged}", _STYLES[Severity.WARNING]
    # What the text complains of has started: it is of another release than the newest, by which it is judged.
    complains = any(each.complained and not (each.ends_start or each.stops) for each in judged.remarks)
    if (
        not (stopped or complains)
        and (ending := next((each.finding for each in judged.remarks if each.ends_start), None)) is not None
    ):
        if ending.code is Code.DOES_NOT_FIT:
            # The command as it stands, of which nothing is left open, puts all weights on one device.
            may = "Does not" if ending.message.startswith(NONE_GIVEN) else "May not"
            return f"{may} fit: {_short(ending)}", _STYLES[Severity.WARNING]
        does = "Known to fail" if ending.code is Code.KNOWN_REPORT else "Does not start"
        return f"{does} with {judged.engine} {judged.version}: {_short(ending)}", _STYLES[Severity.WARNING]
    if (
        not (answered or stopped or complains or _reported(judged))
        and (refused := refused_by_newest(judged)) is not None
    ):
        return f"Does not start with {judged.engine} {judged.version}: {_short(refused)}", _STYLES[Severity.WARNING]
    stopped = stopped or _reported(judged) or _doubted(judged).replace("The rest: ", "The command: ")
    if memory is not None and memory.fits and (lacking := _lacks_ram(judged, memory)):
        return f"{stopped}{lacking}{_counted(judged)}", _STYLES[Severity.WARNING]
    if memory is not None:
        doubtful = memory.tight or bool(stopped)
        return f"{stopped}{_fits(judged, memory)}{_counted(judged)}", _STYLES[
            Severity.WARNING if doubtful else Severity.NOTE
        ]
    if judged.layout is not None and (short := _too_large(judged)):
        is_same = short.partition(": ")[2][:_COMPARED] in stopped
        return f"{'' if is_same else stopped}{short}{_counted(judged)}", _STYLES[Severity.WARNING]
    if judged.layout is not None:
        told = judged.unjudged[:_LONGEST_CAUSE] in stopped
        unjudged = f", memory not judged{'' if told else f': {judged.unjudged}'}" if judged.unjudged else ""
        return f"{stopped}No error{unjudged}{_counted(judged)}", _STYLES[Severity.WARNING]
    return f"{stopped}No error{_counted(judged)}", _STYLES[Severity.WARNING if stopped else Severity.NOTE]


def _stopped(judged: Judged) -> str:
    """Why the engine stopped, where the text has a line that says so, as a sentence in front of what the command is."""
    for remark in sorted(judged.remarks, key=lambda each: each.finding.message.startswith(ANSWERED)):
        finding = remark.finding
        if finding.code is Code.LOGGED_FAILURE and finding.severity is Severity.WARNING:
            refused = finding.message.startswith(ANSWERED)
            cause = _cut(finding.message.removeprefix(ANSWERED if refused else _THE_ENGINE_STOPPED), _LONGEST_CAUSE)
            stopped = f"{_ONE_OF} stopped" if remark.either else "A request failed" if refused else "Stopped"
            end = "..." if cause.endswith("...") else "."
            return f"{stopped} ({finding.where}): {cause.rstrip('.')}{end} The command: "
    return ""


def _stopped_otherwise(judged: Judged) -> str:
    """The same, where it is not the memory that the command lacks as well."""
    stopped = _stopped(judged)
    return "" if any(word in stopped for word in _OF_MEMORY) else stopped


def _failed(judged: Judged) -> str:
    """That the text has an error whose cause is not known, as a sentence in front of what the command is."""
    for remark in judged.remarks:
        finding, failed = remark.finding, f"{_ONE_OF} failed" if remark.either else "Failed"
        if finding.code is Code.LOGGED_FAILURE and finding.severity is Severity.NOTE:
            _, perhaps, cause = finding.message.partition(PERHAPS)
            if perhaps:
                why = _sentence(_cut(cause, _LONGEST_CAUSE))
                return f"{failed} ({finding.where}), perhaps by this: {why} {_THE_COMMAND}"
            if mend := finding.message.partition(BY_AUTHOR)[2]:
                said = _sentence(_cut(mend, _LONGEST_CAUSE))
                return f"{failed} ({finding.where}); the text itself says what mends it: {said} {_THE_COMMAND}"
            told = finding.message.startswith(TOLD)
            unknown = (
                ", by the text, with no error that is known." if told else " with an error whose cause is not known."
            )
            return f"{failed} ({finding.where}){suspected(judged) or unknown} The command: "
    return ""


def _doubted(judged: Judged) -> str:
    """What holds whatever the piece that is not known may be: a model that nobody has, weights that no device holds."""
    for remark in judged.remarks:
        finding = remark.finding
        if finding.severity is Severity.WARNING and not remark.mends and (remark.stops or _never_serves(finding)):
            title = "May not fit" if finding.code is Code.DOES_NOT_FIT else "Will likely fail"
            cause = _short(finding)
            return f"{title}: {cause}{'' if cause.endswith('...') else '.'} The rest: "
    return ""


def _too_large(judged: Judged) -> str:
    """That it hardly fits, where the memory as a whole is not judged and a warning has the numbers of a part."""
    for finding in judged.findings:
        if finding.code is Code.DOES_NOT_FIT and finding.severity is Severity.WARNING:
            return f"May not fit: {_cut(f'{finding.where}: {finding.message}', _LONGEST_SIZE)}"
    return ""


def _never_serves(finding: Finding) -> bool:
    """Whether the hub has no such model, Kubernetes does not take the object or never finds the pod ready, or nothing
    writes the file that is read."""
    if finding.code is Code.MODEL_NAME:
        return "has no repository" in finding.message or "404" in finding.message
    return any(words in finding.message for words in _NEVER_SERVES)


def _reported(judged: Judged) -> str:
    """What is known to end its start or to spoil its answers, what the text's errors tell of, or the error itself where
    its cause is not known: a sentence in front of what the command is."""
    of_text = next((each.finding for each in judged.remarks if each.complained or each.stops), None)
    if of_text is not None:
        lacks = of_text.code is Code.MISSING_FLAG
        said = of_text.message.partition(": ")
        if not lacks and not (of_text.code is Code.KNOWN_REPORT or said[0].startswith(_OF_RELEASES)):
            named = _cut(of_text.message, _LONGEST) if of_text.where in _OF_ALL else _short(of_text)
            return f"Will likely fail: {_sentence(named)} The command: "
        title = f"{of_text.where} is missing" if lacks else f"Known fault ({of_text.where})"
        told = said[2] if not lacks or said[2].endswith(_ENDS_WITHOUT) else said[0]
        cause = _sentence(_cut(told or of_text.message, _LONGEST_CAUSE))
        failed = "" if lacks or any(each.complained for each in judged.remarks) else _failed(judged)
        return f"{failed.removesuffix(_THE_COMMAND)}{title}: {cause} The command: "
    failed = _failed(judged)
    if failed and (suspected(judged) or not any(each.message.startswith(TOLD) for each in judged.findings)):
        return failed
    return _of_older(judged) or failed


def _of_older(judged: Judged) -> str:
    """Faults of older releases that the text may be about."""
    older = [remark.finding for remark in judged.remarks if remark.as_told]
    if not older or not judged.version_because.endswith(BY_NEWEST):
        return ""
    size = next((each for each in older if each.code in _ENDS_SOMEWHERE), None)
    named = "" if size is None else _sentence(_cut(f"{size.where}: {size.message}", _LONGEST_SIZE))
    if not named and len({each.message for each in older}) == 1:
        said = older[0].message.partition(": ")
        cause = said[2] if said[0].startswith(_OF_RELEASES) else older[0].message
        named = _sentence(_cut(cause, _LONGEST_SIZE))
        return f"{_OF_OLDER.partition(',')[0]}: {named} {_THE_COMMAND}"
    return f"Perhaps by {named} {_THE_COMMAND}" if named else f"{_OF_OLDER} {_THE_COMMAND}"


def suspected(judged: Judged) -> str:
    """` (perhaps …)`: a layout or a format that some release or device does not take, where an error is shown that does
    not say its cause; "" where there is none."""
    for finding in judged.findings:
        if finding.severity is Severity.WARNING and finding.code in _ENDS_SOMEWHERE:
            return f", perhaps by {_sentence(_short(finding))}"
    return ""


def _sentence(cause: str) -> str:
    return f"{cause.rstrip('.')}{'...' if cause.endswith('...') else '.'}"


def whole_names(argv: Iterable[str]) -> Iterator[str]:
    """`--tp-size 8` of `--tp=8`, which the closing line tells."""
    for word in argv:
        name, equals, value = word.partition("=")
        if name not in SHORT_SIZES:
            yield word
            continue
        yield f"{name}-size"
        yield from [value] if equals else ()


def usual(remark: Remark) -> str:
    """What is to be done about a finding that nearly every command has; "" where it is another one."""
    finding = remark.finding
    short = finding.code is Code.PREFIX_FLAG and finding.severity is Severity.NOTE and finding.where in SHORT_SIZES
    if short and f"{finding.where}-size" in finding.message:
        return f"{finding.where} is short for {finding.where}-size"
    if finding.code is Code.MISSING_FLAG and finding.severity is Severity.NOTE and "trust" in finding.where:
        without = re.sub(r"\b(with(?:out)?) it\b", rf"\1 {finding.where}", finding.message, count=1)
        return f"the tokenizer is Python code, {without.partition(', ')[2]}"
    if finding.code is not Code.INSECURE or finding.severity is Severity.ERROR:
        return ""
    if "trust" in finding.where:
        return f"{finding.where} runs the repository's code (pin --revision)"
    return "the port is open without a key (--host 127.0.0.1 or a key)" if finding.where == "--host" else ""


def is_mended_later(remark: Remark) -> bool:
    """Whether it is told with what later releases mended, by its number alone where no release is named."""
    return remark.finding.code is Code.MENDED_LATER or remark.of_former


def memory_words(memory: Memory) -> str:
    """`weights 70.96, everything else 4.58 (2.12 to 6.98), KV cache 57.33 of 132.87 GiB`."""
    over = memory.overhead
    spread = f" ({over.low / GIB:.2f} to {over.high / GIB:.2f})" if over.low != over.high else ""
    return (
        f"GiB on one device: weights {memory.weights_bytes / GIB:.2f}, everything else {over.value / GIB:.2f}{spread}, "
        f"KV cache {memory.cache_bytes / GIB:.2f}; the engine may use {memory.budget_bytes / GIB:.2f} of "
        f"{memory.device_bytes / GIB:.2f}"
    )


def _does_not_fit(judged: Judged, memory: Memory) -> str:
    finding = next((finding for finding in judged.findings if finding.code is Code.DOES_NOT_FIT), None)
    kv_bytes = memory.kv_bytes.value if memory.told else _context_bytes(memory)
    needed = memory.weights_bytes + memory.overhead.value + kv_bytes
    sizes = f"{needed / GIB:.1f} of {memory.budget_bytes / GIB:.1f} GiB on each device"
    if memory.told and needed <= memory.budget_bytes:
        sizes = f"{memory.context:,} tokens of context, and the KV cache is told to hold {memory.kv_tokens.value:,.0f}"
    elif not memory.told and memory.weights_bytes + memory.overhead.value <= memory.budget_bytes:
        sizes += f" with {memory.context:,} tokens of context"
    if not memory.host_fits:
        sizes = "the machine's memory is too small"
    remedy = f"; {finding.remedy.partition(':')[0]}" if finding is not None and finding.remedy else ""
    return f"Does not fit: {sizes}{remedy}"


def _context_bytes(memory: Memory) -> float:
    """What one sequence of the context takes of the KV cache of a device; 0 where nothing is left for any."""
    tokens = memory.kv_tokens.value
    return memory.cache_bytes * memory.context / tokens if tokens >= 1 else 0.0


def _fits(judged: Judged, memory: Memory) -> str:
    tokens, at_once = memory.kv_tokens.value, memory.concurrency_at_context.value
    cache = f"{tokens:,.0f} tokens of KV cache"
    each = f" in each of {memory.replicas} replicas" if memory.replicas > 1 else ""
    if CONTEXT in judged.unknown:
        most = f"{memory.max_context.value:,.0f}"
        return f"{_how_well(judged, tight=False)}: {cache}{each}; the context is not known, up to {most} fit"
    if tokens < 1:
        return f"{_how_well(judged, tight=True)}: perhaps nothing is left for the KV cache{each}"
    sequences = f"{at_once:,.1f} sequences of {memory.context:,}{' in all' if memory.replicas > 1 else ''}"
    limit = _most_at_once(judged, memory)
    if limit and limit < int(at_once):
        sequences = f"at most {limit:,} sequences at once; there is room for {sequences.replace(' sequences', '')}"
    longest = judged.checkpoint.architecture.max_context if judged.checkpoint is not None else 0
    asked = judged.settings is None or judged.settings.max_model_len is not None
    if memory.context == int(tokens) < longest and not asked:
        sequences = f"less than one sequence of the model's {longest:,}"
    return f"{_how_well(judged, tight=memory.tight)}: {cache}{each}, {sequences}"


def _most_at_once(judged: Judged, memory: Memory) -> int:
    """Sequences of all replicas together, by the limit that the command writes; 0 where it writes none."""
    most = judged.settings.max_num_seqs or 0 if judged.settings is not None else 0
    engine = ENGINES.get(judged.engine)
    return most if engine is None or engine.facts.limits_over_dp else most * memory.replicas


def _how_well(judged: Judged, *, tight: bool) -> str:
    """`Fits (sure)`; `Tight` alone where the confidence is called so too. Nothing is sure where the log says that the
    memory was not enough."""
    name = "Tight" if tight else "Fits"
    stopped = [each.message for each in judged.findings if each.code is Code.LOGGED_FAILURE]
    stopped += [each.finding.message for each in judged.remarks if each.complained]
    if any(word in message for message in stopped for word in _OF_MEMORY):
        return f"{name} by the arithmetic"
    return name if f"{judged.confidence}".casefold() == name.casefold() else f"{name} ({judged.confidence})"


def _lacks_ram(judged: Judged, memory: Memory) -> str:
    """What the text says of RAM is too little, where the devices alone would hold their part."""
    warned = [finding for finding in judged.findings if finding.severity is Severity.WARNING]
    low = any(
        (finding.where == OF_HOST and finding.code is Code.MEMORY_LOW)
        or (finding.code is Code.DOES_NOT_FIT and _OF_EXPERTS in finding.message)
        for finding in warned
    )
    if not low or memory.host is None:
        return ""
    needed = memory.host.needed_bytes / GIB
    return f"Fits on the devices, not in RAM: each machine needs {needed:,.0f} GiB, more than the text speaks of"


def _counted(judged: Judged) -> str:
    told = (remark for remark in judged.remarks if not usual(remark) and not is_mended_later(remark))
    counts = Counter(remark.finding.severity for remark in told)
    words = [
        f"{count} {severity}{'s' if count > 1 else ''}"
        for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTE)
        if (count := counts[severity])
    ]
    return f"; {', '.join(words)}" if words else ""


def _short(finding: Finding) -> str:
    message = finding.message.partition(IF_PUBLISHED)[0]
    named = "" if message.startswith(finding.where) else f"{finding.where}: "
    return _cut(f"{named}{message}", _LONGEST)


def _cut(text: str, most: int) -> str:
    """No longer than that: without the report behind it, which stands below, then up to the end of a word."""
    if len(text) <= most:
        return text
    text = _SOURCE.sub("", text)
    return text if len(text) <= most else f"{text[: most - 3].rpartition(' ')[0].rstrip(',;:(')}..."
