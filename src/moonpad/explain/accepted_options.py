"""Options of which no parser's refusal is said: a log shows them as read, another program takes them, or a list only
names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from moonpad.engines.foreign_names import OTHER_SERVERS
from moonpad.explain.commands import Command, Script
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark
from moonpad.values.finding import Code

_REFUSED: Final = frozenset({Code.UNKNOWN_FLAG, Code.REMOVED_FLAG, Code.INVALID_VALUE})

_OF_ITS_OPTIONS: Final = _REFUSED | {Code.PREFIX_FLAG}
"""What is said by the options of one server is not said of another one that the same program starts."""


def but_accepted(remarks: Iterable[Remark], command: Command, script: Script) -> Iterator[Remark]:
    """Without those by which the engine refuses an option that its log repeats, or one whose name is not known."""
    others = OTHER_SERVERS.get(command.program, frozenset())
    of_other = any(word.text.partition("=")[0] in others for word in command.argv)
    for remark in remarks:
        code = remark.finding.code
        if (of_other and code in _OF_ITS_OPTIONS) or (code is Code.UNKNOWN_FLAG and "${" in remark.finding.where):
            continue
        if remark.at is not None and _is_only_named(command, remark.at, script):
            continue
        if code not in _REFUSED or _name(remark.finding.where) not in command.accepted:
            yield remark


def _is_only_named(command: Command, at: int, script: Script) -> bool:
    """Whether backquotes are closed right behind the option: a sentence or a list speaks of it."""
    if not is_fragment(command) or at >= len(command.argv):
        return False
    word = command.argv[at]
    line = script.lines[word.end_line - 1] if 0 < word.end_line <= len(script.lines) else ""
    return line[word.end_column : word.end_column + 1] == "`" and "=" not in word.text


def _name(flag: str) -> str:
    """As the log has it."""
    return flag.lstrip("-").partition("=")[0].replace("-", "_")
