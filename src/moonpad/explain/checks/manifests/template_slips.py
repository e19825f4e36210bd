"""Templates of charts that do not parse, or move what they fill in to the wrong level."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_WORDS: Final = r"(?:with|if|else|end|range|toYaml|include|define|template|default|quote)\b"
_APART: Final = re.compile(rf"\{{\{{[ \t]+-[ \t]+(?:{_WORDS}|[.$][A-Za-z_.])")
"""`{{ - with`: to trim, the minus sign stands right behind the braces; apart it is no word of a template."""
_NOT_CLOSED: Final = re.compile(
    rf"\{{\{{-?[ \t]*(?:[.$][A-Za-z_]|{_WORDS}|\"[^\"{{}}]*\"[ \t]*\|)[^{{}}]*(?<!\}})\}}[\"']?[ \t]*$"
)
"""`"{{ .Values.port }"`."""
_LABELS: Final = re.compile(
    r"[ \t]*\{\{-?[ \t]*include[ \t]+\"[^\"]*[lL]abels\"[^{}|]*\|"
    r"[ \t]*nindent[ \t]+(?P<indent>\d{1,2})[ \t]*-?\}\}[ \t]*$"
)
"""What fills in a map, and so stands deeper than the key that it is the value of."""
_KEY: Final = re.compile(r"(?P<indent>[ ]*)(?P<dash>-[ ]+)?(?P<key>[\w./-]+):[ \t]*(?:#.*)?$")
_TEMPLATE: Final = "{{"
_MOST_LINES: Final = 3000
_LONGEST: Final = 1000
_WHOLE: Final = re.compile(r"\{\{-?[ \t]*[.$\"\w][^{}]*\}\}")


def template_slip(case: Case) -> Iterator[Remark]:
    """`{{ - end }}`, `{{ .Values.port }`, and labels that land beside `matchLabels` instead of below it."""
    script = case.script
    if script.markdown or len(script.lines) > _MOST_LINES or not is_first(case.commands, script):
        return
    script.budget.work(len(script.lines), "its templates")
    lines = [line[:_LONGEST] for line in script.lines]
    if not any(_WHOLE.search(line) for line in lines if _TEMPLATE in line):
        return
    told: set[str] = set()
    for number, line in enumerate(lines, 1):
        found = _wrong_with(line, lines[: number - 1]) if _TEMPLATE in line else None
        if found is None or found[0] in told:
            continue
        told.add(found[0])
        where, message, remedy = found
        message = f"{script.where(number)}: {message}"
        yield replace(make_remark(Severity.ERROR, Code.INVALID_VALUE, where, message, remedy), command=None)


def _wrong_with(line: str, above: Sequence[str]) -> tuple[str, str, str] | None:
    """Where, what and what mends it."""
    if match := _APART.search(line):
        said = "is no template: the minus sign stands apart from the braces, and the chart fails"
        return "{{", f"{shortened(match[0], 30)} {said}", "write {{-, without a blank between"
    if line.count("{{") > line.count("}}") and (match := _NOT_CLOSED.search(line)):
        return "}}", f"{shortened(match[0], 50)} is closed with one brace, and the template fails", "write }}"
    match = _LABELS.match(line)
    key = _KEY.fullmatch(above[-1]) if match and above else None
    if match is None or key is None:
        return None
    own = len(key["indent"]) + len(key["dash"] or "")
    if int(match["indent"]) > own:
        return None
    said = f"nindent {match['indent']} puts the labels beside {key['key']} and not below it, which stays empty"
    return key["key"], said, f"write nindent {own + 2}"
