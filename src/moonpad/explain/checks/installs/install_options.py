"""Options that an installer does not have: those of uv behind pip, those of pip behind uv, and words that none of them
knows. The installation ends there, and with it the image or the script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Script
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first
from moonpad.explain.shell.whole_lines import whole_lines
from moonpad.values.finding import Code, Severity

_LEAVE_OUT: Final = "leave it out: nothing is asked"
_BY_UV: Final = "write uv pip install, whose option it is, or leave it out"
_BY_PIP: Final = "write uv pip install --system -r FILE, which installs without a project"
_UNKNOWN: Final = {
    "--nodeps": "write --no-deps",
    "--force-upgrade": "write --upgrade, or --force-reinstall",
    "--yes": _LEAVE_OUT,
    "-y": _LEAVE_OUT,
}
_OF_UV: Final = (
    "--torch-backend",
    "--index-strategy",
    "--reinstall",
    "--reinstall-package",
    "--upgrade-package",
    "--link-mode",
    "--compile-bytecode",
    "--exclude-newer",
)
_OF_PIP: Final = "leave it out: it is an option of pip"
_REFUSED: Final = {
    "pip": {**_UNKNOWN, **dict.fromkeys(_OF_UV, _BY_UV), "--prerelease": "write --pre"},
    "uv pip": {
        **_UNKNOWN,
        **dict.fromkeys(("--root-user-action", "--use-pep517", "--resume-retries"), _OF_PIP),
        "--ignore-installed": "write --reinstall",
    },
    "uv sync": dict.fromkeys(("--system", "-r", "--requirement", "--requirements", "--torch-backend"), _BY_PIP),
    "uv add": dict.fromkeys(("--system", "--no-deps", "--torch-backend"), "write uv pip install with it"),
}
"""What each of these programs refuses, tried with pip 26.3 and uv 0.13.9, and what is meant."""
_CALL: Final = re.compile(
    r"(?P<before>^|.*?[\s\"'/(;&|])"
    r"(?P<program>uv[ ]+(?:pip[ ]+install|sync|add)|pip3?(?:\.\d+)?[ ]+(?:install|wheel|download))"
    r"(?=[ ])(?P<rest>.*)"
)
_ADJOINS: Final = re.compile(r"(?:^|[\"'/(;&|])$")
_STARTS: Final = re.compile(
    r"(?:^|[(;&|!%]|(?:^|[\s\"'])(?:RUN|sudo|-H|-E|-m|\$|>|-|time|exec|then|do|else|[\w-]+:|[A-Za-z_]\w*=\S*|--mount=\S+))$"
)
"""What may stand in front of the program itself, without a blank and with one: no other program, and no variable that
holds one."""
_ENDS: Final = re.compile(r"&&|\|\||[;|#)`<>]|\\$")
_MOST: Final = 30


def unknown_to_installer(case: Case) -> Iterator[Remark]:
    """`pip install vllm --torch-backend=auto`, `uv sync --system`, `pip wheel --nodeps .`."""
    if is_first(case.commands, case.script):
        yield from unknown_to_installers(case.script)


def unknown_to_installers(script: Script) -> Iterator[Remark]:
    """At most two of a text."""
    if any("pip" in line or "uv " in line for line in script.lines):
        yield from islice(_unknown(script), 2)


def _unknown(script: Script) -> Iterator[Remark]:
    for number, text in whole_lines(script):
        for program, words in calls_of(text):
            kind = " ".join(program.split()[:2]) if program.startswith("uv") else "pip"
            option, remedy = _refused(kind, words)
            if not option:
                continue
            message = f"{script.where(number)}: {program} has no {option}, and ends there"
            remark = make_remark(Severity.WARNING, Code.UNKNOWN_FLAG, option, message, remedy)
            yield Remark(remark.finding, command=None)


def _refused(kind: str, words: Sequence[str]) -> tuple[str, str]:
    refused = _REFUSED[kind]
    for word in words:
        name = word.partition("=")[0].strip("\"'")
        if name in refused:
            return name, refused[name]
        if re.fullmatch(r"--[a-z]+(?:[_-][a-z]+)*_[a-z_-]+", name):
            return name, f"write {name.replace('_', '-')}"
    return "", ""


def calls_of(text: str) -> Iterator[tuple[str, list[str]]]:
    """The installers of a line with the words behind each."""
    rest, count = text, 0
    while count < _MOST and (call := _CALL.match(rest)) is not None:
        count += 1
        rest = call["rest"]
        before = call["before"]
        if not (_STARTS.search(before.rstrip(" ")) if before.endswith(" ") else _ADJOINS.search(before)):
            continue
        end = _ENDS.search(rest)
        program = re.sub(r"^pip[\d.]*", "pip", " ".join(call["program"].split()))
        yield program, (rest[: end.start()] if end else rest).split()
