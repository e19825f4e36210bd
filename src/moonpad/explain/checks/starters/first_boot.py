"""What a machine does when it boots for the first time: cloud-init's user data, and Terraform's templates of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_KEYS: Final = re.compile(r"(?:runcmd|bootcmd|write_files|package_update|packages)[ \t]*:")
_HEADER: Final = re.compile(r"#cloud-config\b")
_BROKEN: Final = re.compile(r"[ \t]*#+[ \t]*cloud-?config[ \t]*$", re.IGNORECASE)
_RUN: Final = re.compile(r"(?:runcmd|bootcmd)[ \t]*:[ \t]*$")
_SOURCE: Final = re.compile(r"[ \t]*-[ \t]+[\"']?(?:[^|>]*&&[ \t]*)?source[ \t]+\S")
_SH_IS_BASH: Final = re.compile(r"\b(?:yum|dnf|rhel|rocky|centos|fedora|amazon linux|al2023|amzn)\b", re.IGNORECASE)
_RESOURCE: Final = re.compile(r"^[ \t]*(?:resource|data|locals|module)[ \t]*(?:\"|\{)")
_HEREDOC: Final = re.compile(r"[=(][ \t]*<<[-~]?(?P<mark>[A-Z_a-z]\w{0,40})[ \t]*$")
_FILLED: Final = re.compile(r"(?<!\$)\$\{[ ]*(?P<name>[A-Za-z_]\w*)[ ]*(?::-[^}]*)?\}")
_SET: Final = re.compile(r"[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)=")
_LONGEST: Final = 1000


def cloud_config_header(case: Case) -> Iterator[Remark]:
    """`# cloud-config` in the first line: cloud-init knows its file by `#cloud-config` alone."""
    lines = case.script.lines
    if not is_in_lines(_KEYS, lines, _LONGEST) or is_in_lines(_HEADER, lines, _LONGEST):
        return
    case.script.budget.once("the first boot", 2 * len(lines), "the text around its commands")
    number = next((number for number, line in enumerate(lines, 1) if _BROKEN.match(line[:_LONGEST])), 0)
    if number:
        message = f"{case.script.where(number)}: cloud-init knows this file by a first line that is exactly "
        message += "#cloud-config: as it is written nothing of it is run"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "#cloud-config", message, "write #cloud-config")
        yield replace(remark, command=None)


def source_in_first_boot(case: Case) -> Iterator[Remark]:
    """`source venv/bin/activate` under runcmd, which /bin/sh runs: dash on Debian and Ubuntu."""
    lines = case.script.lines
    if not is_in_lines(_HEADER, lines, _LONGEST) or not is_in_lines(_RUN, lines, _LONGEST):
        return
    if is_in_lines(_SH_IS_BASH, lines, _LONGEST):
        return
    case.script.budget.once("the first boot", 2 * len(lines), "the text around its commands")
    inside = False
    for number, line in enumerate(lines, 1):
        if line[:1].strip() and line[:1] not in "#-":
            inside = _RUN.match(line[:_LONGEST]) is not None
        elif inside and _SOURCE.match(line[:_LONGEST]) and "bash" not in line[:_LONGEST]:
            message = (
                f"{case.script.where(number)}: runcmd is run by /bin/sh, which on Debian and Ubuntu has no source: "
            )
            message += "the line fails"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "source", message, "write . in place of source")
            yield replace(remark, command=None)
            return


def filled_in_by_terraform(case: Case) -> Iterator[Remark]:
    """`MODEL=x` and `${MODEL}` in a heredoc of Terraform, which looks for a resource MODEL."""
    lines = case.script.lines
    if not is_in_lines(_RESOURCE, lines, _LONGEST):
        return
    case.script.budget.once("the first boot", 2 * len(lines), "the text around its commands")
    mark, known = "", set[str]()
    for number, line in enumerate(lines, 1):
        text = line[:_LONGEST]
        if not mark:
            opened = _HEREDOC.search(text)
            mark, known = (opened["mark"], set()) if opened else ("", set())
        elif text.strip() == mark:
            mark = ""
        else:
            if (assigned := _SET.match(text)) is not None:
                known.add(assigned["name"])
            match = _FILLED.search(text)
            if match is not None and match["name"] in known:
                name = match["name"]
                message = f"{case.script.where(number)}: Terraform fills in ${{{name}}} itself and has no such name: "
                message += "Invalid reference"
                remark = make_remark(
                    Severity.WARNING, Code.INVALID_VALUE, f"${{{name}}}", message, f"write $${{{name}}}, or ${name}"
                )
                yield replace(remark, command=None)
                return
