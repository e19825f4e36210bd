"""References of a pod's variables that Kubernetes refuses: a Secret or a ConfigMap without the key that is meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from yaml import MappingNode, Node, SequenceNode

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import fields_of, is_cut, pod_objects, text_of
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_REFERENCES: Final = ("secretKeyRef", "configMapKeyRef")
_DEEPEST: Final = 30


def key_references(case: Case) -> Iterator[Remark]:
    """`secretKeyRef: {name: hf-token}`."""
    script = case.script
    if not script.objects or not is_first_server(case.commands, script):
        return
    for each in pod_objects(script):
        if each.templated or is_cut(script, each):
            continue
        for node in each.fields.values():
            for kind, reference in _references(node, 0):
                fields = fields_of(reference)
                missing = next((key for key in ("name", "key") if key not in fields), "")
                if not fields or not missing or "<<" in fields:
                    continue
                where = script.where(each.offset + reference.start_mark.line)
                of = shortened(text_of(fields.get("name")), 40)
                message = f"{where}: {kind}{f' of {of}' if of else ''} has no {missing}: Kubernetes refuses the object"
                remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, kind, message, f"write {missing}: … below it")
                yield Remark(remark.finding, command=None)
                return


def _references(node: Node, depth: int) -> Iterator[tuple[str, Node]]:
    if depth > _DEEPEST:
        return
    if isinstance(node, SequenceNode):
        for item in node.value:
            yield from _references(item, depth + 1)
    elif isinstance(node, MappingNode):
        for name, value in fields_of(node).items():
            if name in _REFERENCES:
                yield name, value
            else:
                yield from _references(value, depth + 1)
