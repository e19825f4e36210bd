"""The command of a systemd unit: `ExecStart=` with its `Environment=`, and the files that `ExecStartPre=` writes.

Source: https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html#Command%20lines.
"""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.commands import Piece
from moonpad.explain.documents.quadlets import holds_quadlets, is_quadlet, read_quadlets
from moonpad.explain.shell.interpreter import ScriptState, Shell, words_of
from moonpad.explain.shell.wrappers import assignment
from moonpad.explain.source_text import IGNORED, Source

_SECTION: Final = re.compile(r"^[ \t]*\[(?:Service|Container)\][ \t]*$|^[ \t]*ExecStart[ \t]*=", re.MULTILINE)
_SETTING: Final = re.compile(
    r"^[ \t]*(Environment|ExecStart(?:Pre)?)[ \t]*=[ \t]*((?:.*\\[ \t]*\n(?:[ \t]*[#;].*\n)*)*.*)$", re.MULTILINE
)
_SPECIAL: Final = re.compile(r"[-@:+!|]*")
_COMMENT: Final = re.compile(r"(?<=\n)[ \t]*[#;].*\n")
_STRINGS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'', re.DOTALL)
_OF_SHELL: Final = re.compile(r"[ \t](\d?>>?|&>>?|\|\|?|&&)(?=[ \t/&])")


_CODE: Final = re.compile(r"\\x(0[9a]|20)")  # blanks: a quote would end the word
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"|(?P<single>\'(?:[^\'\\]|\\.)*\')|\$\$|%%', re.DOTALL)


def is_unit(text: str) -> bool:
    if holds_quadlets(text):
        return is_quadlet(text)
    return bool(_SECTION.search(text)) and bool(_SETTING.search(text))


def read_unit(text: str, start: int, state: ScriptState) -> None:
    """Adds the commands of the units in `text`, which begins at the offset `start` of the whole."""
    if is_quadlet(text):
        end = start + len(text)
        read_quadlets(state.text.word(text, start, end, (Piece(0, len(text), start, end),)), state)
        return
    source = Source.block(state.text, start, text)
    shell = Shell(state, source)
    for match in _SETTING.finditer(text):
        value = _as_shell(_COMMENT.sub(lambda comment: " " * len(comment.group()), match[2]))
        at = start + match.start(2)
        if match[1] == "Environment":
            for word in words_of(Source.block(state.text, at, value), state):
                if pair := assignment(word):
                    shell.scope.set(*pair, export=True)
            continue
        if sign := _OF_SHELL.search(_STRINGS.sub(lambda text: "x" * len(text.group()), value)):
            message = f"systemd runs no shell: {sign[1]} and what is behind it reach the program as its arguments"
            remedy = "take it out (StandardOutput= writes to a file), or start /bin/sh -c '…'"
            state.problems.add("no-shell", at + sign.start(1), at + sign.end(1), message, remedy)
        special = _SPECIAL.match(value)
        behind = special.end() if special else 0
        inner = Shell(state, Source.block(state.text, at + behind, value[behind:]), shell.scope)
        inner.read()


def _as_shell(value: str) -> str:
    """systemd has `$$` for a dollar, `%%` for a percent sign and `\\x0a` for a line's end: as the shell's words of the
    same length have them."""

    def written(match: re.Match[str]) -> str:
        dollar = f"{IGNORED}$" if match["single"] else r"\$"
        text = _CODE.sub(lambda code: IGNORED * 3 + chr(int(code[1], 16)), match.group())
        return text.replace("$$", dollar).replace("%%", f"{IGNORED}%")

    return _QUOTED.sub(written, value)
