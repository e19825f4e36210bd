"""Words that Docker, Helm and YAML do not take as they are meant, whatever engine they are for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Script
from moonpad.explain.programs import base_name
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity

_RELATIVE: Final = re.compile(r"(?P<source>[A-Za-z0-9][\w.-]*(?:/[\w.-]+)+/?):/")
"""`models/k2:/model`: neither a path with ./ or / in front, nor a name, which has no slash."""
_VALUED: Final = frozenset({"-e", "--env", "-v", "--volume", "-p", "--publish"})
_SET: Final = re.compile(r"--set(?:-string)?[ =]+(?P<quote>[\"']?)(?P<pairs>[^\s\"']{1,400})(?P=quote)")
_PLAIN: Final = re.compile(r"[\w./-]{1,80}")
_UNQUOTED: Final = re.compile(
    r"[ \t]*-[ \t]+(?P<flag>--?[A-Za-z][\w.-]*)(?:=|[ \t]+)\{[ \t]*\"[^\"{}]{1,80}\"[ \t]*:[ \t]"
)
_COMMA: Final = r"\,"
_LONGEST: Final = 1000
_MOST: Final = 200


def refused_by_tools(case: Case) -> Iterator[Remark]:
    """The first of each kind in a text."""
    script = case.script
    if not is_first(case.commands, script):
        return
    script.budget.work(len(script.lines), "words of its tools")
    for found in (_of_docker(script), _of_helm(script), _of_yaml(script)):
        yield from (Remark(remark.finding, command=None) for remark in found)


def _of_docker(script: Script) -> Iterator[Remark]:
    for command in script.commands[:_MOST]:
        container = command.container
        if container is None or container.kind != "docker run" or not container.words:
            continue
        image = container.image
        if image is not None and image.text == "=":
            name = (container.value("--env") or "a variable").partition("=")[0]
            message = (
                f"{script.where(image.line)}: with blanks around it, = is a word of its own, and Docker takes it for "
            )
            message += "the name of the image (invalid reference format)"
            remedy = f"write {shortened(name, 40)}=… without blanks"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, "=", message, remedy)
            return
        source = next(
            (match["source"] for text in container.values("--volume") if (match := _RELATIVE.match(text))), ""
        )
        if source and base_name(container.words[0]) == "docker":
            message = (
                f"{script.where(command.line)}: {shortened(source, 60)} is neither a path nor the name of a volume, "
            )
            message += "which has no slash: Docker refuses it (includes invalid characters for a local volume name)"
            remedy = f'write "$PWD/{shortened(source, 60)}"'
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, "--volume", message, remedy)
            return


def _of_helm(script: Script) -> Iterator[Remark]:
    if not any("helm" in line for line in script.lines):
        return
    for number, line in enumerate(script.lines, 1):
        for match in _SET.finditer(line[:_LONGEST]) if "--set" in line else ():
            parts = re.split(r"(?<!\\),", match["pairs"])
            value = parts[0].partition("=")[2]
            lone = next((part for part in parts[1:] if "=" not in part and _PLAIN.fullmatch(part)), "")
            if not lone or value.startswith(("{", "[")) or "=" not in parts[0]:
                continue
            message = (
                f"{script.where(number)}: Helm parts the value of --set at its commas: key {shortened(lone, 40)!r} "
            )
            message += "has no value"
            remedy = f"write {shortened(match['pairs'].replace(',', f'{chr(92)},'), 80)} in single quotes"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, "--set", message, remedy)
            return


def _of_yaml(script: Script) -> Iterator[Remark]:
    if not any(line.lstrip().startswith(("args:", "command:", "services:")) for line in script.lines):
        return
    for number, line in enumerate(script.lines, 1):
        match = _UNQUOTED.match(line[:_LONGEST])
        if match is None or _is_in_text(script, number):
            continue
        message = (
            f"{script.where(number)}: without quotes the colon in this item begins a mapping: the file is refused, or "
        )
        message += f"{match['flag']} is no text"
        remedy = "put the whole item into single quotes"
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, match["flag"], message, remedy)
        return


_BLOCK: Final = re.compile(r".*[:-][ \t]+[|>][-+0-9]*[ \t]*(?:#.*)?$")


def _is_in_text(script: Script, number: int) -> bool:
    """Whether the line is part of a text (`|`, `>`), where nothing is read."""
    line = script.lines[number - 1]
    indent = len(line) - len(line.lstrip())
    for above in reversed(script.lines[max(0, number - _MOST) : number - 1]):
        own = len(above) - len(above.lstrip())
        if above.strip() and own < indent:
            if _BLOCK.match(above[:_LONGEST]):
                return True
            indent = own
    return False
