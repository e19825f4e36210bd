"""References of a pod's variables that Kubernetes refuses: a Secret or a ConfigMap without the key that is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from yaml import MappingNode, Node, SequenceNode

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import (
    Fields,
    PodObject,
    fields_of,
    inner,
    is_cut,
    pod_objects,
    text_of,
)
from moonpad.explain.commands import Script
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_REFERENCES: Final = ("secretKeyRef", "configMapKeyRef")
_HOLDERS: Final = {"secretKeyRef": "Secret", "configMapKeyRef": "ConfigMap"}
_PARTS: Final = ("data", "stringData", "binaryData")
_PLAIN: Final = re.compile(r"[\w.-]+")
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
                if (absent := _absent(kind, fields, script)) is not None:
                    yield _absent_key(script, each, reference, *absent)
                    return
                missing = next((key for key in ("name", "key") if key not in fields), "")
                if not fields or not missing or "<<" in fields:
                    continue
                where = script.where(each.offset + reference.start_mark.line)
                of = shortened(text_of(fields.get("name")), 40)
                message = f"{where}: {kind}{f' of {of}' if of else ''} has no {missing}: Kubernetes refuses the object"
                remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, kind, message, f"write {missing}: … below it")
                yield Remark(remark.finding, command=None)
                return


def _absent(kind: str, fields: Fields, script: Script) -> tuple[str, str, list[str]] | None:
    """The object's name, the key, and the keys that the object of the same text has."""
    name, key = text_of(fields.get("name")), text_of(fields.get("key"))
    if not name or not key or text_of(fields.get("optional")) == "true" or not _is_plain(name + key):
        return None
    named = [
        each
        for each in pod_objects(script)
        if each.kind == _HOLDERS[kind] and text_of(inner(each.fields, "metadata", "name")) == name
    ]
    if len(named) != 1 or named[0].templated or is_cut(script, named[0]):
        return None
    keys = [held for part in _PARTS for held in fields_of(named[0].fields.get(part))]
    return (name, key, keys) if keys and key not in keys and "<<" not in keys and all(map(_is_plain, keys)) else None


def _is_plain(text: str) -> bool:
    """Whether no template or variable is to fill it in."""
    return _PLAIN.fullmatch(text) is not None


def _absent_key(script: Script, each: PodObject, reference: Node, name: str, key: str, keys: list[str]) -> Remark:
    where = script.where(each.offset + reference.start_mark.line)
    message = f"{where}: {shortened(name, 40)} has no key {shortened(key, 40)}, only "
    message += f"{', '.join(shortened(held, 30) for held in keys[:3])}: CreateContainerConfigError"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, "key", message, f"write key: {shortened(keys[0], 40)}")
    return Remark(remark.finding, command=None)


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
