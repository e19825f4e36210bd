"""Lines of a start script that cannot have their effect: defaults behind a value, options that are set again, and
options that their variable holds already."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

Lines = Sequence[tuple[int, str]]

_WITH_DEFAULT: Final = re.compile(
    r"(?P<indent>[ \t]*)(?:export[ \t]+)?(?P<name>[A-Za-z_]\w{1,60})=\"?\$\{(?P=name):-(?P<value>[\w./:@-]{1,80})\}\"?"
    r"[ \t]*(?:#.*)?$"
)
_PLAIN: Final = re.compile(
    r"(?P<indent>)(?:export[ \t]+)?(?P<name>[A-Za-z_]\w{1,60})=(?P<value>[\w./:@-]{1,80}|\"[\w./:@-]{1,80}\")"
    r"[ \t]*(?:#.*)?$"
)
_TAKES: Final = re.compile(
    r"[ \t]*(?P<option>--?[A-Za-z][\w-]*)(?:\|[\w|-]+)?\)[ \t]*(?P<name>[A-Za-z_]\w{1,60})=\"?\$\{?2\}?\"?[ \t]*;"
)
_FUNCTION: Final = re.compile(r"(?:function[ \t]+)?(?P<name>[A-Za-z_]\w{1,60})(?:[ \t]*\(\))?[ \t]*\{[ \t]*$")
_USE: Final = re.compile(
    r"(?<![\w-])(?P<flag>--[a-z][a-z0-9-]{2,60})[ =]\"?\$(?:\{(?P<a>[A-Za-z_]\w{1,60})\}|(?P<b>[A-Za-z_]\w{1,60}))"
)
_HOLDS: Final = r"(?:^|[\s;]){name}\+?=[\"']?{flag}[ =][^\"'\s]"
_CHANGED: Final = r"\bunset\b[^\n]*\b{name}\b|\blocal\b[^\n]*\b{name}\b|\bread\b[^\n]*\b{name}\b|\$\{{{name}[#%/]"
_CALL: Final = re.compile(
    r"[ \t]*#+[ \t]*(?:[Uu]sage:[ \t]*)?(?P<set>(?:[A-Z][A-Z0-9_]*=\S+[ \t]+)+)(?:(?:ba|z)?sh[ \t]+)?"
    r"(?P<path>\S*\.sh)\b"
)
_GIVEN: Final = re.compile(r"([A-Z][A-Z0-9_]*)=(\S+)")
_SETS: Final = r"(?:export[ \t]+)?{name}=[\"']?(?P<value>[\w./:@+-]{{1,80}})[\"']?[ \t]*(?:#.*|$)"
_LONGEST: Final = 2000
_MOST: Final = 60


def default_behind_value(case: Case) -> Iterator[Remark]:
    """`A="${A:-x}"` far above `A="${A:-y}"`: A has a value there, and y is never taken."""
    lines = _code(case)
    given: dict[str, tuple[int, str]] = {}
    whole = "\n".join(text for _, text in lines)
    for number, text in lines:
        if (match := _WITH_DEFAULT.match(text)) is None and (match := _PLAIN.match(text)) is None:
            continue
        name, value = match["name"], match["value"].strip('"')
        first = given.get(name)
        if first is None:
            if not match["indent"]:
                given[name] = number, value
            continue
        if not match["indent"] or not _WITH_DEFAULT.match(text) or value == first[1]:
            continue  # at the margin it may be the first line of another file
        if _is_set_otherwise(name, whole):
            continue
        where, above = case.script.where(number), case.script.where(first[0])
        message = f"{where}: {name} has a value from {above} on ({shortened(first[1], 40)}), so the default "
        message += f"{shortened(value, 40)} is never taken"
        remedy = f"write {name}={shortened(value, 40)} here, or leave {name} unset above"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, remedy)
        yield Remark(remark.finding, command=None)
        return


def _is_set_otherwise(name: str, whole: str) -> bool:
    """Whether it may be empty at times, or be given another way."""
    empty = rf"(?:^|[\s;&]){name}=(?:$|[\s;#]|\"\"|'')"
    return re.search(_CHANGED.format(name=name) + "|" + empty, whole, re.MULTILINE) is not None


def option_set_again(case: Case) -> Iterator[Remark]:
    """A loop takes `--context-length` into CTX, and a function that is called behind it sets CTX by its presets."""
    lines = _code(case)
    taken = [(number, match) for number, text in lines if (match := _TAKES.match(text)) is not None][:_MOST]
    functions = _functions(lines) if taken else {}
    lost: list[str] = []
    place = (0, 0, "")
    for number, match in taken:
        for name, (first, last) in functions.items():
            called = next((at for at, text in lines if re.match(rf"{name}(?:[ \t]|$)", text)), 0)
            if called <= number or first <= number <= last or not _is_behind_loop(lines, number, called):
                continue
            sets = re.compile(rf"(?:^|[\s;]){match['name']}=[\"']?[\w./-]")
            if any(first < at < last and sets.search(text) for at, text in lines):
                lost.append(match["option"])
                place = place if place[0] else (number, called, name)
                break
    if len(lost) > 1:  # one alone may be meant as a fallback
        first_taken, called, name = place
        message = f"{', '.join(lost[:4])} of the command line ({case.script.where(first_taken)}) have no effect where "
        message += f"{name}, called in {case.script.where(called)}, sets the same variables behind them"
        remedy = "take them into variables of their own, and apply those after the presets"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, lost[0], message, remedy)
        yield Remark(remark.finding, command=None)


def _is_behind_loop(lines: Lines, taken: int, called: int) -> bool:
    """Whether a loop ends between the two: its `done` at the margin."""
    return any(taken < at < called and re.match(r"done\b", text) for at, text in lines)


def _functions(lines: Lines) -> dict[str, tuple[int, int]]:
    """By name: the first line and that of the brace at the margin."""
    found: dict[str, tuple[int, int]] = {}
    open_at = ("", 0)
    for number, text in lines:
        if (match := _FUNCTION.match(text)) is not None and not open_at[0]:
            open_at = match["name"], number
        elif text.startswith("}") and open_at[0]:
            found[open_at[0]] = open_at[1], number
            open_at = ("", 0)
    return found


def option_in_variable(case: Case) -> Iterator[Remark]:
    """`--chat-template "$TEMPLATE"`, where TEMPLATE is `--chat-template file`."""
    lines = _code(case)
    whole = "\n".join(text for _, text in lines)
    seen = 0
    for number, text in lines:
        for match in _USE.finditer(text):
            seen += 1
            name, flag = match["a"] or match["b"], match["flag"]
            if seen > _MOST or re.search(_CHANGED.format(name=name), whole):
                continue
            held = re.compile(_HOLDS.format(name=name, flag=flag))
            at = next((line for line, other in lines if line != number and held.search(other)), 0)
            if at:
                message = f"{case.script.where(number)}: {name} holds {flag} already ({case.script.where(at)}), so the "
                message += f"value of {flag} begins with {flag}"
                remedy = f"write ${name} alone and unquoted, or the value alone into {name}"
                remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, flag, message, remedy)
                yield Remark(remark.finding, command=None)
                return


def call_overwritten(case: Case) -> Iterator[Remark]:
    """A comment shows `PORT=9000 ./run.sh`, and the script sets PORT itself, whatever it had."""
    lines = _code(case)
    if not lines:
        return
    script = case.script
    own = script.place(1)[0].rpartition("/")[2]
    for number, comment in numbered(script, 1, len(script.lines)):
        call = _CALL.match(comment)
        if call is None or own not in ("", call["path"].rpartition("/")[2]):
            continue
        for name, value in _GIVEN.findall(call["set"]):
            read = re.compile(
                rf"\$\{{?{name}\b|\b{name}\b[^=]*\$\{{?\w+|-v[ \t]+{name}\b|\(\)[ \t]*\{{|^(?:source|\.)[ \t]"
            )
            first = next(
                ((at, text) for at, text in lines if re.search(rf"(?<![\w$]){name}=|\$\{{?{name}\b", text)), None
            )
            match = re.match(_SETS.format(name=name), first[1]) if first is not None else None
            if first is None or match is None or match["value"] == value.strip("\"'"):
                continue
            if read.search(first[1]) or any(read.search(text) for at, text in lines if at < first[0]):
                continue
            message = (
                f"{script.where(number)} shows a call with {name}={shortened(value, 40)}, and {script.where(first[0])}"
            )
            message += f" sets it to {shortened(match['value'], 40)} whatever it was: the call has no effect on it"
            remedy = f'write {name}="${{{name}:-{shortened(match["value"], 40)}}}"'
            remark = make_remark(Severity.WARNING, Code.DEAD_ENV, name, message, remedy)
            yield Remark(remark.finding, command=None)
            return


def _code(case: Case) -> Lines:
    """The lines of a text that is one script, without comments and without other texts in it."""
    script = case.script
    if script.markdown or script.objects or len(script.origins) > 1 or not is_first(case.commands, script):
        return []
    lines = [(number, text[:_LONGEST]) for number, text in numbered(script, 1, len(script.lines))]
    if any(("<<" in text and "<<<" not in text) or text.lstrip().startswith(("```", "~~~")) for _, text in lines):
        return []  # parts of it are another file
    return [(number, text) for number, text in lines if text.strip() and not text.lstrip().startswith("#")]


DEAD_SETTINGS: Final = (default_behind_value, option_set_again, option_in_variable, call_overwritten)
