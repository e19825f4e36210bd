"""Values that Kubernetes refuses, in objects around the engine: a Secret's data, the restarts of a Job."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import PodObject, fields_of, inner, pod_objects, text_of
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_TOKEN: Final = re.compile(r"(?:hf_|sk-|nvapi-)[\w.-]+")
"""Keys as they are given out: none of them is base64, which begins otherwise and has no _ nor -."""
_FILLED: Final = re.compile(r"[<>{}$]|\.\.\.|\b(?:base64|your|change|replace)\b|xxx", re.IGNORECASE)
_TEMPLATES: Final = {
    "Job": ("spec", "template", "spec"),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
}
_RESTARTS: Final = "restartPolicy"


def refused_objects(case: Case) -> Iterator[Remark]:
    """The first of the text."""
    script = case.script
    if not script.objects or not is_first_server(case.commands, script):
        return
    for each in pod_objects(script):
        if each.templated:
            continue
        for remark, line in (*_of_secret(each), *_of_job(each)):
            finding = make_remark(
                remark[0], Code.INVALID_VALUE, remark[1], f"{script.where(each.offset + line)}: {remark[2]}", remark[3]
            ).finding
            yield Remark(finding, command=None)
            return


_Said = tuple[tuple[Severity, str, str, str], int]


def _of_secret(each: PodObject) -> Iterator[_Said]:
    if each.kind != "Secret":
        return
    for name, node in fields_of(each.fields.get("data")).items():
        text = text_of(node).strip()
        if not text or _is_base64(text) or (_FILLED.search(text) and not _TOKEN.fullmatch(text)):
            continue
        message = f"data of a Secret is base64, and that of {shortened(name, 40)} is not: illegal base64 data"
        yield (Severity.WARNING, "data", message, "write stringData in place of data"), node.start_mark.line


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _of_job(each: PodObject) -> Iterator[_Said]:
    if each.kind not in _TEMPLATES:
        return
    node = inner(each.fields, *_TEMPLATES[each.kind], _RESTARTS)
    if node is not None and text_of(node) == "Always":
        message = f"a {each.kind} takes Never or OnFailure: Kubernetes refuses Always"
        yield (Severity.WARNING, _RESTARTS, message, f"write {_RESTARTS}: Never"), node.start_mark.line
