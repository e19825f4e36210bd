"""Weights that a script looks for before it starts, and other ones that it loads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_TEST: Final = re.compile(
    r"(?:\[\[?[ \t]+|\btest[ \t]+)(?:![ \t]+)?-[fers][ \t]+(?P<quote>[\"']?)(?P<path>[^\s\"'\]]{1,300}\.gguf)(?P=quote)"
    r"(?:[ \t]+\]|[ \t]*(?:$|[;&|]))",
    re.IGNORECASE,
)
_FENCE: Final = re.compile(r"[ \t>]*(?:`{3,}|~{3,})")
_LOADED_BESIDE: Final = re.compile(r"mmproj|draft|lora|embed|rerank|adapter", re.IGNORECASE)
_BITS: Final = re.compile(
    r"[-_.](?:ud[-_])?(?:i?q\d\w*|tq\d_\d|bf16|f16|mxfp4\w*)|-\d{5}-of-\d{5}|\.gguf$", re.IGNORECASE
)
_ABOVE: Final = 300
_LONGEST: Final = 500


def guarded_file(case: Case) -> Iterator[Remark]:
    """`[ ! -f model-Q2_K.gguf ] && exit 1` above a start of `model-Q4_K_M.gguf`."""
    place = case.option("--model")
    if not case.engine.facts.gguf_only or place is None or not isinstance(place.value, str):
        return
    path = place.value.strip("'\"")
    name = path.rpartition("/")[2]
    if unresolved(path) or not name.casefold().endswith(".gguf"):
        return
    lines = _above(case)
    case.script.budget.work(len(lines), "the files that it tests")
    tested = {match["path"]: number for number, line in lines for match in _TEST.finditer(line)}
    servers = [command for command in case.script.commands if command.program != "other"]
    case.script.budget.work(sum(len(command.words) for command in servers), "the files that it tests")
    used = {word.text.rpartition("/")[2] for command in servers for word in command.words}
    others = {each.rpartition("/")[2]: number for each, number in tested.items() if not _LOADED_BESIDE.search(each)}
    if len(others) != 1 or name in others:
        return
    ((other, number),) = others.items()
    if "$" in other or other in used or _stem(other) != _stem(name):
        return
    message = (
        f"{case.script.where(number)} tests for {shortened(other, 80)}, and what is loaded is {shortened(name, 80)}: "
    )
    message += "the test passes without the file that the server needs, and where only the tested one is there it ends"
    remedy = "test for the file that is loaded, or load the one that is tested for"
    yield make_remark(Severity.WARNING, Code.CONFLICT, place.written, message, remedy, at=place.index)


def _above(case: Case) -> Sequence[tuple[int, str]]:
    """The lines of the same script above the start, with their numbers."""
    found: list[tuple[int, str]] = []
    line = case.commands[0].line
    for number in range(line - 1, max(0, line - _ABOVE), -1):
        text = case.script.lines[number - 1][:_LONGEST]
        if case.script.markdown and _FENCE.match(text):
            break
        if not text.lstrip().startswith("#"):
            found.append((number, text))
    return found


def _stem(name: str) -> str:
    """Of a file, whatever its bits and its parts are."""
    return _BITS.sub("", name).casefold()
