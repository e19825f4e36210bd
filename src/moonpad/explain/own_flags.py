"""Remedies name settings as a spec has them; a person with a command line wants the engine's own options."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.command_line import CommandLine

_SETTING: Final = re.compile(r"(\bset )?\b(tp|pp|dp|ep|dcp|[a-z]+(?:_[a-z]+)+) = (\"[^\"]*\"|[\w.]+)")


def in_own_flags(remedy: str, line: CommandLine) -> str:
    """`set tp = 4` as `set --tensor-parallel-size 4`; what has no option of the engine stays as it is."""

    def own(match: re.Match[str]) -> str:
        before, name, written = match[1] or "", match[2], match[3].strip('"')
        if (switch := line.switches.get(name)) is not None:
            return f"{'add ' if before else ''}{switch}"
        option = line.options.get(name)
        if option is None:
            return match[0]
        if written == "false" or (name == "ep" and "size" not in option and written == "1"):
            return f"leave {option} out"
        if written == "true" or (name == "ep" and "size" not in option):
            return f"{'add ' if before else ''}{option}" if written == "true" else match[0]
        return f"{before}{option} {written}"

    return _SETTING.sub(own, remedy)
