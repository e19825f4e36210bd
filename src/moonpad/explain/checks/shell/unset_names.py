"""Variables that nothing sets, in a script that ends at the first of them: `set -u`, `set -euo pipefail`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_ENDS_AT_UNSET: Final = re.compile(r"set[ \t]+(?:-\w+[ \t]+(?:pipefail[ \t]+)?)*(?:-[a-zA-Z]*u|-o[ \t]+nounset\b)")
_BRINGS_OTHERS: Final = re.compile(
    r"[ \t]*(?:source|\.)[ \t]|.*(?:\beval\b|set[ \t]+(?:\+\w*u|\+o[ \t]+nounset|-a\b|-o[ \t]+allexport)|\{\{|\{%|<%)"
)
"""What may set anything, or fills the script in before a shell reads it."""
_PATHS_ALONE: Final = re.compile(r"[ \t]*(?:source|\.)[ \t]+[^;&|]*(?:bin/activate|conda\.sh|bashrc)[\"']?[ \t]*$")
_PART: Final = re.compile(
    r"\\.|'[^']*'|(?<![^\s;])#.*|\$(?:\{(?P<braced>[A-Za-z_]\w*)\}|(?P<plain>[A-Za-z_]\w*))|\$'(?:\\.|[^'\\])*'"
)
_IN_DOUBLE: Final = re.compile(r"\"(?:\\.|[^\"\\])*\"")
_WITH_DEFAULT: Final = re.compile(r"\$\{\w+:?[-+?=][^{}]*\}")
_QUOTED: Final = re.compile(r"\\.|\"(?:\\.|[^\"\\])*\"|'[^']*'")
_HERE: Final = re.compile(r"<<-?[ \t]*[\"'\\]?(?P<mark>[A-Za-z_]\w*)")
_HARDLY_EVER: Final = "LD_PRELOAD"
_MOST: Final = 4
_LONGEST: Final = 1000


def unset_names(case: Case) -> Iterator[Remark]:
    """`set -euo pipefail` and `$local_ip`, which no line sets: the script ends there, before the engine starts.

    Names in capitals mostly come from what calls the script; a name that the text has without its sign, in an
    assignment, a test or a remark, is known to its author.
    """
    script, last = case.script, max((word.end_line for word in case.commands[0].words), default=0)
    if script.markdown or script.objects or script.origins or not is_first(case.commands, script):
        return
    lines = [text[:_LONGEST] for _, text in numbered(script, 1, last)]
    start = next((at for at, text in enumerate(lines) if _ENDS_AT_UNSET.match(text)), None)
    if start is None:
        return
    if any(_BRINGS_OTHERS.match(text) and not _PATHS_ALONE.match(text) for text in lines):
        return
    whole = "\n".join(script.lines)
    script.budget.work(len(whole) // 40, "its variables")
    found: dict[str, int] = {}
    for number, text in _plain_lines(lines, start):
        for name in _used(text):
            if name not in found and _is_unset(name, whole):
                found[name] = number
    own = [name for name in found if any(letter.islower() for letter in name) or name == _HARDLY_EVER]
    if not own or case.serves_already:
        return
    named = ", ".join(f"${name} ({script.where(found[name])})" for name in own[:_MOST])
    named += f" and {len(own) - _MOST} more" if len(own) > _MOST else ""
    message = (
        f"{script.where(start + 1)} ends the script at a variable that is not set, and nothing above sets {named}: the "
    )
    message += "engine is not started, unless the caller exports " + ("it" if len(own) == 1 else "them")
    name = own[0]
    remedy = f"set {'it' if len(own) == 1 else 'them'} above, or write ${{{name}:-}}, which may be empty"
    if name == _HARDLY_EVER:
        remedy = f"write ${{{name}:+:${name}}}, which may be empty, for :${name}"
    yield Remark(make_remark(Severity.WARNING, Code.INVALID_VALUE, f"${name}", message, remedy).finding, command=None)


def _plain_lines(lines: Sequence[str], start: int) -> Iterator[tuple[int, str]]:
    """Those that run whatever holds: at the left edge, with the lines that continue them; no file that is written."""
    mark, goes_on, quoted = "", False, False
    for at, text in enumerate(lines[start:], start + 1):
        if mark:
            mark = "" if text.strip() == mark else mark
            continue
        opens = "'" in _QUOTED.sub("", text.partition(" #")[0])
        if quoted:
            quoted = not opens
            continue
        quoted = opens and not text.startswith("#")
        if goes_on or (text[:1].strip() and not text.startswith(("#", "}", ")"))):
            yield at, text
            goes_on = text.endswith("\\")
        if (here := _HERE.search(text)) is not None:
            mark = here["mark"]


def _used(line: str) -> Iterator[str]:
    line = _IN_DOUBLE.sub(lambda match: match[0].replace("'", " ")[1:-1].replace("#", " "), _WITH_DEFAULT.sub("", line))
    for match in _PART.finditer(line):
        if name := match["braced"] or match["plain"]:
            yield name


def _is_unset(name: str, whole: str) -> bool:
    """Whether the text has it nowhere but with its sign; of LD_PRELOAD, that no line sets it above its own."""
    if name == _HARDLY_EVER:
        first = re.search(rf"^[ \t]*(?:export[ \t]+)?{name}=(?P<value>.*)", whole, re.MULTILINE)
        return first is not None and re.search(rf"\$(?:{name}\b|\{{{name}\}})", first["value"]) is not None
    return re.search(rf"(?<![\w$])(?<!\$\{{){name}\b|\$\{{{name}[^\w}}]", whole) is None
