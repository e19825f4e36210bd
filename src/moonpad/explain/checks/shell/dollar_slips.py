"""Variables of a script inside of YAML whose reader fills in `$NAME` itself, before any shell sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_Line = tuple[int, str]

_LITERAL: Final = re.compile(
    r"(?P<indent>[ \t]*)(?:-[ \t]+)*(?:(?P<key>[\w.-]+):[ \t]+)?[|>][-+0-9]{0,2}[ \t]*(?:#.*)?$"
)
_KEY: Final = re.compile(r"(?P<indent>[ \t]*)(?P<key>[\w.-]+):")
_RUN: Final = frozenset({"command", "entrypoint"})
_ASSIGNED: Final = re.compile(
    r"[ \t]*(?:(?:export|local|readonly|declare)[ \t]+)?(?P<name>[A-Za-z_]\w*)\+?=(?P<value>.*)"
    r"|[ \t]*for[ \t]+(?P<item>[A-Za-z_]\w*)[ \t]+in\b"
)
_READ: Final = re.compile(r"(?<![$\\])\$(?:\{(?P<braced>[A-Za-z_]\w*)(?P<rest>[^}]*)\}|(?P<name>[A-Za-z_]\w*))")
_ESCAPED: Final = re.compile(r"\$\$\{[A-Za-z_]\w*")
_SOURCES: Final = re.compile(r"[ \t]*(?:source|\.)[ \t]+[\"']?(?P<path>[\w./-]+)")
_SHORTEST: Final = 4
"""Letters of a word that a file's name and a variable's have in common."""


def filled_in_by_compose(case: Case) -> Iterator[Remark]:
    """`$GPUS` in a script of a Compose file that sets it: Compose puts the host's GPUS there, or nothing."""
    script = case.script
    if script.markdown or script.files or script.objects or not is_first(case.commands, script):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    tops = {text.partition(":")[0] for _, text in lines if text[:1].isalpha()}
    if "services" not in tops or "apiVersion" in tops:
        return
    for block in blocks_of_lines(lines, _RUN):
        inside = {number for number, _ in block}
        of_host = {name for number, text in lines if number not in inside for name in _names(text)}
        for name, number in own_variables(block).items():
            if name in of_host:
                continue
            message = (
                f"{script.where(number)}: Compose fills in ${name} before the shell runs, from the host, which has "
                "none of the script's own variables: it is empty, or its default"
            )
            remark = make_remark(
                Severity.WARNING, Code.INVALID_VALUE, name, message, f"write $${name}, and $${{{name}…}} with braces"
            )
            yield Remark(remark.finding, command=None)


def half_escaped(case: Case) -> Iterator[Remark]:
    """`$${COUNT}` and `${MARKER}` in one script of a manifest: with a substitution the second is lost, without one the
    first."""
    script = case.script
    if not script.objects or script.markdown or not is_first(case.commands, script):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    if not any(text.startswith("apiVersion:") for _, text in lines):
        return
    for block in blocks_of_lines(lines, frozenset()):
        escaped = next(((number, match) for number, text in block if (match := _ESCAPED.search(text))), None)
        plain = next(iter(own_variables(block, braced=True).items()), None) if escaped is not None else None
        if escaped is None or plain is None:
            continue
        name, number = plain
        message = (
            f"{script.where(number)} has ${{{name}}}, which the script sets, and {script.where(escaped[0])} has "
            f"{escaped[1][0]}}}: where variables are substituted (envsubst of Flux), the first becomes empty; where "
            "they are not, the second is the number of the process"
        )
        remark = make_remark(
            Severity.WARNING,
            Code.INVALID_VALUE,
            name,
            message,
            "write all variables of the script in one of the two ways",
        )
        yield Remark(remark.finding, command=None)
        return


def blocks_of_lines(lines: Sequence[_Line], keys: frozenset[str]) -> Iterator[list[_Line]]:
    """The texts of several lines, of these keys where some are given."""
    for at, (_, text) in enumerate(lines):
        match = _LITERAL.match(text)
        if match is None or (keys and (match["key"] or _key_above(lines, at)) not in keys):
            continue
        indent, block = len(match["indent"]), list[_Line]()
        for number, below in lines[at + 1 :]:
            if below.strip() and len(below) - len(below.lstrip()) <= indent:
                break
            block.append((number, below))
        yield block


def _key_above(lines: Sequence[_Line], at: int) -> str:
    """The key whose list an item belongs to."""
    indent = len(lines[at][1]) - len(lines[at][1].lstrip())
    for _, text in reversed(lines[:at]):
        match = _KEY.match(text)
        if match is not None and len(match["indent"]) <= indent:
            return match["key"]
    return ""


def own_variables(block: Sequence[_Line], *, braced: bool = False, plain: bool = False) -> dict[str, int]:
    """Variables that a script sets and then reads with one dollar, and the lines of the first reading. `braced`:
    `${NAME}` alone counts; `plain`: `${NAME}` and `$NAME`, as neither `${NAME:-8}`."""
    known, sourced = set[str](), set[str]()
    found: dict[str, int] = {}
    for number, text in block:
        if text.lstrip().startswith("#"):
            continue
        for match in _READ.finditer(text):
            name = match["braced"] or match["name"]
            if (braced and match["braced"] is None) or ((braced or plain) and match["rest"]):
                continue
            if name in known or (name.startswith("_") and sourced & {*name.lower().split("_")}):
                found.setdefault(name, number)
        if assigned := _ASSIGNED.match(text):
            name, value = assigned["name"] or assigned["item"], assigned["value"] or ""
            from_outside = rf"\$\{{{name}\}}" if braced else rf"\b{name}\b"
            if not re.search(from_outside, value):
                known.add(name)
        if source := _SOURCES.match(text):
            stem = source["path"].rpartition("/")[2].partition(".")[0].lower()
            sourced |= {word for word in re.split(r"[_-]", stem) if len(word) >= _SHORTEST}
    return found


def _names(text: str) -> Iterator[str]:
    return (match["braced"] or match["name"] for match in _READ.finditer(text))
