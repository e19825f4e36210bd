"""Slips in what stands around a command: tags of images, a backslash too many."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from moonpad.catalog.images import images
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.cut_commands import CUT
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_ESCAPED: Final = re.compile(r"[ \t]*(?:export[ \t]+|local[ \t]+|readonly[ \t]+)?(?P<name>[A-Za-z_]\w*)=\\\$\(")
_HERE: Final = re.compile(r"<<-?[ \t]*(?P<quote>[\"'\\]?)(?P<end>[A-Za-z_]\w*)")
_FENCE: Final = re.compile(r"[ \t]*(?:```|~~~)")
_QUOTE: Final = re.compile(r"(?<!\\)\"")
_ENDS: Final = re.compile(r"(?P<last>\S)[ \t]*\\[ \t]*")


@cache
def _numbered_tags() -> re.Pattern[str]:
    """Images whose tags of releases begin with a v, with a tag that does not, or without a colon before it."""
    names = {image.tag.partition(":")[0] for image in images() if ":v{version}" in image.tag}
    whole = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![\w.-])(?P<image>{whole})(?::(?P<tag>\d+\.\d+\.\d+[\w.-]*)|(?P<glued>v\d+\.\d+[\w.-]*))")


def tag_without_v(case: Case) -> Iterator[Remark]:
    script = case.script
    if not is_first(case.commands, script):
        return
    seen: set[str] = set()
    for number, line in numbered(script, 1, len(script.lines)):
        for match in _numbered_tags().finditer(line):
            if match[0] in seen:
                continue
            seen.add(match[0])
            if match["glued"]:
                message = f"{script.where(number)}: no colon stands between {match['image']} and {match['glued']}"
                yield _of_text(match[0], message, f"write {match['image']}:{match['glued']}")
                continue
            message = f"{script.where(number)}: the tags of {match['image']} begin with a v: there is no {match['tag']}"
            tagged = f"{match['image']}:v{match['tag']}"
            remark = _of_text(match[0], message, f"write {tagged}")
            container = case.commands[0].container
            image = container.image if container is not None else None
            if image is not None and image.text.endswith(match[0]):
                remark = replace(remark, command=0, around=((image, (image.text.replace(match[0], tagged),)),))
            yield remark


def escaped_substitution(case: Case) -> Iterator[Remark]:
    r"""`LOG=\$(mktemp)` outside of a here-document: a dollar, and then a bracket that the shell takes nowhere."""
    script = case.script
    if script.objects or not is_first(case.commands, script):
        return
    end, inside = "", False
    for number, line in numbered(script, 1, len(script.lines)):
        if end:
            end = "" if line.strip() == end else end
            continue
        quoted, inside = inside, not _FENCE.match(line) and inside ^ bool(len(_QUOTE.findall(line)) % 2)
        if quoted:  # `ssh host "` and a script that the other shell reads
            continue
        if here := _HERE.search(line):
            end = here["end"]
        elif match := _ESCAPED.match(line):
            message = f"{script.where(number)}: \\$( is a dollar and a bracket: the shell ends here with a syntax error"
            yield _of_text(match["name"], message, f"write {match['name']}=$(…), without the backslash")
            return


def backslash_at_end(case: Case) -> Iterator[Remark]:
    """The last line of a command in a fence: a shell into which it is pasted waits, and takes what is typed next for
    more of the command."""
    script = case.script
    if not script.markdown:
        return
    for number, command in enumerate(case.commands):
        if command.more in CUT:
            continue
        last = max((word.end_line for word in command.words), default=command.line)
        following = script.lines[last : last + 1]
        text = script.lines[last - 1]
        if following and _FENCE.match(following[0]) and (match := _ENDS.search(text)) and match.end() == len(text):
            message = f"{script.where(last)}: a backslash ends the last line: the shell waits for more of the command"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "\\", message, "leave the last backslash out")
            yield Remark(remark.finding, command=number)


def _of_text(where: str, message: str, remedy: str) -> Remark:
    remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, shortened(where), message, remedy)
    return Remark(remark.finding, command=None)
