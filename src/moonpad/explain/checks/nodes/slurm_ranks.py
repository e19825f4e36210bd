"""Ranks of a Slurm job that are filled in before there is a task: the shell of the batch script has number 0."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.base import Reading
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command, Script, Word, Wrapper
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_OF_TASK: Final = ("SLURM_PROCID", "SLURM_NODEID", "SLURM_LOCALID")
_OF_MPI: Final = re.compile(r"OMPI_COMM_WORLD_(?:NODE_|LOCAL_)?RANK|PMI_RANK|PMIX_RANK|MV2_COMM_WORLD_RANK")
_RANKS: Final = ("--node-rank", "--data-parallel-rank", "--data-parallel-start-rank")
_HERE_TEXT: Final = "<<"
_ONE: Final = frozenset({"1"})
_SHELL: Final = " -c"
_OTHERS: Final = frozenset({"eval", "ssh", "mpirun", "docker exec"})


def rank_of_batch(case: Case) -> Iterator[Remark]:
    """`srun python … --node-rank $SLURM_NODEID`: the shell that reads the line replaces the variable, once."""
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
        step = _step(command)
        if step is None or any(step.value(name) in _ONE for name in ("--nodes", "--ntasks")):
            continue
        if reading.node.nodes == 1:
            continue
        for at, word in _rank_words(command, reading):
            name = next((each for each in _OF_TASK if each in word.unresolved), "")
            if not name or not _is_replaced(word, name, step, command, case.script):
                continue
            flag = command.argv[at].text.partition("=")[0]
            message = f"the shell of the batch script fills {name} in before srun starts its tasks, and there it is 0: "
            message += "each task gets rank 0"
            remedy = f"let a shell of the task do it: srun bash -c '… {flag} ${name}', in single quotes"
            severity = Severity.ERROR if _is_batch(case.script) else Severity.WARNING
            remark = make_remark(severity, Code.INVALID_VALUE, flag, message, remedy, at=at)
            yield replace(remark, command=number)
            return


def rank_of_mpirun(case: Case) -> Iterator[Remark]:
    """`mpirun -np 2 vllm serve … --node-rank $OMPI_COMM_WORLD_RANK`: the shell here has no such variable yet."""
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
        at_launcher = next((at for at, each in enumerate(command.wrappers) if each.kind == "mpirun"), None)
        if at_launcher is None or any(each.kind.endswith(_SHELL) for each in command.wrappers):
            continue
        if any(each.kind in _OTHERS for each in command.wrappers[at_launcher + 1 :]):
            continue
        for at, word in _rank_words(command, reading):
            name = next((each for each in word.unresolved if _OF_MPI.fullmatch(each)), "")
            launcher = command.wrappers[at_launcher]
            begun = launcher.words[0].line if launcher.words else 0
            if not name or not 0 < begun <= len(case.script.lines) or _HERE_TEXT in case.script.lines[begun - 1]:
                continue
            flag = command.argv[at].text.partition("=")[0]
            message = f"the shell that reads the line fills {name} in before mpirun starts its ranks, and there it is "
            message += "empty: no rank is told its number"
            remedy = f"let a shell of each rank do it: mpirun … bash -c '… {flag} ${name}', in single quotes"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, flag, message, remedy, at=at)
            yield replace(remark, command=number)
            return


def _is_batch(script: Script) -> bool:
    """Whether it is a batch script, whose own shell always has rank 0; elsewhere the variable is not known."""
    return any(line.startswith("#SBATCH") for line in script.lines[:200])


def _step(command: Command) -> Wrapper | None:
    return next((wrapper for wrapper in command.wrappers if wrapper.kind == "srun"), None)


def _rank_words(command: Command, reading: Reading) -> Iterator[tuple[int, Word]]:
    """Where the option stands, and the word that holds its value."""
    for flag in _RANKS:
        place = reading.parsed.occurrence(flag)
        if place is not None:
            yield place.index, command.argv[min(place.index + place.length - 1, len(command.argv) - 1)]


def _is_replaced(word: Word, name: str, step: Wrapper, command: Command, script: Script) -> bool:
    """Whether the outer shell does it: none is started behind srun, or one whose words stand in double quotes."""
    inner = command.wrappers[command.wrappers.index(step) + 1 :]
    shells = [wrapper for wrapper in inner if wrapper.kind.endswith(_SHELL)]
    if any(wrapper.kind in _OTHERS for wrapper in inner) or len(shells) > 1:
        return False
    begun = step.words[0].line if step.words else 0
    if not 0 < begun <= word.line <= len(script.lines) or _HERE_TEXT in script.lines[begun - 1]:
        return False
    if not shells:
        return True
    text = shells[0].words[-1] if shells[0].words else None
    if text is None or not 0 < text.line <= len(script.lines) or word.line < text.line:
        return False
    opened = script.lines[text.line - 1][text.column :]
    if not opened.startswith('"') or opened.startswith('"$'):
        return False
    written = script.lines[word.line - 1][max(0, word.column - 1) : max(word.end_column, word.column + 1)]
    return re.search(rf"(?<!\\)\$\{{?{name}", written) is not None
