"""JSON with a comment or a comma too many: in bodies of requests, in files that the text writes or shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity

_LONGEST: Final = 20_000
_MOST: Final = 5
_BODY: Final = re.compile(r"(?:-d|--data(?:-raw|-binary)?|--json)[ =]*'(?P<json>\{[^']{2,20000}\})'")
_FENCED: Final = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,}|''')[ \t]*(?:json)?[ \t]*\n"
    r"(?P<json>[ \t]*\{(?:(?!`{3}|~{3}|''').){2,20000}?\})[ \t]*\n[ \t]*(?P=mark)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_TOKEN: Final = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*\"|(?P<comment>(?:#|//)[^\n]*)|(?P<comma>,(?=\s*(?:(?:#|//)[^\n]*\s*)*[}\]]))"
)
_WORDS: Final = {
    "comment": ("JSON allows no comments: parsers reject it", "take the comment out"),
    "comma": ("JSON allows no comma before a closing bracket: parsers reject it", "take the comma out"),
}


def json_slips(case: Case) -> Iterator[Remark]:
    """Only what is JSON without the slip: nothing is said of what is cut or only looks like it."""
    script = case.script
    if not is_first(case.commands, script):
        return
    text = "\n".join(line[:_LONGEST] for line in script.lines)
    script.budget.work(len(text) // 40, "its JSON")
    places: dict[int, str] = {}
    for pattern in (_BODY, _FENCED):
        for match in pattern.finditer(text) if "{" in text else ():
            if (slip := slip_in(match["json"])) is not None:
                places.setdefault(text.count("\n", 0, match.start("json")) + 1 + slip[0], slip[1])
    files = {**script.files, **{path: file for command in case.commands for path, file in command.files.items()}}
    for path, file in files.items():
        if path.endswith(".json") and (slip := slip_in(file.text)) is not None:
            places.setdefault(file.line + slip[0], slip[1])
    for line in sorted(places)[:_MOST]:
        message, remedy = _WORDS[places[line]]
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, script.where(line), message, remedy)
        yield Remark(remark.finding, command=None)


def slip_in(text: str) -> tuple[int, str] | None:
    """How many lines below its first the slip stands, and what it is; None where it is none, or not alone."""
    text = text.strip()
    if not text.startswith("{") or len(text) > _LONGEST or _is_json(text):
        return None
    first: tuple[int, str] | None = None

    def without(match: re.Match[str]) -> str:
        nonlocal first
        kind = next((name for name in _WORDS if match[name] is not None), "")
        if kind and first is None:
            first = text.count("\n", 0, match.start()), kind
        return "" if kind else match[0]

    mended = _TOKEN.sub(without, text)
    return first if _is_json(mended) else None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
