"""Whether a server holds the step that starts it: what comes behind waits for its end."""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.programs import is_server

_LEAVES: Final = re.compile(
    r"(?<!&)&(?![&>])|\b(?:timeout|tmux|screen|systemd-run|start-stop-daemon|daemonize|setsid)\b"
    r"|\b(?:sbatch|kubectl|pm2|parallel|systemctl|supervisorctl)\b|[ ](?:-d|--detach)(?=[ ]|$)"
)
_MOST_LINES: Final = 40
_LONGEST: Final = 1000


def statement(case: Case) -> tuple[int, int]:
    """The first and the last line of the server's command, as the lines go on by backslashes."""
    lines, first = case.script.lines, case.commands[0].line
    last = first
    while last < min(len(lines), first + _MOST_LINES) and lines[last - 1].rstrip()[-1:] in ("\\", "`", "^"):
        last += 1
    return first, last


def holds_on(case: Case) -> bool:
    """Whether nothing lets its command end before the server does: no `&`, no container that is detached."""
    command = case.commands[0]
    if len(case.commands) > 1 or command.embedded or not is_server(command.program):
        return False
    if not 0 < command.line <= len(case.script.lines):
        return False
    first, last = statement(case)
    text = "\n".join(line[:_LONGEST] for line in case.script.lines[first - 1 : last])
    if _LEAVES.search(text):
        return False
    return not any(wrapper.kind == "docker run" and wrapper.has("--detach") for wrapper in command.wrappers)
