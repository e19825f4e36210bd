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
_FIRST: Final = re.compile(
    r"(?<![\w-])(?:--include[= ]+)?[\"']?[\w.*?/-]*?-?(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf[\"']?(?=[ ]|$)"
)
_SERVED: Final = re.compile(r"-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf$")
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


def one_file_of_set(case: Case) -> Iterator[Remark]:
    """`--include "*00001-of-00008.gguf"`, and a server that is given the first file of the set: it asks for all."""
    script, served = case.script, _SERVED.search(case.first.model)
    if served is None or int(served["count"]) < _SEVERAL or not is_first_server(case.commands, script):
        return
    taken: dict[str, int] = {}
    for number, text in whole_lines(script):
        download = _DOWNLOAD.search(text)
        if download is None:
            if _OTHER_DOWNLOAD.search(text):
                return
            continue
        files = [match for match in _FIRST.finditer(download["rest"]) if match["count"] == served["count"]]
        without = _FIRST.sub(" ", download["rest"])
        if not files or "--include" not in text or "*" in without:
            return  # the whole repository, or files that are named one by one
        taken.update((match["number"], number) for match in files)
    if len(taken) != 1:
        return
    ((part, line),) = taken.items()
    message = (
        f"{script.where(line)}: only part {int(part)} of {int(served['count'])} is downloaded, and the server reads "
        "all of the set from that folder"
    )
    remark = make_remark(
        Severity.WARNING,
        Code.INVALID_VALUE,
        "--include",
        message,
        f"write a pattern of all: *-of-{served['count']}.gguf",
    )
    yield Remark(remark.finding, command=None)


_SEVERAL: Final = 2
_OTHER_DOWNLOAD: Final = re.compile(
    r"\b(?:wget|curl|aria2c|snapshot_download|modelscope|rsync|scp|git[ ]+(?:clone|lfs))\b"
)
