"""Sources from which an installer cannot install: a file that is not a list of requirements, and an index that replaces
PyPI and has few packages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Final

from moonpad.engines.image_names import INDEXES_OF_FEW, NOT_ON_THEM
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.installs.install_options import calls_of
from moonpad.explain.commands import Script
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.explain.shell.whole_lines import whole_lines
from moonpad.values.finding import Code, Severity

_LISTS: Final = ("-r", "--requirement")
_NO_LIST: Final = re.compile(r"(?:\S*/)?(?P<name>pyproject\.toml|poetry\.lock|uv\.lock|Pipfile|environment\.ya?ml)")
_INDEXES: Final = ("-i", "--index-url")
_ADDED: Final = ("--extra-index-url", "--find-links", "-f", "--no-deps", "--index", "--default-index")
_BY_VARIABLE: Final = re.compile(r"(?:PIP|UV)_(?:EXTRA_)?INDEX|extra-index-url[ ]*=|UV_DEFAULT_INDEX")
_NAME: Final = re.compile(r"[A-Za-z][\w.-]*")


def not_installable(case: Case) -> Iterator[Remark]:
    """`pip install -r pyproject.toml`, `pip install transformers -i https://flashinfer.ai/whl/…`."""
    if is_first(case.commands, case.script):
        yield from not_installable_in(case.script)


def not_installable_in(script: Script) -> Iterator[Remark]:
    """At most two of a text."""
    if any("pip" in line for line in script.lines):
        yield from islice(_found(script), 2)


def _found(script: Script) -> Iterator[Remark]:
    by_variable = any(_BY_VARIABLE.search(line[:1000]) for line in script.lines if "I" in line or "=" in line)
    for number, text in whole_lines(script):
        for program, words in calls_of(text):
            plain = [word.strip("\"'") for word in words]
            said = _of_list(program, plain) or (None if by_variable else _of_index(program, plain))
            if said is not None:
                where, message, remedy = said
                remark = make_remark(
                    Severity.WARNING, Code.INVALID_VALUE, where, f"{script.where(number)}: {message}", remedy
                )
                yield Remark(remark.finding, command=None)


def _of_list(program: str, words: Sequence[str]) -> tuple[str, str, str] | None:
    """uv reads some of these files."""
    if program.startswith("uv"):
        return None
    for option, value in pairwise(words):
        if option in _LISTS and (match := _NO_LIST.fullmatch(value)) is not None:
            message = f"{match['name']} is not a list of requirements: pip ends at its first line (Invalid requirement)"
            remedy = "write pip install . for the project itself, or a file with one requirement a line"
            return option, message, remedy
    return None


def _of_index(program: str, words: Sequence[str]) -> tuple[str, str, str] | None:
    joined = [part for word in words for part in (word.split("=", 1) if word.startswith("--index-url=") else (word,))]
    given = next((at for at, word in enumerate(joined[:-1]) if word in _INDEXES), -1)
    index = INDEXES_OF_FEW.fullmatch(joined[given + 1].rstrip("/")) if given >= 0 else None
    if index is None or any(word.partition("=")[0] in _ADDED for word in joined):
        return None
    names = (match[0] for word in joined if not word.startswith("-") and (match := _NAME.match(word)) is not None)
    absent = [name for name in names if name.lower().replace("_", "-") in NOT_ON_THEM]
    if not absent:
        return None
    message = (
        f"{joined[given]} takes the place of PyPI, and {index['host']} has no {shortened(', '.join(absent), 60)}: "
        f"{program} ends (No matching distribution found)"
    )
    return joined[given], message, "install what is of PyPI by a command of its own, or write --extra-index-url"
