"""The label by which a gateway of pods finds a model, against the name that the server in the pod answers to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.foreign_names import EXPERTS_BY_VARIABLE as COMPARES_NAMES
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import own_container
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_LABEL: Final = "model.aibrix.ai/name"
_GIVEN: Final = re.compile(rf"[ \t-]*[\"']?{re.escape(_LABEL)}[\"']?:[ \t]*(?P<name>[^\s#]+)")
_OPEN: Final = re.compile(r"[<>{}$*]")
_LORA: Final = ("--enable-lora", "--lora-modules")


def label_of_gateway(case: Case) -> Iterator[Remark]:
    """It sends what asks for the label's value here, and the server knows another name."""
    if case.base != COMPARES_NAMES or case.open_ended or case.option(*_LORA) is not None:
        return
    found = own_container(case)
    if found is None:
        return
    holder = found[0]
    lines = enumerate(case.script.lines[holder.first - 1 : holder.last], holder.first)
    given = [(line, match["name"].strip("\"'")) for line, text in lines if (match := _GIVEN.match(text))]
    place = case.option("--served-model-name")
    values = (
        place.value if place is not None and isinstance(place.value, tuple) else (case.text("--served-model-name"),)
    )
    known = [text.strip("'\"") for text in values] if place is not None else [case.first.model.strip("'\"")]
    if not given or len({name for _, name in given}) > 1 or not all(known):
        return
    line, name = given[0]
    if name in known or _OPEN.search(name) or any(unresolved(each) or _OPEN.search(each) for each in known):
        return
    message = (
        f"{case.script.where(line)}: the gateway sends requests for {shortened(name, 50)} here ({_LABEL}), and the "
    )
    message += f"server is called {shortened(known[0], 50)}: it answers 404"
    remedy = f"add --served-model-name {shortened(name, 50)}, or write the same name in both"
    remark = make_remark(Severity.WARNING, Code.MODEL_NAME, _LABEL, message, remedy)
    yield replace(remark, command=None)
