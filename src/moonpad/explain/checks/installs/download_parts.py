"""A download of the part of a repository that no engine serves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.explain.shell.whole_lines import whole_lines
from moonpad.values.finding import Code, Severity

_DOWNLOAD: Final = re.compile(r"\b(?:huggingface-cli|hf)[ ]+download[ ]+(?P<rest>[^|;&#]*)")
_PART: Final = re.compile(r"--include[= ]+[\"']?(?P<part>original|metal)/\*[\"']?(?=[ ]|$)(?![ ]+[\"']?[\w*])")
_KINDS: Final = {"original": "the checkpoint in its publisher's own form", "metal": "that for Apple's devices"}


def download_of_part(case: Case) -> Iterator[Remark]:
    """`hf download openai/gpt-oss-120b --include "original/*" --local-dir …` for a server."""
    script = case.script
    if not is_first_server(case.commands, script) or not any("download" in line for line in script.lines):
        return
    for number, text in whole_lines(script):
        download = _DOWNLOAD.search(text) if "--include" in text else None
        part = _PART.search(download["rest"].strip()) if download is not None else None
        if download is None or part is None or download["rest"].count("--include") > 1:
            continue
        if any(f"/{part['part']}" in line and "download" not in line for line in script.lines):
            continue
        message = (
            f"{script.where(number)}: {part['part']}/ is {_KINDS[part['part']]}, without config.json and the weights "
            "that servers load"
        )
        remark = make_remark(
            Severity.WARNING, Code.INVALID_VALUE, "--include", message, "take the repository without that folder"
        )
        yield Remark(remark.finding, command=None)
        return
