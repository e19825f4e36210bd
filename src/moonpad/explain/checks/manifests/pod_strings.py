"""Numbers and switches without quotes where Kubernetes takes texts alone: arguments, and values of variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from yaml import MappingNode, Node, ScalarNode

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import Fields, fields_of, items_of, own_container, text_of
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_TAG: Final = "tag:yaml.org,2002:"
_OTHERS: Final = {"int": "a number", "float": "a number", "bool": "a switch"}
_WORDS: Final = frozenset({"true", "false"})
"""`yes` and `on` stay texts in the YAML of Kubernetes."""
_MOST: Final = 3


def texts_alone(case: Case) -> Iterator[Remark]:
    """`args: [--tensor-parallel-size, 8]`, and `value: 1` of a variable."""
    found = own_container(case)
    if found is None or found[0].templated:
        return
    holder, container, _ = found
    places = [(name, node, what) for name, node in _values(container) if (what := _other_kind(node))]
    for name, node, what in places[:_MOST]:
        where = case.script.where(holder.offset + node.start_mark.line)
        written = shortened(text_of(node), 30) if isinstance(node, ScalarNode) else "{…}"
        message = f"{where}: {written} is {what} without quotes, and Kubernetes takes texts alone in {name}: it "
        message += "refuses the object"
        remedy = f'write "{written}"' if isinstance(node, ScalarNode) else "write it in single quotes"
        yield Remark(make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, remedy).finding, command=None)


def _values(container: Fields) -> Iterator[tuple[str, Node]]:
    for name in ("command", "args"):
        yield from ((name, node) for node in items_of(container.get(name)))
    for each in items_of(container.get("env")):
        if (node := fields_of(each).get("value")) is not None:
            yield "env", node


def _other_kind(node: Node) -> str:
    """What it is where it is no text, "" where it is one."""
    if isinstance(node, MappingNode):
        return "an object" if all(isinstance(key, ScalarNode) and key.style for key, _ in node.value) else ""
    kind = node.tag.removeprefix(_TAG)
    if kind == "bool" and text_of(node).casefold() not in _WORDS:
        return ""
    return _OTHERS.get(kind, "")
