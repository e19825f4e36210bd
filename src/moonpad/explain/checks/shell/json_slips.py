"""JSON with a comment, a comma too many or a word of Python: in bodies of requests, in files that the text writes or
shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.json_text import Foreign, without_foreign
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity

_LONGEST: Final = 20_000
_MOST: Final = 5
_BODY: Final = re.compile(r"(?:-d|--data(?:-raw|-binary)?|--json)[ =]*'(?P<json>\{[^']{2,20000}\})'")
_ESCAPED: Final = re.compile(
    r"(?:-d|--data(?:-raw|-binary)?|--json)[ =]*\"(?P<json>\{(?:[^\"\\$`]|\\[\"\\\n]){2,20000}\})\""
)
"""The same within double quotes, of which the shell takes the backslashes away."""
_PIPED: Final = re.compile(
    r"(?:-d|--data(?:-raw|-binary)?|--json)[ =]*[\"']?@-"
    r"[^\n<]{0,200}<<-?[ ]?[\"']?(?P<end>\w{1,40})[\"']?[^\n<]{0,200}\n"
    r"(?P<json>[ \t]*\{(?:(?!<<).){2,20000}?\})[ \t]*\n[ \t]*(?P=end)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_FENCED: Final = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,}|''')[ \t]*(?P<language>json)?[ \t]*\n"
    r"(?P<json>[ \t]*\{(?:(?!`{3}|~{3}|''').){2,20000}?\})[ \t]*\n[ \t]*(?P=mark)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_WORDS: Final = {
    "comment": ("JSON allows no comments: parsers reject {}", "take the comment out"),
    "comma": ("JSON allows no comma before a closing bracket: parsers reject it", "take the comma out"),
    "python": (
        "{} is Python: JSON has true, false and null, and parsers reject other words",
        "write it as JSON has it",
    ),
}


def json_slips(case: Case) -> Iterator[Remark]:
    """Only what is JSON without the slip: nothing is said of what is cut or only looks like it."""
    script = case.script
    if not is_first(case.commands, script):
        return
    text = "\n".join(line[:_LONGEST] for line in script.lines)
    script.budget.work(len(text) // 40, "its JSON")
    places: dict[int, Foreign] = {}
    for pattern in (_BODY, _ESCAPED, _PIPED, _FENCED):
        for match in pattern.finditer(text) if "{" in text else ():
            of_json = match.groupdict().get("language", "json") is not None
            written = match["json"].replace('\\"', '"') if pattern is _ESCAPED else match["json"]
            if (slip := slip_in(written, of_json=of_json)) is not None:
                places.setdefault(text.count("\n", 0, match.start("json")) + 1 + slip[0], slip[1])
    files = {**script.files, **{path: file for command in case.commands for path, file in command.files.items()}}
    for path, file in files.items():
        if path.endswith(".json") and (slip := slip_in(file.text)) is not None:
            places.setdefault(file.line + slip[0], slip[1])
    for line in sorted(places)[:_MOST]:
        message, remedy = _WORDS[places[line].kind]
        message = message.format(shortened(places[line].text, 40))
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, script.where(line), message, remedy)
        yield Remark(remark.finding, command=None)


def slip_in(text: str, *, of_json: bool = True) -> tuple[int, Foreign] | None:
    """How many lines below its first the slip stands, and what it is; None where it is none, or not alone. What is not
    said to be JSON (`of_json`) may be Python, whose words are none there."""
    text = text.strip()
    if not text.startswith("{") or len(text) > _LONGEST or _is_json(text):
        return None
    mended, found = without_foreign(text)
    if not found or not _is_json(mended) or (not of_json and any(each.kind == "python" for each in found)):
        return None
    return text.count("\n", 0, found[0].start), found[0]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
