"""An adapter that the server of the text loads, and that none of its requests asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import library_names as library
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.asked_server import calls_to, is_shown_to_fail
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_MODEL: Final = re.compile(r"[\"']?\bmodel\\?[\"']?\s*[:=]\s*\\?[\"'](?P<name>[^\"'\\\n]{1,120})")
_MODULES: Final = "--lora-modules"
_NAME: Final = "--served-model-name"
_LONGEST: Final = 1000


def adapter_not_asked(case: Case) -> Iterator[Remark]:
    """`--lora-modules support=/srv/lora`, and each request asks for the base model."""
    place = case.option(_MODULES)
    if case.base != library.BASE or place is None:
        return
    values = place.value if isinstance(place.value, tuple) else (place.value,)
    adapters = [text.strip("'\"").partition("=")[0] for text in values if isinstance(text, str) and "=" in text]
    if not adapters or any(not re.fullmatch(r"[\w.-]+", name) for name in adapters):
        return
    served = case.text(_NAME).strip("'\"") if case.option(_NAME) is not None else ""
    known, asked = {served or case.first.model.strip("'\"")}, []
    for call in calls_to(case):
        match = _MODEL.search(call.text) if call.kind in ("curl", "create", "post") else None
        if match is not None and not is_shown_to_fail(case, call.line, call.line + call.text.count("\n")):
            asked.append((call.line, match["name"]))
    if not asked or any(name not in known for _, name in asked):
        return
    words = re.compile("|".join(rf"(?<![\w/.-]){re.escape(name)}(?![\w/.-]|=)" for name in adapters))
    if any(words.search(line[:_LONGEST]) for line in case.script.lines):
        return  # it is asked for elsewhere
    message = (
        f"{case.script.where(asked[0][0])}: the request asks for {shortened(asked[0][1], 50)}, the base model, and the "
    )
    message += f"adapter {shortened(adapters[0], 40)} is not used: it has a name of its own"
    remark = make_remark(Severity.WARNING, Code.MODEL_NAME, "model", message, f"ask for {shortened(adapters[0], 40)}")
    yield replace(remark, command=None)
