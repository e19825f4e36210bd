"""An option that hangs on the value before it, for want of a blank: `--model-path org/name--trust-remote-code`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_GLUED: Final = re.compile(r"(?P<value>[^\s-][^\s{}\[\]%]*?)(?P<flag>--[a-z]+(?:-[a-z0-9]+)+)(?P<own>=\S*)?", re.ASCII)
"""Options of one word alone may be the end of a name, `models--org--model`. `%%A%%--flag` is a part of a template."""
_LONGEST: Final = 400


def glued_option(case: Case) -> Iterator[Remark]:
    """A value or the model's name that ends in the name of an option of this engine."""
    options = option_set(case.engine.program, case.version or None)
    if options is None:
        return
    parsed = case.first.parsed
    values = [(each.index, each.length, each.written, each.value) for each in parsed.occurrences if not each.problem]
    for at, length, written, value in (*values, *((at, 1, "", text) for at, text in parsed.positionals)):
        if not isinstance(value, str) or len(value) > _LONGEST:
            continue
        glued = _GLUED.fullmatch(value.strip("'\""))
        if glued is None or unresolved(glued["value"]) or options.named(glued["flag"]) is None:
            continue
        name, flag = shortened(glued["value"], 60), glued["flag"]
        message = f"a blank is missing between {name} and {flag}: the shell makes one word of them"
        words = [written, glued["value"], f"{flag}{glued['own'] or ''}"]
        edits = [Edit(at, length, tuple(word for word in words if word))]
        remedy = f"write {' '.join(word for word in (written, name, flag) if word)}"
        where = written or name
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, where, message, remedy, at=at, edits=edits)


GLUED_CHECKS: Final = (glued_option,)
