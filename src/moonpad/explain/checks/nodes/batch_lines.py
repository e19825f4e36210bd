"""Lines of a batch script that Slurm or bash read otherwise than they look."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_DIRECTIVE: Final = re.compile(r"#SBATCH[ \t]+(?P<option>-\S+)")
_NO_COMMAND: Final = re.compile(r"[ \t]*(?:#.*)?$")
_FENCE: Final = re.compile(r"[ \t]*(?:```|~~~)")
_LIST: Final = re.compile(r"\$\{?SLURM_(?:JOB_)?NODELIST\}?")
_MEETS: Final = re.compile(
    r"(?:(?:^|[ \t;&'\"])(?:export[ \t]+)?"
    r"(?P<name>MASTER_ADDR|MASTER|HEAD(?:_NODE|_ADDR|_IP|_HOST)?|DIST_INIT_ADDR|LEADER\w*)="
    r"|(?P<flag>--(?:master-addr|dist-init-addr|data-parallel-address))[ =])"
    r"[\"']?\$\{?SLURM_(?:JOB_)?NODELIST\}?(?=[\"': \t;&]|$)"
)
_BRACES: Final = re.compile(
    r"[ \t]*for[ \t]+\w+[ \t]+in[ \t]+(?P<braces>\{\d+\.\.\$[\w{}()+ -]*\}|\{\$\{?\w+\}?\.\.[^}\s]+\})[ \t]*(?:;|$)"
)
_OTHER_SHELL: Final = re.compile(r"#!.*\b(?:zsh|ksh)\b|\bzsh\b")


def directive_behind_command(case: Case) -> Iterator[Remark]:
    """`module load cuda` and then `#SBATCH --gres=gpu:8`: sbatch reads none below the first command."""
    script = case.script
    if not is_first_server(case.commands, script) or script.objects:
        return
    command, started = 0, False
    for number, text in numbered(script, 1, len(script.lines)):
        if text.startswith("#!") or _FENCE.match(text):
            command, started = 0, text.startswith("#!")
            continue
        match = _DIRECTIVE.match(text)
        if match is None:
            command = command or (number if _NO_COMMAND.match(text) is None else 0)
        elif command and started:
            message = f"{script.where(number)}: sbatch reads no directive below the first command "
            message += f"({script.where(command)}): {match['option']} and those behind it are comments"
            remedy = "move all #SBATCH lines above the first command"
            finding = make_remark(Severity.WARNING, Code.INVALID_VALUE, "#SBATCH", message, remedy).finding
            yield Remark(finding, command=None)
            return


def list_as_address(case: Case) -> Iterator[Remark]:
    """`MASTER_ADDR=$SLURM_JOB_NODELIST`: node[01-02] is no name of a machine."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    for number, text in numbered(script, 1, len(script.lines)):
        match = _MEETS.search(text) if _LIST.search(text) and not text.lstrip().startswith("#") else None
        if match is not None:
            where = match["name"] or match["flag"]
            message = (
                f"{script.where(number)}: the list of a job's nodes is written like node[01-02], which is not the "
            )
            message += "name of a machine: no rank finds the first"
            sign = "=" if match["name"] else " "
            remedy = f'write {where}{sign}$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)'
            finding = make_remark(Severity.WARNING, Code.INVALID_VALUE, where, message, remedy).finding
            yield Remark(finding, command=None)
            return


def braces_with_variable(case: Case) -> Iterator[Remark]:
    """`for r in {0..$N}`: bash expands braces before variables, and the loop runs once, with these very letters."""
    script = case.script
    if not is_first_server(case.commands, script) or any(_OTHER_SHELL.search(text) for text in script.lines[:1]):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    if any("zsh" in text for _, text in lines):
        return
    for number, text in lines:
        match = _BRACES.match(text)
        if match is not None:
            written = shortened(match["braces"], 40)
            message = (
                f"{script.where(number)}: bash expands braces before variables: {written} stays as it is, and the "
            )
            message += "loop runs once"
            finding = make_remark(
                Severity.WARNING, Code.INVALID_VALUE, "for", message, "write $(seq FIRST LAST)"
            ).finding
            yield Remark(finding, command=None)
            return


def environment_of_step(case: Case) -> Iterator[Remark]:
    """`srun --export=HF_HOME=/x vllm serve`: the step gets that alone, without PATH and what was exported above."""
    command = case.commands[0]
    step = next((wrapper for wrapper in command.wrappers if wrapper.kind == "srun"), None)
    if step is None:
        return
    words = [word.text for word in step.words]
    values = [text.partition("=")[2] for text in words if text.startswith("--export=")]
    value = values[-1].strip("'\"") if values else ""
    parts = value.split(",")
    if not value or "$" in parts[0] or parts[0] in ("ALL", "NIL") or any(part == "ALL" for part in parts):
        return
    if value == "NONE" or any(part.partition("=")[0] == "PATH" for part in parts):
        return
    if any(text.startswith("--container-image") for text in words) or command.container is not None:
        return  # an image has an environment of its own
    if command.prefix and "/" in command.prefix[-1].text:
        return
    message = (
        f"--export={shortened(value, 40)} hands on that alone: the step has no PATH of an environment, and nothing of "
    )
    message += "what is exported above"
    remedy = f"write --export=ALL,{shortened(value, 60)}"
    finding = make_remark(Severity.WARNING, Code.CONFLICT, "--export", message, remedy).finding
    yield Remark(finding, command=0)


BATCH_LINES: Final = (directive_behind_command, list_as_address, braces_with_variable, environment_of_step)
