"""Slips of single lines: an option behind a redirect, options of a launcher behind its script, and a name that is
looked for in a list of ids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Script
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.explain.shell.whole_lines import whole_lines
from moonpad.values.finding import Code, Severity

_REDIRECTED: Final = re.compile(r"(?:^|\s)(?P<sign>[12&]>>?)(?P<option>--[a-z][\w-]*)")
_STARTS_SCRIPT: Final = re.compile(
    r"(?:^|\s)torchrun[ ]+(?P<own>(?:-[^\n]*?[ ])?)(?P<script>[\w./${}-]+\.py)[\"']?[ ](?P<behind>[^\n]*)"
)
_SEVERAL: Final = re.compile(r"--nnodes[= ]+(?!1\b)\S")
_MEETS: Final = re.compile(r"(?P<option>--(?:node[-_]rank|master[-_]addr|rdzv[-_]endpoint))\b")
_LISTED: Final = re.compile(
    r"\b(?:docker|podman)[ ]+(?:ps|container[ ]+ls)[ ]+(?P<switches>-[a-eg-z]*q[a-eg-z]*(?:[ ]+-a)?|-a[ ]+-q)[ ]*\|[ ]*"
    r"grep[ ]+(?:-[a-zA-Z]+[ ]+)*[\"']?(?P<name>\^?(?:/?\$\{?\w+\}?|[A-Za-z][\w.-]*)\$?)[\"']?"
)
_ID: Final = re.compile(r"\$\{?\w*(?:id|ID|Id)\w*\}?|[0-9a-f]{6,}")


def slips_of_lines(case: Case) -> Iterator[Remark]:
    """`2>--output`, `torchrun --nnodes 2 train.py --node-rank 1`, `docker ps -q | grep vllm`."""
    if is_first(case.commands, case.script):
        yield from slips_in_lines(case.script)


def slips_in_lines(script: Script) -> Iterator[Remark]:
    """The first of a text."""
    if not any(">--" in line or "torchrun" in line or "grep" in line for line in script.lines):
        return
    for number, text in whole_lines(script):
        said = _of_redirect(text) or _of_launcher(text) or _of_list(text)
        if said is not None:
            where, message, remedy = said
            remark = make_remark(
                Severity.WARNING, Code.INVALID_VALUE, where, f"{script.where(number)}: {message}", remedy
            )
            yield Remark(remark.finding, command=None)
            return


def _of_redirect(text: str) -> tuple[str, str, str] | None:
    match = _REDIRECTED.search(text) if ">--" in text else None
    if match is None:
        return None
    message = (
        f"{match['sign']} writes into a file that is called {shortened(match['option'], 40)} here: the program is "
        "started without that option"
    )
    return match["sign"], message, f"end the redirect first: {match['sign']}&1, or a file"


def _of_launcher(text: str) -> tuple[str, str, str] | None:
    match = _STARTS_SCRIPT.search(text) if "torchrun" in text else None
    if match is None or not _SEVERAL.search(match["own"]) or _MEETS.search(match["own"]):
        return None
    option = _MEETS.search(match["behind"])
    if option is None:
        return None
    message = (
        f"{option['option']} stands behind {shortened(match['script'], 40)}, which gets it: torchrun itself knows no "
        "other node, and each waits for itself"
    )
    return option["option"], message, f"write it before {shortened(match['script'], 40)}"


def _of_list(text: str) -> tuple[str, str, str] | None:
    match = _LISTED.search(text) if "grep" in text else None
    if match is None or _ID.fullmatch(match["name"].strip("^$")) or _ID.fullmatch(match["name"]):
        return None
    name = shortened(match["name"], 40)
    message = f"{match['switches']} lists ids alone, and no name is found in them: the condition never holds"
    return match["switches"], message, f"write docker ps -aq --filter name={name}, or leave q out"
