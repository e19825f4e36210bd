"""The one error tree.

    MoonpadError                    exit code
    ├── UsageError                  2    a wrong command line
    ├── SpecError                   2    a wrong moonpad.toml
    ├── PreflightRefused            3    the request cannot work here; carries findings
    │   ├── CheckpointError         3    the weights are incomplete, damaged, or not what they claim
    │   └── InstallError            3    an engine could not be installed
    ├── LaunchFailed                4    the engine was started and did not become ready
    ├── CheckFailed                 5    a probe or an SLO failed
    ├── ContactLost                 6    the state is unknown
    │   └── SchemaTooNew            6    a newer moonpad wrote it (store/schema_version.py)
    └── Interrupted                 130  the user pressed Ctrl-C

A message says what happened, the numbers, and one thing to do.
"""

from __future__ import annotations

import re
from typing import ClassVar, Final

from moonpad.values.finding import Finding
from moonpad.values.records import replace

_LONG_WORD: Final = re.compile(r"(\S{300})\S{200,}")
"""A message repeats what was given, and that may be a name of a million letters."""


def _cut(text: str) -> str:
    return _LONG_WORD.sub(r"\1…", text)


class MoonpadError(Exception):
    """Root of the tree: `message` says what happened with its numbers, `remedy` is the one thing to do."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, remedy: str = "") -> None:
        message = _cut(message)
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class UsageError(MoonpadError):
    exit_code = 2


class SpecError(MoonpadError):
    """A wrong `moonpad.toml`. `line` is 1-based, None where no single line is to blame."""

    exit_code = 2

    def __init__(self, message: str, *, line: int | None = None, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.line = line


class PreflightRefused(MoonpadError):
    exit_code = 3

    def __init__(self, message: str, *, remedy: str = "", findings: tuple[Finding, ...] = ()) -> None:
        super().__init__(message, remedy=remedy)
        self.findings = tuple(replace(each, where=_cut(each.where), message=_cut(each.message)) for each in findings)


class CheckpointError(PreflightRefused):
    pass


class InstallError(PreflightRefused):
    pass


class LaunchFailed(MoonpadError):
    exit_code = 4


class CheckFailed(MoonpadError):
    exit_code = 5


class ContactLost(MoonpadError):
    exit_code = 6


class Interrupted(MoonpadError):
    exit_code = 130
