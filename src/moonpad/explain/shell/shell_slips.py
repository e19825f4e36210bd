"""Lines that a shell takes for something else without a word: redirections in requirements, and lines that a terminal
broke."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command
from moonpad.explain.programs import program_named
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_LONGEST: Final = 1000
_MOST: Final = 10
_INSTALL: Final = re.compile(
    r"(?:^[ \t]*(?:[$#>%!][ \t]+|RUN[ \t]+|-[ \t]+|run:[ \t]+|sudo[ \t]+|\w{1,40}=\S{0,80}[ \t]+|uv[ \t]+"
    r"|\S{0,80}python3?(?:\.\d+)?[ \t]+-m[ \t]+)*|(?:&&|;)[ \t]*(?:uv[ \t]+)?)"
    r"(?:pip3?(?:\.\d+)?[ \t]+install|uv[ \t]+add|(?<=uv )add)[ \t]"
)
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"|\\.")
_REQUIREMENT: Final = re.compile(r"(?<![\w.\"'/-])([A-Za-z][\w.-]{0,60}(?:\[[\w,.-]{0,60}\])?)(>=?|<=?)(=?\d[\w.]*)")
_ENDS: Final = re.compile(r"[ \t]#|&&|\|\||;")

_NARROWEST: Final = 60
"""Columns of a terminal that breaks lines."""
_COMMANDS: Final = re.compile(
    r"(?:python[\d.]*|ba?sh|curl|wget|docker|podman|kubectl|helm|export|source|if|then|else|fi|for|while|do|done|echo|cd"
    r"|sleep|nohup|sudo|env|exec|time|srun|mpirun|ray|lm_eval|evalscope|aiperf|genai-perf|wait|kill|set)\b"
)
_CONTINUES: Final = re.compile(r"[A-Za-z0-9_-]\S*(?:\s+\S+)*?\s+--[A-Za-z]")
_REST_OF_PATH: Final = re.compile(r"(?![~./-])[\w.-]+(?:/[\w.-]+){2,}/?")
_PATH_BEGUN: Final = re.compile(r"[~.]?/[\w.-]+(?:/[\w.-]+)*/?")
_REST_OF_WORD: Final = re.compile(r"(?=[a-z]*[0-9])[a-z0-9]{1,12}")
_LAST_ASSIGNED: Final = re.compile(r"(?:^|[ \t])([A-Za-z_]\w*)=[^\s\"'\\]+$")
_SCRIPT: Final = re.compile(r"\S+\.(?:sh|py|bash|exe)\b")
_FENCE: Final = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*(?P<language>\w*)")
_SHELLS: Final = frozenset({"bash", "sh", "shell", "zsh", "console"})
_OPTION_LINE: Final = re.compile(
    r"[ \t]+(?P<option>--?[A-Za-z][\w-]*)(?:[ \t=]+(?:\"[^\"]*\"|'[^']*'|[^\s\\(){}\"']+))?[ \t]*$"
)
_FIRST_OPTION: Final = re.compile(r"[ \t]+(?P<option>--?[A-Za-z][\w-]*)(?:[ \t=]|$)")
_INSTALLS: Final = re.compile(
    r"(?:[$#%>][ \t]+)?(?:sudo[ \t]+)?(?:uv[ \t]+(?:pip|sync|add)\b"
    r"|(?:\S+[ \t]+-m[ \t]+)?pip[\d.]*[ \t]+(?:install|download)\b"
    r"|(?:apt|apt-get|dnf|yum|conda|mamba|npm)[ \t]+(?:\S+[ \t]+)?install\b"
    r"|(?:huggingface-cli|hf|modelscope)[ \t]+download\b)"
)
"""What installs or downloads, and is never told by the next line what to do."""
_OPEN_ENDS: Final = ("\\", "|", "&&", "(", "{", ",", "^", "`")
_PLAIN_COMMAND: Final = re.compile(r"(?:[$%][ \t]+)?[a-z][\w./-]*(?:[ \t]+[\w./:@=-]+)*[ \t]*")
"""Nothing in it goes on in the next line: no quote, no backslash, no bracket."""
_BEHIND: Final = re.compile(r"^[ \t]*--?[A-Za-z][^#'\"]*[ \t]#[^\\]*$")
_NEXT_OPTION: Final = re.compile(r"[ \t]+--?[A-Za-z][\w-]*(?:[ \t=]|$)")
LINE_BREAK: Final = "line break"
_ROW: Final = re.compile(r"[ \t]*[A-Z][A-Z0-9]*_[A-Z0-9_]+[ \t]{2,}\S")
"""Of a table of names and values, as a tool prints its settings."""


def redirected_install(case: Case) -> Iterator[Remark]:
    """`pip install vllm>=0.11`: said with the first command behind it, of some of many."""
    yield from islice(_redirected(case), _MOST)


def _redirected(case: Case) -> Iterator[Remark]:
    first = case.commands[0].line
    above = [c.line for c in case.script.commands if c.program != "other" and c.line < first]
    lines = case.script.lines[max(above, default=0) : first]
    case.script.budget.work(len(lines), "its engine commands")
    for number, line in enumerate(lines, max(above, default=0) + 1):
        install = _INSTALL.search(line[:_LONGEST])
        if install is None:
            continue
        behind = _QUOTED.sub(lambda match: " " * len(match.group()), line[install.end() : _LONGEST])
        behind = _ENDS.split(behind, maxsplit=1)[0]
        for name, sign, release in _REQUIREMENT.findall(behind):
            written, where = f"{name}{sign}{release}", case.script.where(number)
            target = f"{sign[1:]}{release}"
            if sign[0] == ">":
                message = f"{where}: unquoted, > redirects: pip gets {name} alone and a file {target} is written"
            else:
                message = f"{where}: unquoted, < redirects: the shell looks for a file {target} and installs nothing"
            remedy = f"write '{written}'"
            yield replace(
                make_remark(Severity.WARNING, Code.INVALID_VALUE, "pip install", message, remedy), command=None
            )


def broken_line(case: Case) -> Iterator[Remark]:
    """A command that goes on in the next line, which begins in the middle of a word."""
    for number, command in enumerate(case.commands):
        last, options = max((word.end_line for word in command.argv), default=0), option_set(case.engine.program)
        if not 0 < last < len(case.script.lines) or options is None:
            continue
        line, following = (text[:_LONGEST].rstrip() for text in case.script.lines[last - 1 : last + 1])
        width = len(line)
        begins, _, rest = following.partition(" ")
        if begins.endswith(":") and (
            _COMMANDS.match(rest.lstrip()) or program_named(rest.split(" ", 1)[0]) is not None
        ):
            continue  # the name of the machine on which the next command is run
        is_known = program_named(begins) is not None or _COMMANDS.match(following) or _SCRIPT.match(following)
        is_read = any(each.line == last + 1 and each.program != "other" for each in case.script.commands)
        if width < _NARROWEST or len(following) > width or is_known or is_read or _ROW.match(following):
            continue
        if not _CONTINUES.match(following):
            continue
        flags = [word.partition("=")[0] for word in following.split() if word.startswith("--")]
        if not any(options.named(flag) for flag in flags):
            continue
        message = f"the command ends here, and {shortened(begins, 30)} begins another: broken at {width} columns"
        remedy, at = "join the lines, or end each but the last with a backslash", len(command.argv) - 1
        code = Code.INVALID_VALUE
        yield replace(make_remark(Severity.WARNING, code, LINE_BREAK, message, remedy, at=at), command=number)


def broken_value(case: Case) -> Iterator[Remark]:
    """A value that goes on in the next line: `NCCL_SOCKET_IFNAME=ens` and `12f0`, or the rest of a path."""
    for number, command in enumerate(case.commands):
        for before, behind, where, at in (*_broken_name(command, case), *_broken_path(command, case)):
            begun, rest = shortened(before, 50), shortened(behind, 50)
            message = f"{begun} is cut off by the line break, and the next line runs {rest} as a command"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, where, message, "join the two lines", at=at)
            yield replace(remark, command=number)


def _broken_name(command: Command, case: Case) -> Iterator[tuple[str, str, str, int | None]]:
    first = command.prefix[0] if command.prefix else None
    if first is None or not 1 < first.line <= len(case.script.lines) or first.line != command.line:
        return
    above = case.script.lines[first.line - 2][:_LONGEST].rstrip()
    name = _LAST_ASSIGNED.search(above)
    if name is None or len(above) < _NARROWEST or not _REST_OF_WORD.fullmatch(first.text):
        return
    if program_named(first.text) is None and not _COMMANDS.match(first.text):
        yield name[0].strip(), first.text, name[1], None


def _broken_path(command: Command, case: Case) -> Iterator[tuple[str, str, str, int | None]]:
    last = command.argv[-1] if command.argv else None
    if last is None or not 0 < last.end_line < len(case.script.lines):
        return
    line, following = (text[:_LONGEST].rstrip() for text in case.script.lines[last.end_line - 1 : last.end_line + 1])
    is_begun = len(line) >= _NARROWEST and line.endswith(last.text) and _PATH_BEGUN.fullmatch(last.text) is not None
    if is_begun and _REST_OF_PATH.fullmatch(following) and not _SCRIPT.match(following):
        yield last.text, following, shortened(last.text, 50), len(command.argv) - 1


def ended_by_comment(case: Case) -> Iterator[Remark]:
    """`--dtype int4  # or another` where the lines above end with a backslash and an option follows below."""
    script = case.script
    if not is_first(case.commands, script):
        return
    own = {word.line for command in script.commands if command.program != "other" for word in command.words}
    goes_on = False
    for number, text in numbered(script, 1, len(script.lines)):
        following = script.lines[number][:_LONGEST] if number < len(script.lines) else ""
        comment = _BEHIND.search(text) if goes_on and number not in own else None
        if comment is not None and _NEXT_OPTION.match(following) and number + 1 not in own:
            option = following.split()[0].partition("=")[0]
            message = f"{script.where(number)}: the comment stands where the backslash belongs, so the shell runs "
            message += f"{shortened(option, 40)} as a command of its own"
            where = shortened(text.strip(), 60)
            remedy = "write the comment above the command, and a backslash at the end of the line"
            yield replace(make_remark(Severity.WARNING, Code.INVALID_VALUE, where, message, remedy), command=None)
            return
        goes_on = text.rstrip().endswith("\\") and not text.lstrip().startswith("#")


def lost_options(case: Case) -> Iterator[Remark]:
    """Lines of options under another program's command that does not go on: the shell runs each as a command."""
    script = case.script
    if not is_first(case.commands, script):
        return
    own = {word.line for command in script.commands if command.program != "other" for word in command.words}
    shell, above, found = False, "", list[tuple[int, str, str]]()
    for number, text in numbered(script, 1, len(script.lines)):
        if fence := _FENCE.match(text):
            shell = not shell and fence["language"].lower() in _SHELLS
            above = ""
            continue
        option = _OPTION_LINE.match(text) if shell and above and number not in own else None
        if option is not None:
            found.append((number, option["option"], above))
        is_command = _PLAIN_COMMAND.fullmatch(text) is not None and number not in own
        above = (text.strip() if is_command else above if option is not None else "") if shell else ""
    if len(found) > 1 and found[1][2] == found[0][2] and not _INSTALLS.match(found[0][2]):
        first, written, command = found[0]
        ends = f"{script.where(first - 1)} has no backslash at its end"
        message = f"{ends}: the shell runs {written} as a command of its own"
        remedy = "end each line but the last with a backslash"
        where = shortened(" ".join(command.split()[:3]), 40)
        yield replace(make_remark(Severity.WARNING, Code.INVALID_VALUE, where, message, remedy), command=None)


def lost_behind_install(case: Case) -> Iterator[Remark]:
    """`pip install vllm` with a line of options below it, and no backslash between the two: it installs without them,
    and the shell looks for a command that is called like the first of them."""
    script = case.script
    if not is_first(case.commands, script):
        return
    own = {word.line for command in script.commands if command.program != "other" for word in command.words}
    lines = list(numbered(script, 1, len(script.lines)))
    shell = bool(lines) and not script.markdown and lines[0][1].startswith("#!") and "sh" in lines[0][1]
    above = ""
    for number, text in lines:
        if script.markdown and (fence := _FENCE.match(text)):
            shell = not shell and fence["language"].lower() in _SHELLS
            above = ""
            continue
        option = _FIRST_OPTION.match(text) if above and shell and number not in own else None
        if option is not None and len(text) - len(text.lstrip()) > len(above) - len(above.lstrip()):
            message = f"{script.where(number - 1)} has no backslash at its end: {shortened(above.strip(), 50)} runs "
            message += f"without the options below it, and {option['option']} is run as a command of its own"
            remedy = "end each line but the last with a backslash"
            where = " ".join(above.split()[:3])
            yield replace(make_remark(Severity.WARNING, Code.INVALID_VALUE, where, message, remedy), command=None)
            return
        whole = not _QUOTED.sub("", text).count("'") and not _QUOTED.sub("", text).count('"')
        installs = _INSTALLS.match(text.lstrip()) is not None and whole
        above = text if installs and not text.rstrip().endswith(_OPEN_ENDS) and " #" not in text else ""


def cut_off(remarks: Iterable[Remark]) -> str:
    """Why a part of the command is missing; "" where none is."""
    return next((remark.finding.message for remark in remarks if remark.finding.where == LINE_BREAK), "")
