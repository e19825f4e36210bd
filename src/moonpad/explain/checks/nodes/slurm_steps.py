"""Steps of a batch script: left behind by its end, on more nodes than the group has, and a place to meet that each task
makes up for itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.nodes.slurm_jobs import asked_job
from moonpad.explain.programs import is_server
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_BACKGROUND: Final = re.compile(r"(?<![&>\d])&[ \t]*(?:#.*)?$")
_ENDS_AT_ONCE: Final = re.compile(
    r"[ \t]*(?:#.*|done\b.*|fi\b.*|\}|esac\b.*|echo\b[^|;&]*|printf\b[^|;&]*|\w+=[^ $(`]*|date|)$"
)
_HEADER: Final = re.compile(r"[ \t]*#SBATCH\b")
_PLACES: Final = ("--master-addr", "--dist-init-addr")
_OF_TASK: Final = re.compile(r"\bsrun\b[^'\n]*(?:\\\n[^'\n]*)*'(?P<inside>[^']*)'")
_MADE_UP: Final = re.compile(
    r"(?P<name>[A-Za-z_]\w*)=[\"']?(?P<value>\$\([ \t]*hostname\b[^)]{0,40}\)|\$\{?SLURMD_NODENAME\}?|\$\{?HOSTNAME\}?"
    r"|\$\{?RANDOM\}?|\$\(\([^)]*RANDOM[^)]*\)\)|\$\(shuf[^)]{0,60}\))"
)


def steps_left_behind(case: Case) -> Iterator[Remark]:
    """`srun … &` as the last command of a batch script: the job ends at once, and its steps with it."""
    command, script = case.commands[0], case.script
    if not is_server(command.program) or script.markdown or script.objects or not command.words:
        return
    if not any(_HEADER.match(text) for text in script.lines[:60]):
        return
    last = max(word.end_line for word in command.words)
    later = [each for each in script.commands if each.line > last]
    if later:
        return
    lines = list(numbered(script, last, len(script.lines)))
    at = next((at for at, (_, text) in enumerate(lines) if not text.rstrip().endswith("\\")), None)
    if at is None or _BACKGROUND.search(lines[at][1]) is None:
        return
    if not all(_ENDS_AT_ONCE.match(text) for _, text in lines[at + 1 :]):
        return
    message = f"{script.where(lines[at][0])}: the server runs in the background, and the batch script ends behind it: "
    message += "Slurm ends the job with all of its steps"
    remedy = "write wait as the last line"
    yield Remark(make_remark(Severity.WARNING, Code.CONFLICT, "wait", message, remedy).finding, command=None)


def nodes_of_job(case: Case) -> Iterator[Remark]:
    """`#SBATCH -N 4` over `srun … --nnodes 2 --node-rank $SLURM_NODEID`: ranks 2 and 3 are none of the group."""
    command, place = case.commands[0], case.option("--nnodes")
    step = next((wrapper for wrapper in command.wrappers if wrapper.kind == "srun"), None)
    nodes = case.first.node.nodes
    if step is None or place is None or nodes is None or len(case.commands) > 1:
        return
    if "SLURM_" not in case.text("--node-rank") or any(
        step.value(name) for name in ("--nodes", "--ntasks", "--nodelist")
    ):
        return
    job = asked_job(case)
    if job is None or job.nodes is None or job.nodes == nodes or (job.tasks is not None and job.tasks != job.nodes):
        return
    if sum(is_server(each.program) for each in case.script.commands) > 1:
        return
    message = (
        f"the job has {job.nodes} {'node' if job.nodes == 1 else 'nodes'}, on each of which srun starts this line, and "
    )
    message += f"{place.written} is {nodes}: "
    message += "the ranks beyond are refused" if job.nodes > nodes else "the others are never started, and it waits"
    remedy = f"ask for {nodes} nodes, or write {place.written} {job.nodes} with a layout for them"
    yield make_remark(Severity.WARNING, Code.CONFLICT, place.written, message, remedy, at=place.index)


def place_of_each_task(case: Case) -> Iterator[Remark]:
    """`srun bash -c 'M=$(hostname); … --dist-init-addr $M:5000'`: every task meets at its own name, or port."""
    command, script = case.commands[0], case.script
    if not any(wrapper.kind == "srun" for wrapper in command.wrappers) or (case.first.node.nodes or 1) < 2:
        return
    if not command.words or "SLURM_" not in case.text("--node-rank"):
        return
    last = max(word.end_line for word in command.words)
    first = max(1, min(word.line for word in (*command.prefix, *command.words)) - 12)
    written = "\n".join(text for _, text in numbered(script, first, last))
    for task in _OF_TASK.finditer(written):
        for made in _MADE_UP.finditer(task["inside"]):
            behind = task["inside"][made.end() :]
            for flag in _PLACES:
                used = re.search(rf"{flag}[ =][\"']?[^ \"']*\$\{{?{made['name']}\b", behind)
                place = case.option(flag)
                if used is None or place is None:
                    continue
                message = (
                    f"{made['name']}={made['value']} is filled in by every task for itself: each waits at a place of "
                )
                message += "its own, and the group is never complete"
                remedy = f"set {made['name']} once above srun, and export it"
                remark = make_remark(Severity.WARNING, Code.CONFLICT, place.written, message, remedy, at=place.index)
                yield replace(remark, stops=True)
                return


SLURM_STEPS: Final = (steps_left_behind, nodes_of_job, place_of_each_task)
