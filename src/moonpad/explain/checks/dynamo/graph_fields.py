"""Fields of a DynamoGraphDeployment that its schema refuses or drops: words, kinds of values, keys of resources."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import partial
from typing import Final

from yaml import MappingNode, Node, ScalarNode

from moonpad.engines import graph_names as names
from moonpad.engines.surrounding_names import GRAPH
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import (
    Fields,
    PodObject,
    fields_of,
    inner,
    items_of,
    pod_objects,
    text_of,
)
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_TAG: Final = "tag:yaml.org,2002:"
_ALIKE: Final = 0.75
_warning = partial(make_remark, Severity.WARNING)


def graph_fields(case: Case) -> Iterator[Remark]:
    """Told once for the text, with its first server."""
    if not is_first_server(case.commands, case.script):
        return
    for each in pod_objects(case.script):
        version = text_of(each.fields.get("apiVersion"))
        if each.kind == GRAPH and not each.templated and version == names.VERSION:
            yield from _of_graph(case, each)


def _of_graph(case: Case, each: PodObject) -> Iterator[Remark]:
    spec = fields_of(each.fields.get("spec"))
    framework = spec.get(names.FRAMEWORK)
    written = text_of(framework)
    if framework is not None and written and not unresolved(written) and written not in names.FRAMEWORKS:
        message = f"{shortened(written, 40)} is none of {', '.join(names.FRAMEWORKS)}: the API refuses the object"
        near = names.SPELLINGS.get(written.casefold().replace("-", "").replace("_", ""), "")
        remedy = f"write {near}" if near else "write one of them"
        yield _placed(case, each, framework, Code.INVALID_VALUE, names.FRAMEWORK, message, remedy)
    yield from _envs(case, each, spec)
    claims = _names(spec.get("pvcs"))
    for name, node in fields_of(spec.get("services")).items():
        yield from _of_service(case, each, name, fields_of(node))
        yield from _mounts(case, each, fields_of(node), claims)


def _of_service(case: Case, each: PodObject, name: str, service: Fields) -> Iterator[Remark]:
    kind = service.get("componentType")
    written = text_of(kind)
    if kind is not None and written and not unresolved(written) and written not in names.COMPONENTS:
        near = next(iter(get_close_matches(written.casefold()[:40], names.COMPONENTS, 1, _ALIKE)), None)
        if near is not None:
            message = (
                f"{shortened(name, 40)} is of the kind {shortened(written, 40)}, which the operator does not know: it "
            )
            message += "gives it no ports and probes of its own"
            yield _placed(case, each, kind, Code.INVALID_VALUE, "componentType", message, f"write {near}")
    replicas = service.get("replicas")
    if isinstance(replicas, ScalarNode) and replicas.tag == f"{_TAG}str" and replicas.value.isdigit():
        message = "replicas takes a number, and this one is a text: the API refuses the object"
        yield _placed(case, each, replicas, Code.INVALID_VALUE, "replicas", message, "write it without quotes")
    yield from _envs(case, each, service)
    for part in ("limits", "requests"):
        for key, node in fields_of(inner(service, "resources", part)).items():
            if key in names.RESOURCES:
                if key != "custom" and isinstance(node, ScalarNode) and node.tag == f"{_TAG}int":
                    message = f"{key} takes a text here, and {text_of(node)} is a number: the API refuses the object"
                    remedy = f'write {key}: "{text_of(node)}"'
                    yield _placed(case, each, node, Code.INVALID_VALUE, f"resources.{part}.{key}", message, remedy)
                continue
            if unresolved(key) or key == "<<":
                continue
            message = (
                f"resources.{part} has no {shortened(key, 40)} here: the field is refused or dropped, and the worker "
            )
            message += "gets nothing by it"
            remedy = 'write gpu: "8"' if "gpu" in key.casefold() else f"write it under {part}.custom"
            yield _placed(case, each, node, Code.UNKNOWN_FLAG, f"resources.{part}", message, remedy)


def _mounts(case: Case, each: PodObject, service: Fields, claims: set[str]) -> Iterator[Remark]:
    """A mount of the container whose volume the pod does not have, where it has others."""
    pod = fields_of(service.get("extraPodSpec"))
    volumes = _names(pod.get("volumes"))
    known = volumes | claims | _names(service.get("volumeMounts"))
    for mount in map(fields_of, items_of(inner(pod, "mainContainer", "volumeMounts"))):
        name = text_of(mount.get("name"))
        if volumes and name and name not in known and not unresolved(name):
            message = f"the pod has no volume {shortened(name, 40)}: Kubernetes refuses it"
            remedy = "name it under volumes of extraPodSpec"
            yield _placed(case, each, mount["name"], Code.CONFLICT, "volumeMounts", message, remedy)
            return


def _names(node: Node | None) -> set[str]:
    return {text_of(fields_of(each).get("name")) for each in items_of(node)}


def _envs(case: Case, each: PodObject, fields: Fields) -> Iterator[Remark]:
    node = fields.get("envs")
    if isinstance(node, MappingNode) and not items_of(node) and node.value:
        message = "envs is a list of name and value, and this is a table: the API refuses the object"
        yield _placed(case, each, node, Code.INVALID_VALUE, "envs", message, "write - name: … and value: … for each")


def _placed(case: Case, each: PodObject, node: Node, code: Code, where: str, message: str, remedy: str) -> Remark:
    line = case.script.where(each.offset + node.start_mark.line)
    return Remark(_warning(code, where, f"{line}: {message}", remedy).finding, command=None)
