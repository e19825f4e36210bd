"""`$NAME` in a compose file: Compose fills it in before any shell runs, from its own environment and `.env`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity

_SERVICES: Final = re.compile(r"^services:[ \t]*(?:#.*)?$", re.MULTILINE)
_DOLLAR: Final = re.compile(
    r"\$(?:\$|\{(?P<braced>[A-Za-z_]\w*)\}|\{(?![A-Za-z_]\w*:?[-+?])(?P<refused>[^}\s]{1,60}\}?)|(?P<name>[A-Za-z_]\w*))"
)
"""A doubled sign, then names, and braces with what Compose does not know (`${A[@]}`, `${#A}`, `${A%x}`)."""
_PARTS: Final = ("entrypoint", "command")
_LARGEST: Final = 200_000
_SHOWN: Final = 3


def compose_references(case: Case) -> Iterator[Remark]:
    """References that Compose refuses, and those that it empties."""
    script = case.script
    if script.markdown or not is_first(case.commands, script):
        return
    starts = [first for _, first in script.origins] or [1]
    for first, end in zip(starts, [*starts[1:], len(script.lines) + 1], strict=True):
        text = "\n".join(script.lines[first - 1 : end - 1])
        script.budget.work(len(text) // 100, "its YAML")
        if "$" not in text or not _SERVICES.search(text) or len(text) > _LARGEST or "{%" in text or "{{" in text:
            continue
        script.budget.work(len(text) // 4, "its YAML")
        try:
            documents = list(yaml.compose_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
        except (yaml.YAMLError, RecursionError):
            continue
        for document in documents:
            for service in _values(_fields(document).get("services")):
                yield from _of_service(service, first, case)


def _of_service(service: Node, first: int, case: Case) -> Iterator[Remark]:
    fields = _fields(service)
    if not any(part in fields for part in _PARTS):
        return
    words = [word for part in _PARTS for word in _scalars(fields.get(part))]
    refused, emptied = dict[str, int](), dict[str, int]()
    given = {} if "env_file" in fields else _literals(fields.get("environment"))
    for word in words:
        for match in _DOLLAR.finditer(word.value):
            line = first + _line_of(word, match.start(), case.script.lines, first)
            name = match["braced"] or match["name"]
            if match["refused"]:
                refused.setdefault("${" + match["refused"], line)
            elif name in given:
                emptied.setdefault(name, line)
    yield from _refusals(refused, case)
    yield from _empties(emptied, case)


def _refusals(refused: Mapping[str, int], case: Case) -> Iterator[Remark]:
    for reference, line in list(refused.items())[:_SHOWN]:
        shown = shortened(reference, 40)
        message = (
            f"{case.script.where(line)}: Compose reads {shown} itself, and refuses the file (invalid interpolation "
            "format): it has no such form"
        )
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, shown, message, f"write ${shown} for the shell")
        yield Remark(remark.finding, command=None)


def _empties(emptied: Mapping[str, int], case: Case) -> Iterator[Remark]:
    for name, line in list(emptied.items())[:_SHOWN]:
        message = (
            f"{case.script.where(line)}: Compose fills in ${name} from its own environment and .env, not from "
            "environment: of the service: it is empty"
        )
        remedy = f"set {name} in .env, or write the value itself"
        yield Remark(make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, remedy).finding, command=None)


def _literals(environment: Node | None) -> Mapping[str, str]:
    if isinstance(environment, MappingNode):
        pairs = {key: node.value for key, node in _fields(environment).items() if isinstance(node, ScalarNode)}
    else:
        items = (word.value.partition("=") for word in _scalars(environment))
        pairs = {name: value for name, _, value in items}
    return {name: value for name, value in pairs.items() if value and "$" not in value}


def _line_of(word: ScalarNode, at: int, lines: Sequence[str], first: int) -> int:
    """How many lines behind the first one a place in a scalar stands."""
    start = word.start_mark.line
    text = word.value[word.value.rfind("\n", 0, at) + 1 :].partition("\n")[0].strip()
    end = min(word.end_mark.line + 1, len(lines) - first + 1)
    return next((line for line in range(start, end) if text and text in lines[first + line - 1]), start)


def _fields(node: Node | None) -> Mapping[str, Node]:
    if not isinstance(node, MappingNode):
        return {}
    return {key.value: value for key, value in node.value if isinstance(key, ScalarNode)}


def _values(node: Node | None) -> Sequence[Node]:
    return list(_fields(node).values())


def _scalars(node: Node | None) -> Sequence[ScalarNode]:
    if isinstance(node, ScalarNode):
        return [node]
    return [item for item in node.value if isinstance(item, ScalarNode)] if isinstance(node, SequenceNode) else []
