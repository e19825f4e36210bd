"""Models that are not planned whose configuration only the code of their repository reads. Of the family that is, the
check `remote-code` says it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.other_models import in_other_classes, other_model
from moonpad.engines import foreign_names as names
from moonpad.engines.own_code_names import TRUST_OPTION
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import is_final, order, since

_ELSEWHERE: Final = ("--hf-config-path", "--config-format", "--model-impl")
"""Options that read another configuration, or read it in another way."""
_REPOSITORY: Final = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


def own_code(case: Case) -> Iterator[Remark]:
    """Nothing but that code knows the type in config.json, and the engine was not told to run it."""
    option, written = TRUST_OPTION.get(case.base), case.model_named
    if option is None or case.checkpoint is not None or not written or unresolved(written) or case.open_ended:
        return
    known = other_model(written)
    span = known.own_code.get(case.base) if known is not None else None
    if known is None or span is None or in_other_classes(written) or written.casefold().endswith("gguf"):
        return
    first, last = span
    if case.version and not (since(case.version, first) and order(case.version) <= order(last)):
        return
    if case.option(*_ELSEWHERE) is not None or not all(word.text for word in case.commands[0].argv):
        return
    command = case.commands[0]
    told = f"{case.engine.facts.title} {case.version}".rstrip()
    message = (
        f"neither {told} nor Transformers has a class for the configuration of {known.title}: without {option} the "
        f"code that {shortened(written)} brings is not run, and the start ends (Failed to load the model config)"
    )
    sure = case.base == names.EXPERTS_BY_VARIABLE and case.engine.name == case.base and bool(case.version)
    sure = sure and is_final(case.version) and _REPOSITORY.fullmatch(written) is not None
    for number, (each, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
        if reading.serving.trust_remote_code or is_fragment(each):
            continue
        severity = Severity.ERROR if sure and not (command.custom or command.fork) else Severity.WARNING
        edits = [Edit(len(each.argv), 0, (option,))]
        remark = make_remark(severity, Code.MISSING_FLAG, option, message, f"add {option}", edits=edits)
        yield replace(remark, command=number)


OWN_CODE_CHECKS: Final = (own_code,)
