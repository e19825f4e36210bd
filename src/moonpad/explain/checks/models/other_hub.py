"""Repositories that lie at ModelScope, which an engine asks only where a variable says so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.models import find_model
from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.draft_targets import draft_named
from moonpad.explain.checks.set_elsewhere import may_be_set
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_HUB: Final = "ModelScope"
_REPOSITORY: Final = re.compile(r"\w[\w.-]*/[\w.-]+")


def hub_of_repository(case: Case) -> Iterator[Remark]:
    """`Eco-Tech/Kimi-K2.5-W4A8` without the variable. A note: it may lie in the cache, or the host may set it."""
    variable, written = names.HUB_SWITCHES.get(case.base, ""), case.first.model.strip("'\"")
    model = find_model(written) if variable and written.count("/") == 1 else None
    if model is None or model.hub != _HUB or model.id.casefold() != written.casefold():
        return
    offline = case.commands[0].env.keys() & {variable, "HF_HUB_OFFLINE", "HF_ENDPOINT", "TRANSFORMERS_OFFLINE"}
    if offline or may_be_set(case, [variable]):
        return
    message = f"{model.id} lies at {_HUB}: without {variable} it is looked for at Hugging Face, unless it is cached"
    remedy, draft = f"set {variable}=true", draft_named(case.first)
    if draft is not None and _REPOSITORY.fullmatch(draft[1]):
        remedy += ", and fetch the draft into a folder: it is looked for there too"
    remark = make_remark(Severity.NOTE, Code.MISSING_FLAG, variable, message, remedy)
    yield replace(remark, sets=((variable, "true"),))
