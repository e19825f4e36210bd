"""Tests of a script by which a switch of parallelism is on for every size."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_TEST: Final = re.compile(
    r"[ \t]*(?:el)?if[ \t]+(?:\[\[?[ \t]+[\"']?\$\{?(?P<name>\w+)\}?[\"']?[ \t]+"
    r"(?P<sign>-ge[ \t]+[\"']?1|-gt[ \t]+[\"']?0)"
    r"[\"']?[ \t]+\]|\(\([ \t]*\$?\{?(?P<other>\w+)\}?[ \t]*(?P<compares>>=[ \t]*1|>[ \t]*0)[ \t]*\)\))"
)
_SIZE: Final = re.compile(r"(?:\w+_)?(?:EP|EXPERT_PARALLEL)(?:_SIZE)?", re.IGNORECASE)
_SWITCH: Final = re.compile(r"--enable-(?:expert-parallel|ep)(?![\w-])")
_ENDS: Final = re.compile(r"[ \t]*(?:else|elif|fi)\b")
_MOST: Final = 6
_LONGEST: Final = 500


def size_of_one(case: Case) -> Iterator[Remark]:
    """`if [ "$EP_SIZE" -ge 1 ]` before `--enable-expert-parallel`: a size of 1 means that there is none."""
    script = case.script
    if script.markdown or not is_first_server(case.commands, script):
        return
    script.budget.work(len(script.lines), "its tests")
    lines = [line[:_LONGEST] for line in script.lines]
    for number, line in enumerate(lines, 1):
        match = _TEST.match(line)
        name = (match["name"] or match["other"]) if match is not None else ""
        if match is None or not _SIZE.fullmatch(name) or _may_be_none(name, lines):
            continue
        switch = next((found[0] for text in _body(lines[number:]) if (found := _SWITCH.search(text))), "")
        if not switch:
            continue
        sign = match["sign"] or match["compares"]
        message = (
            f"{script.where(number)}: {sign} holds for every size, so that {switch} is on where {name} is 1, which "
        )
        message += "means no such group"
        remedy = (
            f"write {sign.replace('-ge', '-gt').replace('>=', '>')}" if "1" in sign else "compare with 1 in place of 0"
        )
        remark = make_remark(Severity.WARNING, Code.CONFLICT, f"{name} {sign}", message, remedy)
        yield replace(remark, command=None)
        return


def _body(below: Sequence[str]) -> Iterator[str]:
    for text in below[:_MOST]:
        if _ENDS.match(text):
            return
        yield text


def _may_be_none(name: str, lines: Sequence[str]) -> bool:
    """Whether 0, or nothing, is a size that the script knows."""
    known = re.compile(rf"\b{name}(?::?[-=]+|[ \t]*(?:==|-eq|-gt|-ne|!=)[ \t]*|\}}?\"?[ \t]+-(?:eq|ne)[ \t]+)[\"']?0\b")
    return any(known.search(line) for line in lines)
