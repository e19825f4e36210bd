"""Steps of a pipeline or a playbook: one ends before the next begins, and each has a shell of its own, or none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.foreign_names import OF_LIBRARIES, VARIABLES
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.starters.foreground import holds_on, statement
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_MODULE: Final = re.compile(
    r"[ \t]*(?:-[ \t]+)?(?:ansible\.(?:builtin|legacy)\.)?(?P<module>command|shell)[ \t]*:[ \t]*(?P<rest>.*)$"
)
_PLAYBOOK: Final = re.compile(
    r"ansible\.(?:builtin|legacy)\.\w|^[ \t]*-?[ \t]*(?:become|gather_facts|register|changed_when|become_user)[ \t]*:"
)
_OF_SHELL: Final = re.compile(r"^(?P<set>[A-Z_][A-Z0-9_]*=)\S*[ \t]|[ \t](?P<sign>&&|\|\||\||;|>>?|2>&1|&)(?:[ \t]|$)")
_FOLDED: Final = re.compile(r"[|>][+-]?[ \t]*$")
_CMD: Final = re.compile(r"[ \t]*cmd[ \t]*:[ \t]*(?P<rest>.*)$")
_WORKFLOW: Final = re.compile(r"[ \t]*runs-on[ \t]*:")
_STEP: Final = re.compile(r"(?P<indent>[ \t]*)-[ \t]+(?:name|run|uses|id|if|env|shell|working-directory)[ \t]*:")
_TASK: Final = re.compile(r"(?P<indent>[ \t]*)-[ \t]+(?:name|block|ansible\.\w+\.\w+|\w+)[ \t]*:")
_ASYNC: Final = re.compile(r"[ \t]*(?:async|poll)[ \t]*:")
_EXPORT: Final = re.compile(
    r"[ \t]*(?:-[ \t]+)?(?:run[ \t]*:[ \t]*(?:[|>][+-]?[ \t]*)?)?export[ \t]+(?P<name>[A-Za-z_]\w*)=[^;&|]*$"
)
_PIPELINE: Final = re.compile(r"^[ \t]*pipeline[ \t]*\{|^[ \t]*node[ \t]*(?:\([^)]*\))?[ \t]*\{")
_SH: Final = re.compile(r"^[ \t]*sh[ \t]*(?:\(|[\"'])")
_KEPT: Final = re.compile(r"JENKINS_NODE_COOKIE|BUILD_ID=dontKillMe|docker[ \t]+run[ \t].*-d|systemctl|systemd-run")
_ENDS: Final = re.compile(r"\b(?:kill|pkill|docker[ \t]+stop)\b")
_LONGEST: Final = 1000
_FARTHEST: Final = 60


def command_without_shell(case: Case) -> Iterator[Remark]:
    """Ansible's `command: A=1 vllm serve … > log &`: the module hands its words to the program itself."""
    lines, own = case.script.lines, case.commands[0].line
    if not is_in_lines(_PLAYBOOK, lines, _LONGEST):
        return
    found = _module(case)
    if found is None or found[1] != "command":
        return
    number = found[0]
    _, last = statement(case)
    text = _text_of(lines[number - 1 : max(last, own)])
    match = _OF_SHELL.search(text)
    if text.startswith(("[", "- ", "argv:")):
        return  # a list of words, of another tool
    if match is None or text.startswith(("bash ", "sh ", "/bin/bash ", "/bin/sh ")):
        return
    sign = match["set"] or match["sign"]
    does = f"takes {sign}… for the program" if match["set"] else f"hands {sign} to the program as an argument"
    message = f"{case.script.where(number)}: the module command runs no shell: it {does}"
    remedy = "write it under environment:" if match["set"] else "take ansible.builtin.shell"
    remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, sign, message, remedy)
    yield replace(remark, command=None)


def server_holds_step(case: Case) -> Iterator[Remark]:
    """A server in the foreground of a step that others follow."""
    lines, own = case.script.lines, case.commands[0].line
    workflow = is_in_lines(_WORKFLOW, lines, _LONGEST)
    if not workflow and not is_in_lines(_PLAYBOOK, lines, _LONGEST):
        return
    if not holds_on(case) or (not workflow and _module(case) is None):
        return
    _, last = statement(case)
    around = _step_around(lines, own, _STEP if workflow else _TASK)
    if around is None:
        return
    begin, indent = around
    rest = range(last + 1, min(len(lines), last + _FARTHEST) + 1)
    following = next((n for n in rest if _begins(lines[n - 1], indent)), 0)
    inside = lines[begin - 1 : (following or len(lines) + 1) - 1]
    if not following or any(_ASYNC.match(line) for line in inside):
        return
    if any(_begins_shallower(lines[n - 1], indent) for n in range(last + 1, following)):
        return
    message = f"{case.script.where(own)}: the server runs in the foreground of this step, which ends when it ends: "
    message += f"the next one (line {following}) never begins"
    remedy = "start it with nohup … > server.log 2>&1 &" if workflow else "write async: 2592000 and poll: 0 beside it"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, "step", message, remedy)
    yield replace(remark, command=None)


def export_of_other_step(case: Case) -> Iterator[Remark]:
    """`run: export A=1` in one step, and the server in another one."""
    lines, own = case.script.lines, case.commands[0].line
    if not is_in_lines(_WORKFLOW, lines, _LONGEST):
        return
    around = _step_around(lines, own, _STEP)
    if around is None:
        return
    _, last = statement(case)
    own_text = "\n".join(lines[own - 1 : last])
    for number in range(max(1, around[0] - _FARTHEST), around[0]):
        match = _EXPORT.match(lines[number - 1][:_LONGEST])
        between = lines[number - 1 : around[0]]
        if match is None or any("GITHUB_ENV" in line or _WORKFLOW.match(line) for line in between):
            continue
        name = match["name"]
        if not (VARIABLES.fullmatch(name) or OF_LIBRARIES.fullmatch(name) or f"${name}" in own_text):
            continue  # for that step itself
        message = f"{case.script.where(number)}: {name} is exported in a step of its own, whose shell ends with it: "
        message += "the step that starts the engine does not have it"
        remedy = f'write echo "{name}=…" >> "$GITHUB_ENV", or env: at the job'
        remark = make_remark(Severity.WARNING, Code.DEAD_ENV, name, message, remedy)
        yield replace(remark, command=None)
        return


def killed_with_build(case: Case) -> Iterator[Remark]:
    """`sh 'nohup vllm serve … &'` in a pipeline of Jenkins, which ends what its builds leave running."""
    lines, own = case.script.lines, case.commands[0].line
    if not is_in_lines(_PIPELINE, lines, _LONGEST) or not is_in_lines(_SH, lines, _LONGEST):
        return
    text = lines[own - 1][:_LONGEST] if 0 < own <= len(lines) else ""
    if "&" not in text.replace("&&", "").replace(">&", "").replace("&1", "") or is_in_lines(_KEPT, lines, _LONGEST):
        return
    if is_in_lines(_ENDS, lines, _LONGEST):
        return
    message = f"{case.script.where(own)}: Jenkins ends the processes that a build leaves behind: the server stops when "
    message += "the build is done"
    remedy = "start it as a service or a container, or with JENKINS_NODE_COOKIE=dontKillMe"
    remark = make_remark(Severity.NOTE, Code.CONFLICT, "sh", message, remedy)
    yield replace(remark, command=None)


def _module(case: Case) -> tuple[int, str] | None:
    """The line of Ansible's module around the server's command, and its name."""
    lines, own = case.script.lines, case.commands[0].line
    for number in range(min(own, len(lines)), max(0, own - 12), -1):
        match = _MODULE.match(lines[number - 1][:_LONGEST])
        if match is not None:
            return number, match["module"]
        if number < own and _TASK.match(lines[number - 1][:_LONGEST]):
            return None
    return None


def _text_of(lines: tuple[str, ...]) -> str:
    """What the module is given, on one line."""
    first = _MODULE.match(lines[0][:_LONGEST])
    parts = [first["rest"] if first is not None and not _FOLDED.search(first["rest"]) else ""]
    for line in lines[1:]:
        cmd = _CMD.match(line[:_LONGEST])
        parts.append((cmd["rest"] if cmd is not None else line[:_LONGEST]).strip())
    return " ".join(part for part in parts if part and not _FOLDED.fullmatch(part)).strip("\"' ")


def _step_around(lines: tuple[str, ...], own: int, step: re.Pattern[str]) -> tuple[int, str] | None:
    """The first line of the step that a line belongs to, and its indentation."""
    for number in range(min(own, len(lines)), max(0, own - _FARTHEST), -1):
        match = step.match(lines[number - 1][:_LONGEST])
        if match is not None:
            return number, match["indent"]
    return None


def _begins(line: str, indent: str) -> bool:
    return line.startswith(f"{indent}- ")


def _begins_shallower(line: str, indent: str) -> bool:
    """Whether another list or mapping goes on, outside of the steps."""
    return bool(line.strip()) and len(line) - len(line.lstrip()) < len(indent)
