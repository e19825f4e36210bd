"""Servers that a shell waits for before it comes to the next one: a server does not end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command
from moonpad.explain.grouping import value_of
from moonpad.explain.programs import is_server
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity

_FOR: Final = re.compile(
    r"[ \t]*for[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]+in[ \t]+(?P<items>\S[^;]*?)[ \t]*(?:;[ \t]*do\b.*)?$"
)
_DONE: Final = re.compile(r"[ \t]*done\b")
_DETACHED: Final = re.compile(
    r"(?<![&>\d])&(?![&>\d])|\btmux\b|\bscreen\b|\bsetsid\b|\bsystemd-run\b|\bsbatch\b|\bparallel\b|\bxargs\b|\bpm2\b"
    r"|\btimeout\b|\bbreak\b|\bkill\b|\bkubectl\b|[ ](?:-d|-dit?|-itd|-f|-fn|-nf|--detach)(?=[ ]|$)|\bpdsh\b"
)
"""What starts a program and goes on, or ends it again."""
_OF_EACH: Final = (("--node-rank", "-r"), ("--port", "-p"), ("--data-parallel-start-rank",), ("--data-parallel-rank",))
_VISIBLE: Final = re.compile(r"(?:CUDA|HIP|ASCEND_RT)_VISIBLE_DEVICES=[^\s;&|]*\$\{?(?P<name>[A-Za-z_]\w*)")
_REMOTE: Final = re.compile(r"\bssh[ \t]+(?:-\w+[ \t]+)*[^\s\"']*\$\{?(?P<name>[A-Za-z_]\w*)(?P<more>[^\s\"']*)")
_SCRIPT: Final = re.compile(r"#![ \t]*\S*(?:sh|env[ \t]+\w*sh)\b")
_FARTHEST: Final = 60
_MOST: Final = 60


def server_in_loop(case: Case) -> Iterator[Remark]:
    """`for i in 0 1; do ssh node$i "vllm serve …"; done`: the first round does not end."""
    command, script = case.commands[0], case.script
    if not is_server(command.program) or command.custom or not command.words or not command.line:
        return
    first, last = max(1, command.line - _FARTHEST), max(word.end_line for word in command.words)
    lines = list(numbered(script, first, min(len(script.lines), last + _FARTHEST)))
    opened = _loop_of(lines, command.line)
    if opened is None:
        return
    at, loop = opened
    inside = [text for number, text in lines if number >= lines[at][0]]
    end = next((place for place, text in enumerate(inside[1:], 1) if _DONE.match(text)), None)
    if end is None:
        return
    body = [text for text in inside[: end + 1] if not text.lstrip().startswith("#")]
    if any(_DETACHED.search(_without_redirections(text)) for text in body):
        return
    name, items = loop["name"], loop["items"].split()
    if (len(items) < 2 and not items[0].startswith(("$", '"$', "{"))) or not _is_of_each(command, name, body):
        return
    message = (
        f"{script.where(command.line)}: the loop waits for the server of its first round, which does not end: the "
    )
    message += f"others ({name} in {' '.join(items[:4])}) are not started"
    remedy = "write & behind the command, and wait below the loop"
    yield Remark(make_remark(Severity.WARNING, Code.CONFLICT, "for", message, remedy).finding, command=0)


def _loop_of(lines: Sequence[tuple[int, str]], line: int) -> tuple[int, re.Match[str]] | None:
    """The nearest loop above the line that is still open there."""
    closed = 0
    for at in range(len(lines) - 1, -1, -1):
        number, text = lines[at]
        if number > line:
            continue
        if number < line and _DONE.match(text):
            closed += 1
        match = _FOR.match(text)
        if match is not None:
            if not closed:
                return at, match
            closed -= 1
        elif text.startswith(("```", "~~~")) or re.match(r"[ \t]*(?:while|until)\b", text):
            return None
    return None


def _without_redirections(text: str) -> str:
    return re.sub(r"\d?>&\d|&>>?|2>&1|\"?\$\{?\w+[^ ]*&\w+=", " ", text)


def _is_of_each(command: Command, name: str, body: Sequence[str]) -> bool:
    """Whether each round has a machine, a rank, a port or devices of its own: a second try has not."""
    varies = re.compile(rf"\$\{{?{name}\b|\[\$?{name}\]")
    for text in body:
        remote = _REMOTE.search(text)
        if remote is not None and (remote["name"] == name or varies.search(remote[0])):
            return True
        visible = _VISIBLE.search(text)
        if visible is not None and visible["name"] == name:
            return True
    flags = {flag for names in _OF_EACH for flag in names}
    joined = " ".join(body)
    return any(
        value_of(command.argv, (flag,)) and re.search(rf"{flag}[ =][^ ]*\$\W*{name}\b", joined) for flag in flags
    )


def server_before_server(case: Case) -> Iterator[Remark]:
    """`vllm serve A && vllm serve B`, or one below the other in a script: the second waits for the end of the first."""
    script = case.script
    if len(script.commands) > _MOST or script.objects:
        return
    servers = [each for each in script.commands if is_server(each.program)]
    for one, two in pairwise(servers):
        if (
            two is not case.commands[0]
            or _is_apart(one)
            or _is_apart(two)
            or not one.words
            or not two.words
            or one.arms
            or two.arms
        ):
            continue
        end, begin = (
            max(one.words, key=lambda word: (word.end_line, word.end_column)),
            min(two.words, key=lambda word: (word.line, word.column)),
        )
        if not 0 < begin.line - end.end_line + 1 <= _FARTHEST:
            continue
        between = _between(script.lines, end.end_line, end.end_column, begin.line, begin.column)
        joined = re.fullmatch(r"[\"' \t]*&&[ \t\\\n]*(?:[A-Z_]+=\S*[ \t\\\n]*|env[ \t]+|exec[ \t]+)*", between)
        if joined is None:
            continue
        message = (
            f"{script.where(begin.line)}: && waits for the end of the server of {script.where(end.end_line)}, which "
        )
        message += "does not come: this one is not started"
        remedy = "write & for &&, and wait behind both"
        yield Remark(make_remark(Severity.WARNING, Code.CONFLICT, "&&", message, remedy).finding, command=0)
        return


def _is_apart(command: Command) -> bool:
    """Whether something else starts it, and goes on at once."""
    container = command.container
    detached = container is not None and (container.has("--detach") or container.kind != "docker run")
    return (
        detached
        or command.custom
        or any(wrapper.kind in ("ssh", "nohup", "docker exec") for wrapper in command.wrappers)
    )


def _between(lines: Sequence[str], first: int, start: int, last: int, end: int) -> str:
    """The text from behind a place to before another."""
    if first == last:
        return lines[first - 1][start:end]
    return "\n".join((lines[first - 1][start:], *lines[first : last - 1], lines[last - 1][:end]))
