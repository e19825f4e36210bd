"""The file of options that a guide shows and starts the server with: its keys are the server's options."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.engines.foreign_names import EXPERTS_BY_VARIABLE
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_FENCE: Final = re.compile(r"[ \t]*(?:`{3}|~{3})(?P<kind>\w*)")
_KEY: Final = re.compile(r"(?P<key>[A-Za-z][\w.-]*):(?:[ \t]+(?P<value>\S.*?))?[ \t]*")
_GLUED: Final = re.compile(
    r"(?P<key>[a-z][a-z0-9-]*-[a-z0-9-]+)(?::(?P<value>[^\s/].*)|[ \t]+(?P<other>[\d.]+|true|false))"
)
_TEXTS: Final = re.compile(r"[\"'](?:yes|true|on|1|no|false|off)[\"']", re.IGNORECASE)
_ALIKE: Final = 0.75
_LONGEST: Final = 200


def keys_of_server_file(case: Case) -> Iterator[Remark]:
    """`tensor-paralel-size: 4`, `max-model-len:4096` and a switch with a text."""
    name = case.text("--config").strip("'\"").rpartition("/")[2]
    options = option_set(case.commands[0].program, case.version or None)
    if case.base != EXPERTS_BY_VARIABLE or options is None or not name.endswith((".yaml", ".yml")):
        return
    script = case.script
    script.budget.work(len(script.lines), "its files of options")
    known = [option.name for option in options.options]
    for number, text in _lines_of(script.lines, name) if script.markdown else ():
        key = _KEY.fullmatch(text)
        found: tuple[str, str, str] | None = None
        if (glued := _GLUED.fullmatch(text)) is not None and options.named(f"--{glued['key']}") is not None:
            message = f"YAML wants a colon and a blank between {glued['key']} and its value: the file is not read"
            found = glued["key"], message, f"write {glued['key']}: {(glued['value'] or glued['other']).strip()}"
        elif key is not None:
            flag = "--" + key["key"].replace("_", "-")
            option = options.named(flag) or options.named(f"--{key['key']}") or options.named(f"-{key['key']}")
            near = difflib.get_close_matches(flag, known, n=1, cutoff=_ALIKE) if option is None else []
            if near and "." not in flag and not any(each.startswith(flag) for each in known):
                message = f"the server has no option {flag}, and each key of this file is one of its options: it ends"
                found = key["key"], message, f"write {near[0].removeprefix('--')}"
            elif option is not None and option.nargs == "0" and _TEXTS.fullmatch(key["value"] or ""):
                message = f"{key['key']} is a switch, and a text in quotes is handed on as a word of its own: it ends"
                found = key["key"], message, f"write {key['key']}: true, without quotes"
        if found is not None:
            where, message, remedy = found
            line = script.where(number)
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, shortened(where), f"{line}: {message}", remedy)
            yield replace(remark, command=None)
            return


def _lines_of(lines: Sequence[str], name: str) -> Iterator[tuple[int, str]]:
    """Lines without indentation of the block that names the file, in its first line or right above."""
    inside, named, above = False, False, ""
    for number, line in enumerate(lines, 1):
        text = line[:_LONGEST].rstrip()
        fence = _FENCE.match(text)
        if fence is not None:
            inside = not inside
            named = inside and fence["kind"] in ("yaml", "yml") and name in above
            above = ""
            continue
        if inside and text.startswith("#") and name in text:
            named = True
        elif inside and named and text and not text.startswith(("#", " ", "\t", "-")):
            yield number, text
        elif not inside and text:
            above = text
