"""Copies of a server that are told one name between them, by which the other side of a transfer knows them apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.value_checks import as_json, unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import inner, own_container, text_of
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.roles import ROLES
from moonpad.values.finding import Code, Severity

_CONNECTOR: Final = "--kv-transfer-config"
_KEY: Final = "engine_id"
_KINDS: Final = ("Deployment", "StatefulSet", "ReplicaSet")
_LONGEST: Final = 200


def shared_engine_id(case: Case) -> Iterator[Remark]:
    """An engine takes an id of its own where none is given."""
    written, place = case.text(_CONNECTOR), case.option(_CONNECTOR)
    if place is None or f'"{_KEY}"' not in written or unresolved(written):
        return
    document = as_json(written)
    given = document.get(_KEY) if isinstance(document, dict) else None
    copies = _workers(case) or _replicas(case)
    if not isinstance(given, str) or not given or unresolved(given) or copies < 2:
        return
    message = f"{copies} copies get the {_KEY} {given[:60]}: the other side takes them for one"
    yield make_remark(
        Severity.WARNING, Code.CONFLICT, _CONNECTOR, message, f"leave {_KEY} out: each takes its own", at=place.index
    )


def _workers(case: Case) -> int:
    """`prefill_workers: 2` of a recipe, of the command's role; 0 where none says it."""
    role = case.commands[0].role
    if role not in ROLES:
        return 0
    case.script.budget.work(len(case.script.lines), "the copies of its text")
    counted = re.compile(rf"[ \t]*[\"']?{role}_workers[\"']?[ \t]*:[ \t]*(\d{{1,3}})[ \t]*(?:#.*)?,?")
    found = [match for line in case.script.lines if (match := counted.fullmatch(line[:_LONGEST]))]
    return int(found[0][1]) if len(found) == 1 else 0


def _replicas(case: Case) -> int:
    """Of the object of Kubernetes that it stands in; 0 where none says it."""
    found = own_container(case)
    if found is None or found[0].templated or found[0].kind not in _KINDS:
        return 0
    return whole(text_of(inner(found[0].fields, "spec", "replicas"))) or 0
