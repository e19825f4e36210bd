"""What programs that fetch packages and weights do not take: two addresses behind an option of pip, and the address of
a repository where its name is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_TAKES_MORE: Final = {"--index-url": "--extra-index-url"}
_TWO: Final = re.compile(
    r"(?P<option>--extra-index-url|--index-url|--find-links)[ =]+[\"']?https?://[^\s\"'`]{3,200}[\"']?[ \t]+"
    r"[\"']?https?://(?![^\s\"'`]*\.(?:whl|zip|tar\.gz|tgz)\b)[^\s\"'`]{3,200}"
)
_DOWNLOAD: Final = re.compile(
    r"\b(?P<program>huggingface-cli|hf)[ ]+download[ ]+(?:--[a-z][a-z-]*[ ]+)?[\"']?https?://(?:huggingface\.co|hf-mirror\.com)/"
    r"(?P<name>[\w.-]{1,60}/[\w.-]{1,100})(?=[\"'\s\\]|/?$)"
)
_PIP: Final = re.compile(r"\bpip3?\b.*\binstall\b")
_COMMENT: Final = re.compile(r"\s*(?:#|//)")
_ABOVE: Final = 6


def second_index(case: Case) -> Iterator[Remark]:
    """`--extra-index-url A B`: B is a requirement of its own, and what lies there is no package."""
    script = case.script
    if not is_first(case.commands, script):
        return
    for number, text in numbered(script, 1, len(script.lines)):
        match = _TWO.search(text) if "://" in text and not _COMMENT.match(text) else None
        if match is None or not _of_pip(script.lines[max(0, number - _ABOVE) : number]):
            continue
        option = match["option"]
        message = (
            f"{script.where(number)}: {option} takes one address, and pip tries to install the second as a package"
        )
        remedy = f"write {_TAKES_MORE.get(option, option)} before the second too"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, option, message, remedy)
        yield Remark(remark.finding, command=None)
        return


def _of_pip(lines: tuple[str, ...] | list[str]) -> bool:
    """Whether the last line belongs to an installation by pip."""
    at = len(lines) - 1
    while at > 0 and lines[at - 1].rstrip().endswith("\\"):
        at -= 1
    return any(_PIP.search(line) for line in lines[at:])


def download_by_address(case: Case) -> Iterator[Remark]:
    """`hf download https://huggingface.co/zai-org/GLM-4.5-Air`: the name of the repository is asked for."""
    script = case.script
    if not is_first(case.commands, script):
        return
    for number, text in numbered(script, 1, len(script.lines)):
        match = _DOWNLOAD.search(text) if "download" in text and not _COMMENT.match(text) else None
        if match is None:
            continue
        name = match["name"]
        message = (
            f"{script.where(number)}: {match['program']} download takes the repository's name, and an address ends it"
        )
        message += " (HFValidationError: Repo id must be in the form)"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, match["program"], message, f"write {name}")
        yield Remark(remark.finding, command=None)
        return
