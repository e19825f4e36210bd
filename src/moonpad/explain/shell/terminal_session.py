"""What a person typed at the prompts of a terminal, in a paste of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from moonpad.engines.foreign_names import SPEAKING, STARTERS
from moonpad.explain.commands import Command
from moonpad.explain.programs import is_server, program_table

_CELL: Final = re.compile(rf"^([ \t]*)!(?=(?:[A-Z][A-Z0-9_]*=\S+[ \t]+)*{STARTERS}[ \t])", re.MULTILINE)
"""The mark of a notebook before a line for a shell, `!vllm serve …`."""
SESSIONS: Final = frozenset({"console", "shell-session", "shellsession", "terminal"})
"""Languages of fences."""
_OF_SHELL: Final = (
    r"(?:\[?[\w.-]+@[\w.-]+(?:[: ][^\s$#]*)?[$#]"
    r"|[\w.-]+@[\w.-]+[ ][\w~./-]+[ ]%"  # zsh of macOS
    r"|[\w.-]+:[\w~./-]+[ ][\w.-]+\$"  # its bash: `host:folder user$`
    r"|PS [A-Z]:\\[^>\n]{0,200}>"  # PowerShell
    r"|(?:[➜❯][ \t]+)?[\w~./-]{1,80}[ \t]+git:\([^()\n]{1,80}\)(?:[ \t]+[✗✘])?"  # zsh, its arrow may be lost
    r"|[➜❯][ \t]+[\w~./-]+(?:[ \t]+[✗✘])?(?=[ \t]+(?:[A-Z][A-Z0-9_]*=|python|\./|"
    rf"docker|{SPEAKING.pattern}))"
    r"|(?:(?:[A-Za-z][\w-]{0,30}[ ]){0,3}\d{1,3}(?:\.(?:\d{1,3}|[x*]{1,3})){1,3}[ ]?[>$#]"  # `machine A 10.0.0.1>`
    r"|[A-Za-z][\w-]{0,30}(?:[ ][A-Z\d][\w-]{0,20})?>)(?=[ \t]+(?:[A-Z][A-Z0-9_]*=|python|\./|"
    rf"docker|{SPEAKING.pattern}))"
    r"|[❯](?=[ \t]+(?:[A-Z][A-Z0-9_]*=|python|\./|"
    rf"docker|{SPEAKING.pattern})))[ \t]+(?=\S)"
)
_PROMPT: Final = re.compile(rf"[ \t]*(?:\([\w.-]+\)[ \t]*)?(?:\$[ \t]+(?=\S)|{_OF_SHELL})")
_SURE: Final = re.compile(rf"^[ \t]*(?:\([\w.-]+\)[ \t]*)?{_OF_SHELL}", re.MULTILINE)
"""With the names of a user and a host."""
_ARROW: Final = re.compile(
    rf"^[ \t]*>[ \t]+(?=(?:[A-Z][A-Z0-9_]*=\S+[ \t]+)*(?:python[0-9.]* (?:-m )?)?(?:{SPEAKING.pattern}))", re.M
)
"""`> python -m …`, a prompt or a quotation: to a shell it would be a file to write to."""
_BOLD: Final = re.compile(
    rf"^[ \t]*\*\*(?=(?:[A-Z][A-Z0-9_]*=\S+[ \t]+)*(?:python[0-9.]* (?:-m )?)?(?:{SPEAKING.pattern}))"
    r"([^*\n]+)\*\*[ \t]*$",
    re.MULTILINE,
)
"""A line of a text that is a command in bold letters."""
_ROOT_PROMPT: Final = re.compile(r"[ \t]*#[ \t]+(?=(?:[A-Z][A-Z0-9_]*=\S+[ \t]+)*([\w.-]+)[ \t])")
_DOLLAR: Final = re.compile(
    r"^[ \t]*(?:\([\w.-]+\)[ \t]*)?(?:[A-Za-z][\w.-]{0,30})?\$[ \t]+(?=(?:[A-Z][A-Z0-9_]*=\S+[ \t]+)*"
    r"(?:sudo[ \t]|python|docker|podman|export[ \t]|curl[ \t]"
    rf"|pip[0-9.]*[ \t]|uv[ \t]|nvidia-smi|npu-smi|rocm-smi|cat[ \t]|cd[ \t]|\./|{SPEAKING.pattern}))",
    re.MULTILINE,
)
"""`$ vllm serve m`, `node0$ vllm serve m`: a shell would look for a program called `$`."""
_ASKS: Final = re.compile(
    r"(?:sudo[ \t]+)?(?:nvidia-smi|npu-smi|rocm-smi|amd-smi|free|df|lscpu|uname|hostname|lspci|numactl -H|nvcc"
    r"|(?:docker|podman)(?:[ -]compose)?[ \t]+(?:ps|images|stats)"
    r"|(?:uv[ \t]+)?pip[0-9.]*[ \t]+(?:list|show|freeze)|python[0-9.]*[ \t]+-c)(?![\w-])"
)
"""Programs that only show something: no shell reads what stands below them, up to the next prompt or an empty line."""
_SIGNS: Final = re.compile(r"[@➜❯]|\w[>$#][ \t]|[ \t]git:\(|PS [A-Z]:|:[^ :\n]{1,200} [\w.-]{1,60}\$ ")
_STARTS: Final = re.compile(
    r"[ \t]*(?:export[ \t]+[A-Z][A-Z0-9_]*=\S|(?:[A-Z][A-Z0-9_]*=\S+[ \t]+)*(?:python[0-9.]*[ \t]+(?:-m[ \t]+)?)?"
    rf"(?:{SPEAKING.pattern}))"
)
"""A line that starts an engine, or exports what it reads."""
_TYPED: Final = re.compile(r"python[0-9.]*|docker|podman|mpirun|export|pip|uv|curl|sudo|numactl")
"""What a line behind a prompt may begin with, besides the programs that are known."""


def without_prompts(text: str) -> str:
    """Of a paste that has no fences: blanks where a prompt with a user and a host stands; the rest may be typed too."""
    text = _BOLD.sub(lambda match: f"  {match[1]}  ", text) if "**" in text else text
    text = _ARROW.sub(lambda match: " " * len(match[0]), text) if "> " in text else text
    text = _CELL.sub(lambda match: f"{match[1]} ", text) if "!" in text else text
    dollars = _DOLLAR.search(text) is not None
    if not dollars and not _SIGNS.search(text):
        return text
    if _SURE.search(text) or dollars:
        text = _without_answers(text)
    text = _DOLLAR.sub(lambda match: " " * len(match[0]), text) if dollars else text
    return _SURE.sub(lambda match: " " * len(match[0]), text)


def _without_answers(text: str) -> str:
    """Blanks for what programs showed that only show something, and for the `> ` of a shell in which a line goes on."""
    lines = text.split("\n")
    shown = goes_on = False
    for number, line in enumerate(lines):
        prompt = _SURE.match(line) or _DOLLAR.match(line)
        if prompt is not None:
            shown = _ASKS.match(line, prompt.end()) is not None and not line.rstrip().endswith("\\")
        elif not line.strip():
            shown = False
        elif shown:
            lines[number] = " " * len(line)
        elif goes_on and line.startswith("> "):
            lines[number] = f"  {line[2:]}"
        goes_on = (prompt is not None or goes_on) and line.rstrip(" \t").endswith("\\")
    return "\n".join(lines)


def without_repeats(commands: Sequence[Command], lines: Sequence[str]) -> list[Command]:
    """Without what was shown and then typed at a prompt (`cat start.sh`): once is enough. Where only values differ,
    what was typed was run."""
    typed = [bool(_line_of(command, lines)) for command in commands]
    if not any(typed):
        return list(commands)
    left: list[Command] = []
    for at, command in enumerate(commands):
        serves = is_server(command.program)
        later = (other for other, now in zip(commands[at + 1 :], typed[at + 1 :], strict=True) if now)
        if not (serves and not typed[at] and any(_is_again(command, other) for other in later)):
            left.append(command)
    return left


def _line_of(command: Command, lines: Sequence[str]) -> re.Match[str] | None:
    return _SURE.match(lines[command.line - 1]) if 0 < command.line <= len(lines) else None


def _is_again(command: Command, typed: Command) -> bool:
    """Whether both have the same options, and their values end alike wherever they are numbers of no use to others."""
    if command.program != typed.program or len(command.argv) != len(typed.argv):
        return False
    pairs = [(one.text, other.text) for one, other in zip(command.argv, typed.argv, strict=True)]
    flags = all(one == other for one, other in pairs if one.startswith("-") or other.startswith("-"))
    paths = all(_last(one) == _last(other) for one, other in pairs if "/" in one or "/" in other)
    return flags and paths


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def without_session(lines: list[str], language: str) -> list[str]:
    """Where lines begin with a prompt, the prompts and everything that was not typed become blanks."""
    prompt: Callable[[str], re.Match[str] | None] = _PROMPT.match
    if not any(_PROMPT.match(line) for line in lines):
        if language not in SESSIONS or not any(_root_prompt(line) for line in lines):
            return lines
        prompt = _root_prompt
    typed: list[str] = []
    goes_on = prompted = False
    for line in lines:
        match = prompt(line)
        prompted |= match is not None
        if match:
            shown = " " * match.end() + line[match.end() :]
        elif goes_on:
            shown = line if not line.startswith("> ") else f"  {line[2:]}"
        else:
            shown = " " * len(line) if not line.lstrip().startswith("#") or prompt is _root_prompt else line
        begins = not prompted and not goes_on and _STARTS.match(line) is not None
        shown = line if begins else shown  # its prompt was left out
        goes_on = (match is not None or begins or goes_on) and shown.rstrip(" \t").endswith("\\")
        typed.append(shown)
    return typed


def _root_prompt(line: str) -> re.Match[str] | None:
    """`# vllm serve …`, which a comment may look like: only in front of a command that is known."""
    match = _ROOT_PROMPT.match(line)
    known = match is not None and (_TYPED.fullmatch(match[1]) or match[1] in program_table().first_words)
    return match if known else None
