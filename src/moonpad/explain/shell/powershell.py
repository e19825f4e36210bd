"""Lines for PowerShell or cmd, as a shell would have them written: of the same length, so that places hold."""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.source_text import IGNORED

_CONTINUED: Final = re.compile(r"(?<=[ \t])[`^](?=[ \t]*$)", re.MULTILINE)
_MARK: Final = re.compile(
    r"(?<=\w)\.exe\b|^[ \t\0]*<#|\$env:|^[ \t]*PS [A-Z]:|\b(?:Start|Get)-Process[ \t]|[ \t]-ErrorAction[ \t]"
    r"|(?<=[ \t=])(?:(?-i:[A-Z]):\\\w|[a-z]:\\\w[\w.-]*\\\w)",
    re.MULTILINE | re.IGNORECASE,
)
_PROMPT: Final = re.compile(
    r"^[ \t\0]*(?:\([\w.-]+\)[ \t]*)?(?:PS )?[A-Za-z]:\\[^>\n]{0,200}>(?=[ \t]*[^\s>])|^[ \t]*>>(?=[ \t])", re.MULTILINE
)
"""What PowerShell and cmd show before what is typed: `PS C:\\llama>`, `C:\\llama>`, and `>>` where it goes on."""
_REMARKS: Final = re.compile(r"^[ \t\0]*<#.*?#>", re.MULTILINE | re.DOTALL)
"""A comment of several lines."""
_GOES_ON: Final = re.compile(r"\S[ \t]+(?:`[ \t]*\n|\^[ \t]*\n[ \t]*-)")
_PATH: Final = re.compile(r"(?<![\w\"'])(?:\.{1,2}|[A-Za-z]:|~)(?:\\[\w. +-]*\w(?!:))+")
_VARIABLE: Final = re.compile(r"^([ \t]*)\$env:(\w+)([ \t]*)=([ \t]*)", re.MULTILINE)
_CALL: Final = re.compile(r"^([ \t]*)&[ \t]", re.MULTILINE)
_ITEM: Final = r"""(?:'[^'\n]*'|"[^"\n]*"|\$[\w.:]+|[\w./\\:-]+)"""
_ARGUMENTS: Final = re.compile(
    rf"-(?:ArgumentList|Args)[ \t]+(?:\\[ \t]*\n[ \t]*)?(?:@\([ \t]*(?:\n[ \t]*)?)?"
    rf"{_ITEM}(?:[ \t]*,[ \t]*(?:\\?[ \t]*\n[ \t]*)?{_ITEM})*+",
    re.IGNORECASE,
)
"""The list of arguments that a program is started with, its lines continued as in a shell."""
_NAME: Final = re.compile(r"-\w+")
_SEPARATOR: Final = re.compile(rf"(?P<item>{_ITEM})|@\(|,")
_ASKS: Final = re.compile(
    r"(?<![\w\"'-])(?:(?:Get|Stop|Wait|Debug)-Process|Get-(?:Command|ChildItem|Item)|(?:Test|Resolve)-Path|Remove-Item"
    r"|Write-(?:Error|Warning))\b[^|;)}\n]{0,300}",
    re.IGNORECASE,
)
"""They speak of a program that runs, and start none."""
_QUOTED_TWICE: Final = re.compile(r"\"(\"[A-Za-z]:\\[^\"\n]{1,400}\")\"")
"""`""C:\\models\\x.gguf""`: to these shells both quotes are one, and to a shell of Unix neither is there."""
_AS_IT_STANDS: Final = re.compile(r"'[^'\n]*'")
_ESCAPED: Final = '\\"'


def is_powershell(text: str) -> bool:
    return (bool(_MARK.search(text)) and "#!" not in text[:2]) or bool(_GOES_ON.search(text))


def as_shell(text: str) -> str:
    """With continuations, paths and variables of the environment as in a shell."""
    text = _REMARKS.sub(lambda remark: re.sub(r"[^\n]", " ", remark.group()), text)
    if _PROMPT.search(text):
        text = _PROMPT.sub(lambda prompt: " " * len(prompt.group()), text)
    text = _CONTINUED.sub(r"\\", text)
    text = _QUOTED_TWICE.sub(lambda match: f"{IGNORED}{match[1]}{IGNORED}", text)
    # `'{\"method\": 1}'`: before 7.3 PowerShell hands it on as it stands, and the program takes `\"` for a quote.
    text = _AS_IT_STANDS.sub(lambda string: string.group().replace(_ESCAPED, f'{IGNORED}"'), text)
    text = _PATH.sub(lambda path: path.group().replace("\\", "/"), text)
    text = _VARIABLE.sub(lambda m: f"{m[1]}{' ' * (5 + len(m[3]) + len(m[4]))}{m[2]}=", text)
    text = _ARGUMENTS.sub(lambda match: _as_words(match.group()), text)
    text = _ASKS.sub(lambda match: " " * len(match.group()), text)
    return _CALL.sub(lambda match: f"{match[1]}  ", text)


def _as_words(arguments: str) -> str:
    """`-ArgumentList 'a', 'b'` as `'a'  'b'`: a comma at the end of a line lets the next one follow."""
    name = _NAME.match(arguments)
    behind = name.end() if name else 0

    def apart(match: re.Match[str]) -> str:
        if match["item"] is not None:
            return match.group()
        ends = match.group() == "," and arguments[match.end() :].lstrip(" \t").startswith("\n")
        return "\\" if ends else " " * len(match.group())

    return " " * behind + _SEPARATOR.sub(apart, arguments[behind:])
