"""What a script or a deployment tool waits for a server, against the time that its weights take to load."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.request_names import is_one_group
from moonpad.explain.checks.load_time import Load, load_of
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.documents.logged_caches import tells_of_answers, tells_of_cache
from moonpad.explain.programs import is_server
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_COUNT: Final = r"\d{1,6}|\$?\{?\w+(?::?-\d{1,6})?\}?"
_END: Final = r"[\"']?[ \t]*(?=[;)`\]}]|$)"
_COUNTED: Final = re.compile(
    r"\bfor[ \t]+\w+[ \t]+in[ \t]+(?:\$\(|`)?[ \t]*(?:seq[ \t]+(?:[01][ \t]+)?|\{[01]\.\.)"
    rf"[\"']?(?P<last>{_COUNT}){_END}"
    rf"|\bfor[ \t]*\(\([^;]*;[ \t]*\w+[ \t]*<=?[ \t]*(?P<below>{_COUNT})[ \t]*;"
    rf"|\bwhile[ \t]+(?:\[|\(\(|test\b)[^;\n]*(?:-l[te]|<=?)[ \t]*[\"']?(?P<tries>{_COUNT}){_END}"
)
"""A loop that tries so many times: a number, or a variable that has it."""
_SLEEP: Final = re.compile(
    r"(?:^|[;&|][ \t]*|\bdo[ \t]+)[ \t]*sleep[ \t]+[\"']?(?P<seconds>\d{1,4}|\$\{?\w+\}?)s?(?![\w.])"
)
_ASKS: Final = re.compile(
    r"\b(?:curl|wget|nc|http)\b[^\n]*(?:/health|/v1/models|/ready|/ping|/get_model_info|:\d{4,5}|:\$\{?\w*PORT)",
    re.IGNORECASE,
)
_ENDS: Final = re.compile(
    r"\b(?:exit[ \t]+[1-9$]|kill|return\b|die\b|fail\w*\b|raise\b|abort)|超时|失败",
    re.IGNORECASE,
)
_DONE: Final = re.compile(r"[ \t]*done\b")
_STEP: Final = re.compile(
    rf"\b\w+[ \t]*=[ \t]*\$\(\([ \t]*\$?\w+[ \t]*\+[ \t]*(?P<step>{_COUNT})[ \t]*\)\)|\+=[ \t]*(?P<added>\d{{1,4}})"
)
"""What a loop counts by: seconds or tries."""
_SET: Final = re.compile(
    r"[ \t]*(?:(?:export|local|readonly|declare[ \t]+-\w+)[ \t]+)?(?P<name>\w+)=[\"']?(?:\$\{\w+:?-)?(?P<value>\d{1,6})"
    r"\}?[\"']?[ \t]*(?:[;#].*)?$"
)
_TIMED: Final = re.compile(
    r"\btimeout[ \t]+(?:-\S+[ \t]+)*(?P<span>\d{1,6}[smh]?)[ \t]+(?:ba|z)?sh[ \t]+-l?c[ \t]+[\"']"
)
_SPAN: Final = r"--timeout[= ][\"']?(?P<span>\d{1,6}[smh])"
_TOLD: Final = (
    re.compile(rf"\bkubectl\b[^\n]*\b(?:wait\b[^\n]*\b(?:ready|available)|rollout[ \t]+status)\b[^\n]*{_SPAN}", re.I),
    re.compile(rf"\bhelm\b[^\n]*\b(?:install|upgrade)\b[^\n]*--wait\b[^\n]*{_SPAN}"),
    re.compile(rf"\bhelm\b[^\n]*\b(?:install|upgrade)\b[^\n]*{_SPAN}[^\n]*--wait\b"),
    re.compile(r"(?<![\w-])(?P<key>--wait-ready-timeout)[= ][\"']?(?P<span>\d{1,6}[smh]?)"),
    re.compile(r"[ \t]*(?P<key>progressDeadlineSeconds):[ \t]*(?P<span>\d{1,6})[ \t]*(?:#.*)?$"),
    re.compile(r"[ \t]*(?P<key>initial_delay_seconds):[ \t]*(?P<span>\d{1,6})[ \t]*(?:#.*)?$"),
)
_OF_OTHERS: Final = re.compile(
    r"operator|prometheus|grafana|nginx|cert-manager|gateway|metallb|etcd|nats|postgres|redis|\bnodes?\b|\bjob|\bcrd"
    r"|\bpvc\b|namespace|daemonset|\blws\b|kuberay|router|webui",
    re.IGNORECASE,
)
"""What such a command waits for beside a server."""
_SIGNS: Final = re.compile(
    r"\b(?:sleep|timeout)\b|--timeout\b|-timeout[= ]|progressDeadlineSeconds|initial_delay_seconds", re.IGNORECASE
)
_UNIT: Final = {"s": 1, "m": 60, "h": 3600, "": 1}
_LONGEST: Final = 500
_MOST_LINES: Final = 25
_NEAR: Final = 400
"""Lines behind the server within which a loop is taken to wait for it."""


class Wait(NamedTuple):
    line: int
    what: str
    seconds: int
    in_script: bool = True
    """It stands behind the server in its script; else it is for all that is deployed."""


def start_patience(case: Case) -> Iterator[Remark]:
    """A loop of 60 tries 5 s apart that ends the script, `timeout 300 bash -c 'until curl …'`, `helm --wait` with its
    time."""
    lines, command = case.script.lines, case.commands[0]
    if not command.line or not is_in_lines(_SIGNS, lines, _LONGEST):
        return
    load = load_of(case)
    if load is None:
        return
    case.script.budget.once("waits for a server", 6 * len(lines), "the text around its engine commands")
    others = [other.line for other in case.script.commands if is_server(other.program) and other.line > command.line]
    last = min((command.line + _NEAR, *(line - 1 for line in others)))
    alone = is_one_group(case)
    for wait in _waits(lines, command.line, last):
        if wait.seconds < load.needed and (wait.in_script or (alone and case.script.says_of(wait.line, command.line))):
            yield _too_short(case, wait, load)
            return


def _too_short(case: Case, wait: Wait, load: Load) -> Remark:
    message = f"{case.script.where(wait.line)}: {wait.what} gives up after {wait.seconds:,} s, and {load.words}"
    remedy = f"wait {-(-round(4 * load.needed) // 60) * 60:,} s or more"
    ran = tells_of_answers(case.script.lines) or tells_of_cache(case.script.lines)
    severity = Severity.NOTE if ran else Severity.WARNING
    return replace(make_remark(severity, Code.SUBOPTIMAL, wait.what, message, remedy), command=None)


def _waits(lines: Sequence[str], server: int, last: int) -> Iterator[Wait]:
    numbers: dict[str, int] = {}
    for number, whole in enumerate(lines, 1):
        line = whole[:_LONGEST]
        if line.lstrip().startswith(("#", "//")):
            continue
        if match := _SET.match(line):
            numbers[match["name"]] = int(match["value"])
        for pattern in _TOLD:
            if (match := pattern.search(line)) is not None and not _OF_OTHERS.search(line):
                what = match.groupdict().get("key") or shortened(match[0].split()[0], 30)
                yield Wait(number, what, _seconds(match["span"]), in_script=False)
        if not server <= number <= last:
            continue
        if (match := _TIMED.search(line)) is not None and _ASKS.search("\n".join(lines[number - 1 : number + 3])):
            yield Wait(number, "timeout", _seconds(match["span"]))
        elif (match := _COUNTED.search(line)) is not None:
            tries = match["last"] or match["below"] or match["tries"]
            yield from _loop(lines, number, _number(tries, numbers), numbers)


def _loop(lines: Sequence[str], first: int, tries: int | None, numbers: dict[str, int]) -> Iterator[Wait]:
    """The loop from a line up to its `done`, where it asks the server and what comes of it ends the script."""
    body = [line[:_LONGEST] for line in lines[first - 1 : first - 1 + _MOST_LINES]]
    last = next((at for at, line in enumerate(body) if _DONE.match(line) or line.rstrip().endswith("done")), None)
    if tries is None or last is None:
        return
    inside, behind = body[: last + 1], body[last + 1 : last + 9]
    asleep = [match["seconds"] for line in inside if (match := _SLEEP.search(line))]
    if len(asleep) != 1 or not any(map(_ASKS.search, inside)) or not any(map(_ENDS.search, (*inside, *behind))):
        return
    sleep = _number(asleep[0], numbers)
    steps = [match for line in inside if (match := _STEP.search(line))]
    step = _number(steps[0]["step"] or steps[0]["added"], numbers) if len(steps) == 1 else 1
    if sleep and step:
        yield Wait(first, f"the loop of {-(-tries // step)} tries", -(-tries // step) * sleep)


def _number(text: str, numbers: dict[str, int]) -> int | None:
    name, _, default = text.strip("${}").partition("-")
    if default:
        return int(default)
    return int(name) if name.isdigit() and "$" not in text else numbers.get(name)


def _seconds(span: str) -> int:
    return int(span.rstrip("smh")) * _UNIT[span[-1] if span[-1] in _UNIT else ""]
