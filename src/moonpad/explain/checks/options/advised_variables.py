"""Variables that a document advises in a sentence, and that the release which is judged no longer reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import versions
from moonpad.engines.foreign_names import ALL_DECLARED
from moonpad.explain.change_edits import which_read_it
from moonpad.explain.checks.check_case import Case
from moonpad.explain.manifests.option_sources import rulebook
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.explain.target_detection import Version
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import is_final, since

_ADVISED: Final = re.compile(
    r"\b(?:set|export|use|try|add|with|enable|disable)[ ]`(?:export[ ])?(?P<name>[A-Z][A-Z0-9_]{5,60})=[^`\s]{1,60}`",
    re.IGNORECASE,
)
_OF_SOME: Final = re.compile(
    r"\bv?\d+\.\d+\.\d+|\b(?:v0\.\d+|old|older|before|prior|until|earlier|below|no longer|removed|deprecated|legacy)\b"
    r"|\b(?:don[’']?t|not|never|avoid|instead of)(?: to)? (?:set|export|use|try|add|with|enable|disable)[ ]`",
    re.IGNORECASE,
)
"""A sentence about some releases, or one that speaks against it."""
_SENTENCE: Final = re.compile(r"(?<=[.!?])[ ]+(?=[A-Z*_`])")


def advised_variables(case: Case) -> Iterator[Remark]:
    """`set VLLM_USE_V1=0 to use the V0 engine`, where V0 is gone. The first of a document."""
    script, recorded = case.script, versions(case.engine.program)
    begins = ALL_DECLARED.get(case.engine.name)
    if not script.markdown or not begins or not recorded or not is_first_server(case.commands, script):
        return
    if case.commands[0].fork or (case.version and not (is_final(case.version) and since(case.version, recorded[0]))):
        return
    book = rulebook(case.engine.program, Version(case.version, ""))
    if book is None:
        return
    dead = {change.flag: change for change in book.now if change.kind == "dead-env"}
    for number, text in numbered(script, 1, len(script.lines)):
        if "=" not in text or "`" not in text:
            continue
        for sentence in _SENTENCE.split(text):
            advised = _ADVISED.search(sentence)
            change = dead.get(advised["name"]) if advised is not None else None
            if change is None or change.flag in case.commands[0].env or _OF_SOME.search(sentence):
                continue
            message = change.message if case.version else which_read_it(change, book)
            said = f"{script.where(number)} advises {change.flag}: {message}"
            remark = make_remark(Severity.WARNING, Code.DEAD_ENV, change.flag, said, change.remedy)
            yield Remark(remark.finding, command=None)
            return
