"""Objects of Kubernetes in a text, as nodes with their first lines, for checks that compare two places of them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

import yaml
from msgspec import Struct
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from moonpad.engines.log_lines import end_without_log
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Script

Fields = Mapping[str, Node]

BYTES: Final[Mapping[str, float]] = {
    **{"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12},
    **{"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40},
}
"""The units of a quantity: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/."""

_ENDS: Final = re.compile(r"[ \t]*(?:---|`{3,}|~{3,}|[A-Z]*EOF\b|YAML\b)[ \t]*(?:#.*|\w*)?$")
_HEREDOC: Final = re.compile(r"[^#]*<<-?[ \t]*[\"']?[A-Za-z_]\w*[\"']?[^<]*$")
"""The command of a shell that an object is handed to: `kubectl apply -f - <<EOF`."""
_BRACES: Final = re.compile(r"\$\{([^{}\n]{1,80})\}")
"""A variable of the shell around it, which `{ path: /health, port: ${PORT} }` does not hold as it is."""
_FENCE: Final = re.compile(r"[ \t>]*(?:`{3}|~{3})")
_LEFT_OUT: Final = re.compile(
    r"[ \t]*#[ \t]*(?:\.{3}|…|\(?(?:omitted|truncated|snip|cut|rest of|其余|省略))", re.IGNORECASE
)
_OBJECT: Final = re.compile(r"(?:apiVersion|kind):[ \t]*\w")
_KIND: Final = re.compile(r"[ \t]*kind:[ \t]*\w")
_ALIAS: Final = re.compile(r"(?:^|[\s\[,{])\*[A-Za-z_]")
_ALIASES: Final = 20
"""More of them could name each other so that a few lines stand for millions."""
_WORK: Final = "the objects of its YAML"
_LONGEST: Final = 200
_DEEPEST: Final = 40
_LARGEST: Final = 100_000
_MOST: Final = 40
_TEMPLATED: Final = ("{{", "{%")


class PodObject(Struct, frozen=True):
    """`first` and `last` are its lines in the text; those of its nodes count from `offset`. `templated`: a chart fills
    parts of it in."""

    kind: str
    first: int
    last: int
    offset: int
    fields: Fields
    templated: bool


def fields_of(node: Node | None) -> Fields:
    """The keys of a mapping; empty for everything else."""
    if not isinstance(node, MappingNode):
        return {}
    return {key.value: value for key, value in node.value if isinstance(key, ScalarNode)}


def inner(fields: Fields, *names: str) -> Node | None:
    """`spec.template.spec` of mappings in mappings."""
    for name in names[:-1]:
        fields = fields_of(fields.get(name))
    return fields.get(names[-1])


def items_of(node: Node | None) -> Sequence[Node]:
    """Of a list; empty for everything else."""
    return node.value if isinstance(node, SequenceNode) else ()


def text_of(node: Node | None) -> str:
    """Of a scalar; "" for everything else."""
    return node.value if isinstance(node, ScalarNode) else ""


def number_of(node: Node | None) -> int | None:
    """A whole number as it is written."""
    text = text_of(node)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None


def pod_objects(script: Script) -> tuple[PodObject, ...]:
    """All of a text that can be read, charts among them where they are YAML as they stand."""
    if _WORK not in script.budget.shares:  # once for each text, whichever check asks first
        read = any("kind" in line for line in script.lines)
        script.budget.work(sum(len(line) for line in script.lines) // (4 if read else 16), _WORK)
    script.budget.work(10, _WORK)
    behind = max((last for _, last in script.objects), default=0) + 1  # prose, or a file of another kind, may follow
    return _objects_of(script.lines, (*script.origins, *([("", behind)] if script.markdown and behind > 1 else ())))


@lru_cache(maxsize=4)
def _objects_of(lines: tuple[str, ...], origins: tuple[tuple[str, int], ...]) -> tuple[PodObject, ...]:
    found: list[PodObject] = []
    first = 1
    starts = {line for _, line in origins}
    for number in range(1, len(lines) + 2):
        chunk = lines[first - 1 : number - 1]
        end = number > len(lines) or _ends(lines[number - 1][:_LONGEST], chunk)
        if not end and number not in starts and not _is_handed_on(lines[number - 1], chunk):
            continue
        if len(found) < _MOST and any(_KIND.match(line[:_LONGEST]) for line in chunk):
            found += _read(first, chunk)
        first = number if number in starts and not end else number + 1
    return tuple(found)


def _ends(line: str, above: Sequence[str]) -> bool:
    """Whether an object ends with this line. The end of a heredoc that one of its own scripts opens does not end it."""
    if _ENDS.match(line) is None:
        return False
    word = line.strip()
    if not word[:1].isalpha() or not line[:1].isspace():
        return True
    opens = re.compile(rf"<<-?[ \t]*[\"']?{re.escape(word)}\b")
    return not any("<<" in text and opens.search(text[:_LONGEST]) for text in above)


def _is_handed_on(line: str, above: Sequence[str]) -> bool:
    """Whether an object begins behind this line: in one that is open, it is a line of its script."""
    return _HEREDOC.match(line[:_LONGEST]) is not None and not any(_KIND.match(text[:_LONGEST]) for text in above)


def is_cut(script: Script, holder: PodObject) -> bool:
    """Whether the text shows only a part of it: it breaks off in a fence that is never closed, or says that it leaves
    something out. What is missing may stand in the rest."""
    if any(_LEFT_OUT.match(line[:_LONGEST]) for line in script.lines[holder.first - 1 : holder.last + 1]):
        return True
    if not script.markdown or any(_FENCE.match(line[:_LONGEST]) for line in script.lines[holder.last :]):
        return False
    return sum(_FENCE.match(line[:_LONGEST]) is not None for line in script.lines[: holder.first]) % 2 == 1


def object_of(case: Case, objects: Sequence[PodObject]) -> PodObject | None:
    """The one that the first command of the case stands in."""
    line = case.commands[0].line
    return next((each for each in objects if each.first <= line <= each.last), None)


def container_of(case: Case, holder: PodObject) -> tuple[Fields, Fields] | None:
    """The container whose command it is, and the description of the pod around it."""
    place = case.commands[0].line - holder.offset
    return next(_containers(holder.fields, {}, place, 0), None)


def own_container(case: Case) -> tuple[PodObject, Fields, Fields] | None:
    """The object that the first command stands in, its container and the pod around it; None outside of all objects."""
    holder = object_of(case, pod_objects(case.script)) if case.script.objects else None
    container = container_of(case, holder) if holder is not None else None
    return (holder, *container) if holder is not None and container is not None else None


def _containers(fields: Fields, pod: Fields, place: int, depth: int) -> Iterator[tuple[Fields, Fields]]:
    """The innermost mappings with an image and a command around a line."""
    if depth > _DEEPEST:
        return
    pod = fields if "containers" in fields else pod
    before = False
    for value in fields.values():
        for node in items_of(value) or (value,):
            if isinstance(node, MappingNode) and node.start_mark.line <= place <= _last_line(node):
                for found in _containers(fields_of(node), pod, place, depth + 1):
                    before = True
                    yield found
    if not before and "image" in fields and ("args" in fields or "command" in fields):
        yield fields, pod


def _last_line(node: Node) -> int:
    """A block ends where the next token begins."""
    return node.end_mark.line - (0 if getattr(node, "flow_style", False) else 1)


def _read(first: int, lines: Sequence[str]) -> Iterator[PodObject]:
    text = textwrap.dedent("\n".join(lines)) + "\n"
    if len(text) > _LARGEST or len(_ALIAS.findall(text)) > _ALIASES:
        return
    documents = _documents(text) or (_documents(_BRACES.sub(r"$<\1>", text)) if _BRACES.search(text) else [])
    if not documents and (begin := _begin(lines)) is not None:
        last = end_without_log(list(lines))
        if begin or last < len(lines):
            yield from _read(first + begin, lines[begin:last])
        return
    templated = any(mark in text for mark in _TEMPLATED)
    for document in documents:
        fields = fields_of(document)
        for node in items_of(fields.get("items")) if text_of(fields.get("kind")) == "List" else (document,):
            own = fields_of(node)
            if node is not None and text_of(own.get("kind")):
                start, end = first + node.start_mark.line, first + _last_line(node)
                yield PodObject(text_of(own["kind"]), start, end, first, own, templated)


def _begin(lines: Sequence[str]) -> int | None:
    """Where an object begins below a sentence; None where none does."""
    return next((at for at, line in enumerate(lines) if _OBJECT.match(line[:_LONGEST])), None)


def _documents(text: str) -> list[Node]:
    """Empty where it is not YAML."""
    try:
        return list(yaml.compose_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except (yaml.YAMLError, RecursionError):
        return []
