"""A server that is copied out of its build without the shared libraries that the build made beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first
from moonpad.explain.shell.whole_lines import whole_lines
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_BUILT: Final = re.compile(r"\bcmake[ ](?:[^\n;&|]*[ ])?--build\b")
_FILE: Final = r"(?P<program>[\w./-]*\bbuild[\w.-]*/bin/(?P<name>[a-z][\w-]+))"
_COPIED: Final = re.compile(
    rf"\b(?:cp|install|mv)[ ](?:-[\w=]+[ ](?:\d+[ ])?)*{_FILE}[ ][^\n;&|]*?(?:[;&|]|$)(?P<behind>.*)", re.DOTALL
)
_FROM_STAGE: Final = re.compile(rf"[ \t]*COPY[ ](?:--\S+[ ])*--from=\S+[ ](?:--\S+[ ])*{_FILE}[ ]\S")
_REMOVED: Final = r"\brm[ ]-[rf]{1,2}[ ](?:[^\n;&|]*[ ])?[\"']?%s/?(?=[\s\"';&|]|$)"
_ROOT_REMOVED: Final = re.compile(r"\brm[ ]-[rf]{1,2}[ ]/(?:build|src|tmp|opt)\b")
_WHOLE: Final = re.compile(
    r"BUILD_SHARED_LIBS(?::BOOL)?=(?:OFF|0|NO|FALSE)|GGML_STATIC|\.so\b|\.so[*.]|\bldconfig\b|LD_LIBRARY_PATH|RPATH"
    r"|--install\b|\b(?:make|ninja)[ ]install\b|patchelf|/bin/\*|build[\w.-]*/bin/?[ ]|/lib(?:64)?/?[ ]",
    re.IGNORECASE,
)
"""What links the libraries in, brings them along or tells where they are."""
_PINNED: Final = re.compile(
    r"\bgit[ ][^\n;&|]*(?:checkout|reset|--branch|[ ]-b)[ =]|\bARG\b[^\n]*(?:VERSION|TAG|COMMIT|REF)"
)
"""Builds of before the libraries were shared may be meant."""
_LONGEST: Final = 4000


def program_without_libraries(case: Case) -> Iterator[Remark]:
    """`cp build/bin/server /usr/local/bin/ && rm -rf /build`, or `COPY --from=build /app/build/bin/server /app/`."""
    script = case.script
    if not case.engine.facts.gguf_only or case.commands[0].fork or not is_first(case.commands, script):
        return
    script.budget.work(len(script.lines), "its builds")
    if not is_in_lines(_BUILT, script.lines, _LONGEST):
        return
    lines = [(number, text[:_LONGEST]) for number, text in whole_lines(script)]
    if any(_PINNED.search(text) or _WHOLE.search(_without_folders(text)) for _, text in lines):
        return
    for number, text in lines:
        copied = _COPIED.search(text)
        removed = copied is not None and _is_removed(copied["program"], copied["behind"])
        match = copied if removed else _FROM_STAGE.match(text)
        if match is None:
            continue
        message = f"{script.where(number)}: {match['name']} is taken out of its build alone, and a build links it with "
        message += "shared libraries that lie beside it, unless told otherwise: the start ends in error while loading "
        message += "shared libraries"
        remedy = "build with -DBUILD_SHARED_LIBS=OFF, or take the *.so* of build/bin along and run ldconfig"
        remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, match["name"], message, remedy)
        yield replace(remark, command=None, stops=True)
        return


def _without_folders(text: str) -> str:
    """Without where packages of the system lie: `rm -rf /var/lib/apt/lists/*`."""
    return re.sub(r"/var/lib/\S*|/usr/lib/\S*", "", text)


def _is_removed(program: str, behind: str) -> bool:
    """Whether the folder of the build, or one above it, is gone after that; a path of no root may be below any."""
    folder = program.rpartition("/bin/")[0]
    above = [folder]
    while "/" in above[-1].strip("/"):
        above.append(above[-1].rpartition("/")[0])
    if any(each and re.search(_REMOVED % re.escape(each), behind) for each in above):
        return True
    return not program.startswith("/") and _ROOT_REMOVED.search(behind) is not None
