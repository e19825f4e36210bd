"""Signs that a shell leaves in a value: a backslash at the end of a line within single quotes, and quotes that come out
of a variable."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_BEGINS: Final = re.compile(r"[ \t]*(?:export[ \t]+|local[ \t]+)?(?P<name>[A-Za-z_]\w*)='(?P<rest>[\[{][^']*)")
_HERE_TEXT: Final = re.compile(r"<<-?[ ]?[\"']?(?P<end>[A-Za-z_]\w*)")
_LONGEST: Final = 60
_BLOCK: Final = re.compile(r"(?P<blanks>[ \t]*)(?:-[ \t]+)?(?P<name>[A-Za-z_]\w*):[ \t]*[>|][-+]?[ \t]*(?:#.*)?")
_QUOTED: Final = re.compile(r"[ \t]*(?P<flag>--[\w.-]+)[ =]'[\[{][^']*[\]}]'")
_SPLIT: Final = r"(?:^|[ \t]){}(?:[ \t;|&>)]|$)"
_READ_AGAIN: Final = re.compile(r"\beval\b|\bxargs\b|\b(?:ba|z)?sh[ \t]+-l?c\b|declare[ \t]+-a|shlex|read[ \t]+-r?a\b")


def kept_backslash(case: Case) -> Iterator[Remark]:
    """`FLAG='{\\` with more lines of JSON: within single quotes the backslash stays, and so the text is no JSON."""
    script = case.script
    if not is_first(case.commands, script):
        return
    lines, inside = dict(numbered(script, 1, len(script.lines))), ""
    for number, text in lines.items():
        if inside:
            inside = "" if text.strip() == inside else inside
            continue
        if (here := _HERE_TEXT.search(text)) is not None:
            inside = here["end"]
            continue
        begins = _BEGINS.fullmatch(text.rstrip())
        if begins is None or not text.rstrip().endswith("\\"):
            continue
        held = [begins["rest"]]
        for at in range(number + 1, number + _LONGEST):
            part, quote, _ = lines.get(at, "'").partition("'")
            held.append(part)
            if quote:
                break
        written = "\n".join(line.rstrip() if line.rstrip().endswith("\\") else line for line in held)
        if _is_json(written) or not _is_json(written.replace("\\\n", "\n")):
            continue
        name = begins["name"]
        message = f"{script.where(number)}: within single quotes the shell leaves the backslashes at the ends of lines "
        message += f"in the text: {name} is no valid JSON"
        remedy = f'leave the backslashes out, and write "${name}" in double quotes where it is used'
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, remedy)
        yield Remark(remark.finding, command=None)


def kept_quote(case: Case) -> Iterator[Remark]:
    """A block of options in YAML with JSON in single quotes, which a script of the same text splits at blanks."""
    script = case.script
    if not is_first(case.commands, script):
        return
    lines = dict(numbered(script, 1, len(script.lines)))
    text = "\n".join(lines.values())
    if _READ_AGAIN.search(text):
        return
    name, depth = "", 0
    for number, line in lines.items():
        blanks = len(line) - len(line.lstrip())
        if name and line.strip() and blanks <= depth:
            name = ""
        if (block := _BLOCK.fullmatch(line)) is not None:
            name, depth = block["name"], len(block["blanks"])
        quoted = _QUOTED.match(line) if name and blanks > depth else None
        if quoted is None:
            continue
        word = rf"\$(?:{name}\b|\{{{name}\}})"
        used = next((at for at, other in lines.items() if re.search(_SPLIT.format(word), other.partition("#")[0])), 0)
        if not used:
            continue
        message = (
            f"{script.where(used)}: the shell splits ${name} at blanks and leaves the quotes of {script.where(number)} "
        )
        message += f"in the words: {quoted['flag']} gets '…' with its quotes, which is no JSON"
        remedy = "leave the single quotes out, with no blank in the JSON, or write the keys with dots"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, quoted["flag"], message, remedy)
        yield Remark(remark.finding, command=None)
        return


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


KEPT_SIGNS: Final = (kept_backslash, kept_quote)
