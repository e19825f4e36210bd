"""The command of a systemd unit: `ExecStart=` with its `Environment=`, and the files that `ExecStartPre=` writes.

Source: https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html#Command%20lines.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from moonpad.explain.commands import Piece, Word
from moonpad.explain.documents.quadlets import holds_quadlets, is_quadlet, read_quadlets
from moonpad.explain.shell.interpreter import ScriptState, Shell, words_of
from moonpad.explain.shell.line_repair import with_whole_templates
from moonpad.explain.shell.wrappers import assignment
from moonpad.explain.source_text import IGNORED, Source

_SECTION: Final = re.compile(r"^[ \t]*\[(?:Service|Container)\][ \t]*$|^[ \t]*ExecStart[ \t]*=", re.MULTILINE)
_SETTING: Final = re.compile(
    r"^[ \t]*(Environment|ExecStart(?:Pre)?)[ \t]*=[ \t]*"
    r"((?:.*\\[ \t]*\n(?:[ \t]*[#;].*\n|(?:[ \t]*\n){1,3}(?=[ \t]*-))*)*+.*)$",
    re.MULTILINE,
)
_EMPTY: Final = re.compile(r"(?<=\n)[ \t]*\n(?=\s*-)")
_SPECIAL: Final = re.compile(r"[-@:+!|]*")
_COMMENT: Final = re.compile(r"(?<=\n)[ \t]*[#;].*\n")
_STRINGS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'', re.DOTALL)
_OPENS: Final = re.compile(r"<<-?[ \t]*(?P<quote>[\"'\\]?)(?P<mark>[A-Za-z_]\w*)")
_DOUBLED: Final = re.compile(r"\\\\(?=[ \t]*\n)")
_ONE: Final = f"{IGNORED}\\"
"""Of the two backslashes at a line's end in a heredoc whose variables are filled in, its shell writes one."""
_OF_SHELL: Final = re.compile(r"[ \t](\d?>>?|&>>?|\|\|?|&&)(?=[ \t/&])")
_SCRIPT: Final = re.compile(r"(?<![\w.-])[\w.-]{1,80}\.sh(?![\w.])")

_MOST: Final = 50
_CODE: Final = re.compile(r"\\x(0[9a]|20)")  # blanks: a quote would end the word
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"|(?P<single>\'(?:[^\'\\]|\\.)*\')|\$\$|%%', re.DOTALL)


def is_unit(text: str) -> bool:
    if holds_quadlets(text):
        return is_quadlet(text)
    return bool(_SECTION.search(text)) and bool(_SETTING.search(text))


def writes_units(text: str) -> bool:
    """Whether it is a script whose heredocs are the units."""
    section = _SECTION.search(text)
    return section is not None and _OPENS.search(text, 0, section.start()) is not None


def read_unit(text: str, start: int, state: ScriptState) -> None:
    """Adds the commands of the units in `text`, which begins at the offset `start` of the whole."""
    if is_quadlet(text):
        end = start + len(text)
        read_quadlets(state.text.word(text, start, end, (Piece(0, len(text), start, end),)), state)
        return
    source = Source.block(state.text, start, text)
    shell = Shell(state, source)
    filled_in = _filled_in(text)
    pairs: list[tuple[str, Word]] = []
    scripts: list[str] = []
    for match in _SETTING.finditer(text):
        written = with_whole_templates(_COMMENT.sub(lambda comment: " " * len(comment.group()), match[2]))
        by_shell = any(first <= match.start() < last for first, last in filled_in)
        value = _as_shell(_DOUBLED.sub(lambda _: _ONE, written) if by_shell else written)
        at = start + match.start(2)
        if (empty := _EMPTY.search(value)) is not None:
            message = (
                "an empty line ends the setting, whatever the backslash above says: systemd passes over the options "
                "below"
            )
            state.problems.add(
                "missing-backslash", at + empty.start() - 1, at + empty.start(), message, "take the empty line out"
            )
            value = _EMPTY.sub(lambda line: " " * len(line.group()), value)
        if match[1] == "Environment":
            for word in words_of(Source.block(state.text, at, value), state):
                if pair := assignment(word):
                    shell.scope.set(*pair, export=True)
                    pairs.append(pair)
            continue
        scripts += _SCRIPT.findall(value) if match[1] == "ExecStart" else ()
        if sign := _OF_SHELL.search(_STRINGS.sub(lambda text: "x" * len(text.group()), value)):
            message = f"systemd runs no shell: {sign[1]} and what is behind it reach the program as its arguments"
            remedy = "take it out (StandardOutput= writes to a file), or start /bin/sh -c '…'"
            state.problems.add("no-shell", at + sign.start(1), at + sign.end(1), message, remedy)
        special = _SPECIAL.match(value)
        behind = special.end() if special else 0
        inner = Shell(state, Source.block(state.text, at + behind, value[behind:]), shell.scope)
        inner.read()
    if pairs:
        state.earlier.units.update((script, pairs) for script in scripts[:_MOST])


def _filled_in(text: str) -> tuple[tuple[int, int], ...]:
    """Heredocs of a shell that fills in their variables, `cat > a.service <<EOF`: where each begins and ends."""
    spans = []
    for opened in islice(_OPENS.finditer(text), _MOST):
        if not opened["quote"]:
            closing = re.compile(rf"^[ \t]*{opened['mark']}[ \t]*$", re.MULTILINE).search(text, opened.end())
            spans.append((opened.end(), closing.start() if closing is not None else len(text)))
    return tuple(spans)


def _as_shell(value: str) -> str:
    """systemd has `$$` for a dollar, `%%` for a percent sign and `\\x0a` for a line's end: as the shell's words of the
    same length have them."""

    def written(match: re.Match[str]) -> str:
        dollar = f"{IGNORED}$" if match["single"] else r"\$"
        text = _CODE.sub(lambda code: IGNORED * 3 + chr(int(code[1], 16)), match.group())
        return text.replace("$$", dollar).replace("%%", f"{IGNORED}%")

    return _QUOTED.sub(written, value)
