"""Commands that the shell cuts at a bracket without quotes, `-ot blk.(3|4)=CPU`: half a command is no correction."""

from __future__ import annotations

from moonpad.explain.commands import Script
from moonpad.explain.results import Judged
from moonpad.explain.shell.bash_parser import AT_BRACKET
from moonpad.values.records import replace


def but_cut(judged: Judged, script: Script) -> Judged:
    """Without corrected and better commands where words of these are lost behind such a bracket."""
    at = {problem.line for problem in script.problems if problem.message == AT_BRACKET}
    if not at:
        return judged
    words = (word for source in judged.sources for word in (*source.prefix, *source.argv))
    if any(word.line <= line <= word.end_line for word in words for line in at):
        return replace(judged, corrected=(), corrected_files=(), better=())
    return judged
