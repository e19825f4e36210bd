"""What a script does otherwise than its own comments say: variables before their value, arguments of its usage line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.foreign_names import STARTERS
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Script
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first, numbered, span_of
from moonpad.values.finding import Code, Severity

_USED: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+)|\{(\w+)[^}:\-+?=]*\})")
_SET: Final = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>[^\s(]\S*)")
_SOURCES: Final = re.compile(r"[ \t]*(?:source|\.)[ \t]|.*\b(?:read|getopts|eval|mapfile|declare|local|for)\b")
_CALL: Final = re.compile(r"[ \t]*#+[ \t]*(?P<set>(?:[A-Z][A-Z0-9_]*=\S+[ \t]+)+)(?:ba|z)?sh?[ \t]*\S*\.sh\b")
_NAMES: Final = re.compile(r"([A-Z][A-Z0-9_]*)=")
_USAGE: Final = re.compile(
    r"\busage\b.*?(?:\S+\.sh|\$0|\$\{0\S*)[\"']?[ \t]+\[?(?P<option>--?[a-z][\w-]*)", re.IGNORECASE
)
_FIRST: Final = re.compile(
    r"[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)=[\"']?\$\{?1(?::?-[^}]*)?\}?[\"']?[ \t]*(?:#.*)?$"
)
_READS_OPTIONS: Final = re.compile(r"\bcase\b|\bgetopts?\b|\bshift\b|=[ \t]*[\"']?--|\$@|\$\*")
_OPTION_OF: Final = re.compile(r"(?P<option>--?[A-Za-z][\w-]*)[ =]+[\"']?\$\{?(?P<name>[A-Za-z_]\w*)")
_OF_MAKE: Final = re.compile(r"[\w.-]+[ \t]*[:?]=|\.PHONY|\.EXPORT")
_SPACED: Final = re.compile(r"[ \t]*export[ \t]+(?P<name>[A-Za-z_]\w{0,80})[ \t]+=")
_FENCE: Final = re.compile(r"[ \t]*(?:```|~~~)[ \t]*(?P<language>\w*)")
_EXPORT_ALONE: Final = re.compile(r"[ \t]*export[ \t]*(?:#.*)?$")
_SWALLOWS: Final = re.compile(
    rf"\bexport((?:[ \t]+[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|[^\s\"'&;|#]*))+)[ \t]+(?P<first>{STARTERS})[ \t]+\S"
)
_JSON_DEFAULT: Final = re.compile(
    r"[ \t]*(?:export[ \t]+|local[ \t]+)?\w+=\"?\$\{(?P<name>\w+):?-\{"
    r"(?P<inner>[^{}$`]{1,500}:[^{}$`]{0,500}[^{}$`\\])\}\}"
)
_LONGEST: Final = 4000


def used_before(case: Case) -> Iterator[Remark]:
    """A variable that a script reads on one line and gives its only value on a later one."""
    script = case.script
    if script.markdown or script.objects or not is_first(case.commands, script):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    known: set[str] = set()
    reads: dict[str, int] = {}
    for number, text in lines:
        code = text.partition(" #")[0]
        if not code.strip() or code.lstrip().startswith("#"):
            continue
        if _SOURCES.match(code) or "() {" in code or "$(<" in code:
            return  # anything may be set there
        match = _SET.match(code)
        value = match["value"] if match else code
        if code[:1].strip():
            for groups in _USED.findall(value.replace("\\$", "")):
                name = next(filter(None, groups), "")
                if name and name not in known and match is not None and f"{name}:-" not in value:
                    reads.setdefault(name, number)
        if match is None:
            known |= {name for name, _ in re.findall(r"\b([A-Za-z_]\w*)(\+?=)", code)}
            continue
        name = match["name"]
        if name in reads and name not in known and name not in value:
            used, later = script.where(reads[name]), script.where(number)
            message = f"{used} uses {name} before {later} sets it: it is empty there, unless it was exported"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, "set it before it is used")
            yield Remark(remark.finding, command=None)
        known.add(name)


def call_sets_another(case: Case) -> Iterator[Remark]:
    """A call in a comment sets `DCP=2`, and the script reads DCP_SIZE alone."""
    script = case.script
    first, last = span_of(case.commands, script)
    lines = list(numbered(script, first, last))
    whole = numbered(script, 1, len(script.lines)) if any(_CALL.match(text) for _, text in lines) else ()
    code = "\n".join(text for _, text in whole if not text.lstrip().startswith("#"))
    seen: set[str] = set()
    for number, text in lines:
        match = _CALL.match(text)
        for name in _NAMES.findall(match["set"]) if match else ():
            longer = re.findall(rf"\$\{{({name}_[A-Z0-9_]+):?[-=]", code)
            if (
                name in seen
                or not longer
                or re.search(rf"\$\{{?{name}\b|^[ \t]*(?:export[ \t]+)?{name}=", code, re.MULTILINE)
            ):
                continue
            seen.add(name)
            message = (
                f"the call in {script.where(number)} sets {name}, but the script reads {longer[0]}: it has no effect"
            )
            remark = make_remark(Severity.WARNING, Code.DEAD_ENV, name, message, f"set {longer[0]} in the call")
            yield Remark(remark.finding, command=None)


def option_as_argument(case: Case) -> Iterator[Remark]:
    """`Usage: run.sh [--port PORT]` over a script that takes `$1` for the port."""
    script = case.script
    first, last = span_of(case.commands, script)
    lines = list(numbered(script, first, last))
    usage = next(((number, match) for number, text in lines if (match := _USAGE.search(text))), None)
    if usage is None or any(_READS_OPTIONS.search(text) for _, text in lines if not text.lstrip().startswith("#")):
        return
    for _, text in lines:
        if match := _FIRST.match(text):
            option, name = usage[1]["option"], match["name"]
            message = f"called as {script.where(usage[0])} shows, $1 is the word {option}, so {name} becomes {option}"
            remedy = "give the value alone, or read the option in a loop"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, shortened(name), message, remedy)
            yield Remark(remark.finding, command=None)
            return


def export_alone(case: Case) -> Iterator[Remark]:
    """`export` without a name."""
    script = case.script
    lines = list(numbered(script, *span_of(case.commands, script)))
    if any(_OF_MAKE.match(text) for _, text in lines):
        return  # there it exports all
    for number, text in lines:
        if _EXPORT_ALONE.match(text):
            message = f"{script.where(number)}: export without a name sets nothing, and prints all variables"
            remark = make_remark(
                Severity.WARNING, Code.INVALID_VALUE, "export", message, "name the variable, or leave it out"
            )
            yield Remark(remark.finding, command=None)


def spaced_sign(case: Case) -> Iterator[Remark]:
    """`export A =1`: A is exported as it is, and `=1` is no name: the shell complains and goes on."""
    script = case.script
    lines = list(numbered(script, *span_of(case.commands, script)))
    if script.markdown and is_first(case.commands, script):
        lines = list(_in_shell_fences(script))  # its blocks of settings belong to every start
    elif any(_OF_MAKE.match(text) for _, text in lines):
        return  # there it may have blanks
    for number, text in lines:
        if match := _SPACED.match(text):
            message = f"{script.where(number)}: a blank before the sign: {match['name']} is not set"
            remark = make_remark(
                Severity.WARNING, Code.INVALID_VALUE, match["name"], message, f"write {match['name']}= without it"
            )
            yield Remark(remark.finding, command=None)


def _in_shell_fences(script: Script) -> Iterator[tuple[int, str]]:
    """The lines of the blocks that a document marks as shell."""
    inside = False
    for number, text in numbered(script, 1, len(script.lines)):
        if match := _FENCE.match(text):
            inside = not inside and match["language"] in ("bash", "sh", "shell", "console", "zsh")
        elif inside:
            yield number, text


def export_swallows(case: Case) -> Iterator[Remark]:
    """`export A=1 program …`: each word behind is a name to export, and nothing is started."""
    script = case.script
    before = ""
    for number, text in numbered(script, *span_of(case.commands, script)):
        joined = f"{before}{text}"[:_LONGEST]
        if joined.rstrip().endswith("\\"):
            before = f"{joined.rstrip()[:-1]} "
            continue
        before = ""
        if not joined.lstrip().startswith("#") and (match := _SWALLOWS.search(joined)):
            first = match["first"]
            message = f"{script.where(number)}: export takes {first} and all words behind it as names: nothing starts"
            remedy = f"write && or a new line in front of {first}, or leave export out"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "export", message, remedy)
            yield Remark(remark.finding, command=None)
            return


def brace_in_default(case: Case) -> Iterator[Remark]:
    """`A="${A:-{\\"thinking\\": true}}"`: the shell ends the default at its first brace, and adds the second to what A
    holds."""
    script = case.script
    if script.objects or not is_first(case.commands, script):
        return
    for number, text in numbered(script, 1, len(script.lines)):
        match = _JSON_DEFAULT.match(text) if ":-{" in text or "-{" in text else None
        if match is not None and '"' in match["inner"]:
            name = match["name"]
            message = f"{script.where(number)}: the default ends at its first }}, so a {name} from outside gets one }} "
            message += "too many, and is not JSON"
            remedy = f"put the default into a variable of its own, and write ${{{name}:-$DEFAULT}}"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, remedy)
            yield Remark(remark.finding, command=None)


def only_in_comment(case: Case) -> Iterator[Remark]:
    """A value that is made for an option, which stands in a comment: the engine starts without it."""
    script = case.script
    first, last = span_of(case.commands, script)
    lines = list(numbered(script, first, last))
    comments = [(number, text) for number, text in lines if text.lstrip().startswith("#")]
    options = [(number, match) for number, text in comments for match in _OPTION_OF.finditer(text)]
    if not options:
        return
    code = "\n".join(text for _, text in numbered(script, 1, len(script.lines)) if not text.lstrip().startswith("#"))
    seen: set[str] = set()
    for number, match in options:
        name, option = match["name"], match["option"]
        if name in seen or re.search(rf"\$\{{?{name}\b|\bexport\b[^\n]*\b{name}\b", code):
            continue
        seen.add(name)
        if re.search(rf"^[ \t]*(?:local[ \t]+)?{name}=", code, re.MULTILINE):
            message = f"{name} is set, but {option} that would use it is commented out ({script.where(number)})"
            remark = make_remark(Severity.NOTE, Code.REDUNDANT_FLAG, name, message, f"give {option}, or drop {name}")
            yield Remark(remark.finding, command=None)


def conflict_markers(case: Case) -> Iterator[Remark]:
    """What is left of a merge in a script; a manifest is told elsewhere."""
    if is_first(case.commands, case.script):
        yield from markers_of_conflict(case.script)


def markers_of_conflict(script: Script) -> Iterator[Remark]:
    """The same of a text by itself."""
    if any(problem.code == "merge-conflict" for problem in script.problems):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    begins = next((number for number, text in lines if text.startswith("<<<<<<< ")), 0)
    ends = next((number for number, text in lines if begins and number > begins and text.startswith(">>>>>>> ")), 0)
    if ends:
        message = f"{script.where(begins)} to {ends}: an unresolved merge conflict, both halves of which are here"
        remedy = "keep one half, and delete the three lines of markers"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "<<<<<<<", message, remedy)
        yield Remark(remark.finding, command=None)
