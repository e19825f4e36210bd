"""Lines for PowerShell or cmd, as a shell would have them written: of the same length, so that places hold."""

from __future__ import annotations

import re
from typing import Final

_CONTINUED: Final = re.compile(r"(?<=[ \t])[`^](?=[ \t]*$)", re.MULTILINE)
_MARK: Final = re.compile(r"(?<=\w)\.exe\b|\$env:|^[ \t]*PS [A-Z]:", re.MULTILINE | re.IGNORECASE)
_GOES_ON: Final = re.compile(r"\S[ \t]+(?:`[ \t]*\n|\^[ \t]*\n[ \t]*-)")
_PATH: Final = re.compile(r"(?<![\w\"'])(?:\.{1,2}|[A-Za-z]:|~)(?:\\[\w. +-]*\w)+")
_VARIABLE: Final = re.compile(r"^([ \t]*)\$env:(\w+)([ \t]*)=([ \t]*)", re.MULTILINE)
_OF_LIST: Final = re.compile(r"(?:['\"]|\$\w+)[ \t]*,(?=[ \t]*(?:`|['\"$]))")
"""The comma between two words of `Start-Process -ArgumentList '--model', $model`."""
_CALL: Final = re.compile(r"^([ \t]*)&[ \t]", re.MULTILINE)


def is_powershell(text: str) -> bool:
    return (bool(_MARK.search(text)) and "#!" not in text[:2]) or bool(_GOES_ON.search(text))


def as_shell(text: str) -> str:
    """With continuations, paths and variables of the environment as in a shell."""
    if "-argumentlist" in text.lower():
        text = _OF_LIST.sub(lambda match: match[0].replace(",", " "), text)
        text = re.sub(r"-ArgumentList\b", lambda match: " " * len(match[0]), text, flags=re.IGNORECASE)
    text = _CONTINUED.sub(r"\\", text)
    text = _PATH.sub(lambda path: path.group().replace("\\", "/"), text)
    text = _VARIABLE.sub(lambda m: f"{m[1]}{' ' * (5 + len(m[3]) + len(m[4]))}{m[2]}=", text)
    return _CALL.sub(lambda match: f"{match[1]}  ", text)
