"""Files of variables with `export` in them, which Docker and systemd do not read as a shell does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_READ: Final = re.compile(
    r"(?P<docker>(?<![\w-])--env-file)[ =]+[\"']?(?P<path>[\w./~-]+)|^[ \t]*EnvironmentFile=-?(?P<unit>[\w./~-]+)"
)
_DOCKER: Final = re.compile(r"\b(?:docker|podman|nerdctl)[ ]+(?:compose|run|create)\b")
_COMPOSE: Final = re.compile(r"\bdocker[ -]compose\b")
_EXPORT: Final = re.compile(r"[ \t]*export[ \t]+(?P<name>[A-Za-z_]\w*)=")
_FENCE: Final = re.compile(r"[ \t]*(?:```|~~~)")
_WRITES: Final = re.compile(r"\bcat[ \t]+(?:<<|>)|\btee[ \t]")


def exported_lines(case: Case) -> Iterator[Remark]:
    """`docker run --env-file kimi.env` and `EnvironmentFile=`, of a file with `export NAME=value`."""
    script = case.script
    if not is_first_server(case.commands, script) or not is_in_lines(_READ, script.lines, 1000):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    by_docker = is_in_lines(_DOCKER, script.lines, 1000) and not is_in_lines(_COMPOSE, script.lines, 1000)
    for _, text in lines:
        match = _READ.search(text)
        if match is None or (match["docker"] and not by_docker):
            continue
        path = match["path"] or match["unit"]
        found = _exported(lines, path.rpartition("/")[2])
        if found is None:
            continue
        number, name = found
        what = "the container is not started" if match["docker"] else "systemd passes over the line"
        message = f"{script.where(number)}: {shortened(path, 60)} is read without a shell, and `export {name}` is no "
        message += f"name of a variable: {what}"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, f"write {name}=VALUE")
        yield replace(remark, command=None)
        return


def _exported(lines: list[tuple[int, str]], name: str) -> tuple[int, str] | None:
    """The first line with `export` of the file of that name, which the line above its block names, or which a
    heredoc writes."""
    inside = named = False
    for at, (number, text) in enumerate(lines):
        if _FENCE.match(text):
            inside = not inside
            above = " ".join(each for _, each in lines[max(0, at - 2) : at])
            named = inside and _speaks(above, name) and "docker" not in above
            continue
        if inside and _WRITES.search(text):
            named = _speaks(text, name)
        elif text.strip() in ("EOF", "EOT", "END"):
            named = False
        match = _EXPORT.match(text) if inside and named else None
        if match is not None:
            return number, match["name"]
    return None


def _speaks(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) is not None and len(name) > 1
