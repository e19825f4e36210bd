"""`- NAME="value"` in a list of Compose: the quotes are part of the value, as YAML takes those around all alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_LIST: Final = re.compile(r"(?P<indent>[ \t]*)(?:environment|env):[ \t]*(?:#.*)?$")
_ENTRY: Final = re.compile(
    r"[ \t]*-[ \t]+(?P<name>[A-Za-z_]\w*)="
    r"(?:\"(?P<value>[^\"']*)\"|'(?P<other>[^\"']*)')[ \t]*(?:[ \t]#.*)?$"
)
_NEITHER: Final = re.compile(r"[ \t]*(?:#.*)?$")
_SHOWN: Final = 4


def quotes_in_variables(case: Case) -> Iterator[Remark]:
    """Paths, tokens and numbers that no program reads with quotes around them."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    found: list[tuple[int, re.Match[str]]] = []
    indent: int | None = None
    for number, text in numbered(script, 1, len(script.lines)):
        if _NEITHER.match(text):
            continue
        own = len(text) - len(text.lstrip())
        if (start := _LIST.match(text)) is not None:
            indent = len(start["indent"])
        elif indent is not None and (own < indent or not text.lstrip().startswith("-")):
            indent = None
        elif indent is not None and (entry := _ENTRY.match(text)) is not None:
            found.append((number, entry))
    if not found:
        return
    (number, first), names = found[0], [entry["name"] for _, entry in found]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    value = first["value"] if first["value"] is not None else first["other"]
    message = (
        f"{script.where(number)}: the quotes behind the sign are part of the value, as an entry of a list is taken "
    )
    message += f"as it stands: {', '.join(names[:_SHOWN])}{more}"
    remedy = f'write - {first["name"]}={shortened(value, 40)}, or {first["name"]}: "…" without the dash'
    yield Remark(make_remark(Severity.WARNING, Code.INVALID_VALUE, names[0], message, remedy).finding, command=None)
