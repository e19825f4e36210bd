"""Slips in what stands around a command: tags of images, a backslash too many, variables of Compose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

import yaml
from yaml import Node

from moonpad.catalog.images import images
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.pod_objects import fields_of, items_of, text_of
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_ESCAPED: Final = re.compile(r"[ \t]*(?:export[ \t]+|local[ \t]+|readonly[ \t]+)?(?P<name>[A-Za-z_]\w*)=\\\$\(")
_HERE: Final = re.compile(r"<<-?[ \t]*(?P<quote>[\"'\\]?)(?P<end>[A-Za-z_]\w*)")
_FENCE: Final = re.compile(r"[ \t]*(?:```|~~~)")
_ENDS: Final = re.compile(r"(?P<last>\S)[ \t]*\\[ \t]*")
_OF_COMPOSE: Final = re.compile(r"^services:[ \t]*$", re.MULTILINE)
_FILLED: Final = re.compile(r"(?<!\$)\$(?:\{(?P<whole>[A-Z][A-Z0-9_]*)\}|(?P<name>[A-Z][A-Z0-9_]*)\b)")
_READ_BY_COMPOSE: Final = re.compile(r"\.env\b|--env-file|\bexport[ \t]|env_file")
_LARGEST: Final = 100_000


@cache
def _numbered_tags() -> re.Pattern[str]:
    """Images whose tags of releases begin with a v, with a tag that does not."""
    names = {image.tag.partition(":")[0] for image in images() if ":v{version}" in image.tag}
    whole = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![\w.-])(?P<image>{whole}):(?P<tag>\d+\.\d+\.\d+[\w.-]*)")


def tag_without_v(case: Case) -> Iterator[Remark]:
    script = case.script
    if not is_first(case.commands, script):
        return
    seen: set[str] = set()
    for number, line in numbered(script, 1, len(script.lines)):
        for match in _numbered_tags().finditer(line) if ":" in line else ():
            if match[0] in seen:
                continue
            seen.add(match[0])
            message = f"{script.where(number)}: the tags of {match['image']} begin with a v: there is no {match['tag']}"
            yield _of_text(match[0], message, f"write {match['image']}:v{match['tag']}")


def escaped_substitution(case: Case) -> Iterator[Remark]:
    r"""`LOG=\$(mktemp)` outside of a here-document: a dollar, and then a bracket that the shell takes nowhere."""
    script = case.script
    if script.objects or not is_first(case.commands, script):
        return
    end = ""
    for number, line in numbered(script, 1, len(script.lines)):
        if end:
            end = "" if line.strip() == end else end
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
        last = max((word.end_line for word in command.words), default=command.line)
        following = script.lines[last : last + 1]
        text = script.lines[last - 1]
        if following and _FENCE.match(following[0]) and (match := _ENDS.search(text)) and match.end() == len(text):
            message = f"{script.where(last)}: a backslash ends the last line: the shell waits for more of the command"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "\\", message, "leave the last backslash out")
            yield Remark(remark.finding, command=number)


def variable_of_compose(case: Case) -> Iterator[Remark]:
    """`${MODEL}` in a command of Compose, where only the container's own environment has MODEL."""
    script = case.script
    text = "\n".join(script.lines)
    if not is_first(case.commands, script) or not _OF_COMPOSE.search(text) or len(text) > _LARGEST:
        return
    script.budget.work(len(text) // 4, "its YAML")
    if _READ_BY_COMPOSE.search(text):
        return
    try:
        services = fields_of(fields_of(yaml.compose(text, Loader=yaml.SafeLoader)).get("services"))
    except (yaml.YAMLError, RecursionError):
        return
    for service in map(fields_of, services.values()):
        given = dict(_environment(service.get("environment")))
        for key in ("command", "entrypoint"):
            words = " ".join(map(text_of, items_of(service[key]) or (service[key],))) if key in service else ""
            names = dict.fromkeys(match["whole"] or match["name"] for match in _FILLED.finditer(words))
            for name in (name for name in names if given.get(name, "$")[:1] not in ("$", "")):
                message = (
                    f"Compose fills in ${{{name}}} from the shell that starts it or from .env; what stands under "
                    f"`environment` is for the container alone, so that {key} gets an empty text"
                )
                yield _of_text(f"${{{name}}}", message, f"write the value itself, or put {name}=… into .env")


def _environment(node: Node | None) -> Iterator[tuple[str, str]]:
    yield from ((name, text_of(value)) for name, value in fields_of(node).items())
    for item in items_of(node):
        name, _, value = text_of(item).partition("=")
        yield name, value


def _of_text(where: str, message: str, remedy: str) -> Remark:
    remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, shortened(where), message, remedy)
    return Remark(remark.finding, command=None)
