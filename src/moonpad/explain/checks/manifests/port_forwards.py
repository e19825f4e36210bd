"""`kubectl port-forward svc/NAME 8000:8000` to a port that the Service of that name does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import fields_of, inner, items_of, number_of, pod_objects, text_of
from moonpad.explain.commands import Script
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_FORWARDS: Final = re.compile(
    r"\b(?:kubectl|oc)[ ](?:[^|;&#\n]*?[ ])?port-forward[ ](?:[^|;&#\n]*?[ ])?(?:svc|services?)/"
    r"(?P<name>[a-z0-9][a-z0-9-]*)[ ]+"
    r"(?:\d+:)?(?P<port>\d{2,5})(?=[ \"'`&;)]|$)"
)


def forwarded_port(case: Case) -> Iterator[Remark]:
    """The first of a text; of Services that the text has twice nothing is said."""
    script = case.script
    if not is_first_server(case.commands, script) or not any("port-forward" in line for line in script.lines):
        return
    ports = _ports_of_services(script)
    for number, text in numbered(script, 1, len(script.lines)) if ports else ():
        match = _FORWARDS.search(text) if "port-forward" in text else None
        own = ports.get(match["name"], frozenset()) if match is not None else frozenset()
        if match is None or not own or int(match["port"]) in own:
            continue
        listed = ", ".join(map(str, sorted(own)))
        message = (
            f"{script.where(number)}: the Service {shortened(match['name'], 40)} has port {listed}, and not "
            f"{match['port']}: kubectl ends (does not have a service port)"
        )
        remark = make_remark(Severity.WARNING, Code.CONFLICT, "port-forward", message, f"write …:{min(own)}")
        yield Remark(remark.finding, command=None)
        return


def _ports_of_services(script: Script) -> Mapping[str, frozenset[int]]:
    """Empty for names whose ports are not all known."""
    found: dict[str, frozenset[int]] = {}
    for each in pod_objects(script):
        name = text_of(inner(each.fields, "metadata", "name"))
        if each.kind != "Service" or not name:
            continue
        listed = [number_of(fields_of(port).get("port")) for port in items_of(inner(each.fields, "spec", "ports"))]
        known = frozenset(port for port in listed if port is not None)
        found[name] = known if len(known) == len(listed) and not each.templated and name not in found else frozenset()
    return found
