"""What a command runs that the text holds: `bash /scripts/start.sh 8`, `source serve.sh`, `sbatch -N 2 serve.sh`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from moonpad.engines.value_checks import SWITCHED
from moonpad.explain.commands import Word
from moonpad.explain.programs import base_name
from moonpad.explain.shell.bash_lexer import Lexer
from moonpad.explain.shell.bash_parser import Parser
from moonpad.explain.shell.container_scripts import script_wrapper
from moonpad.explain.source_text import Source

if TYPE_CHECKING:
    from moonpad.explain.shell.interpreter import ScriptState, Shell
    from moonpad.explain.shell.scope import Scope
    from moonpad.explain.shell.wrappers import Peeled

_HANDLES: Final = frozenset({
    *("tee", "cat", "chmod", "chown", "cp", "scp", "rsync", "mv", "rm", "ls", "sed", "less", "ln", "install", "touch"),
    *("stat", "head", "tail", "grep", "diff", "wc", "vi", "vim", "nano", "git", "shellcheck", "systemctl"),
    *("journalctl", "systemd-analyze"),
})  # fmt: skip
"""What does something with a script and does not run it."""
_RUNNERS: Final = frozenset({"bash", "sh", "zsh", "dash", "ksh", "sbatch"})
_SOURCES: Final = frozenset({"source", "."})
_FARTHEST: Final = 3
_FARTHEST_OF_SBATCH: Final = 24
"""Words in which the script's name is looked for."""
_APART: Final = frozenset({"ssh", "docker run", "docker exec"})
_OF_STEP: Final = frozenset({"--nodes", "--ntasks", "--ntasks-per-node", "--gpus", "--gpus-per-node", "--gres"})


def script_of(peeled: Peeled, state: ScriptState) -> Word | None:
    """The script that a command runs, where the text holds it; its arguments are $1 …"""
    first = base_name(peeled.rest[0]) if peeled.rest else ""
    if not first or first in _HANDLES:
        return None
    farthest = _FARTHEST_OF_SBATCH if first == "sbatch" else _FARTHEST
    for at, word in enumerate(peeled.rest[:farthest]):
        name = base_name(word)
        if name not in state.scripts or name in state.running:
            continue
        arguments = peeled.rest[at + 1 :]
        if name in state.held and not _runs_held(name, peeled.rest[:at], arguments, state):
            continue
        _note_run(name, state)
        peeled.arguments = arguments
        peeled.wrappers += script_wrapper(peeled.wrappers, peeled.rest)
        return state.scripts[name]
    return None


def arguments_of(peeled: Peeled) -> tuple[Word, ...] | None:
    """None where it is not known how many they are: `bash serve.sh "$@"`."""
    return None if any(_is_several(word) for word in peeled.arguments) else peeled.arguments


def _is_several(word: Word) -> bool:
    return not {"@", "*"}.isdisjoint(word.unresolved) or (bool(word.unresolved) and "[@]" in word.text)


def sourced(words: Sequence[Word], state: ScriptState) -> str:
    """The name of the script that the shell itself reads, "" where the text does not hold it."""
    if len(words) < 2 or words[0].text not in _SOURCES:
        return ""
    name = base_name(words[1])
    return name if name in state.held and name not in state.running else ""


def read_sourced(shell: Shell, name: str, arguments: tuple[Word, ...]) -> None:
    """Reads it as the shell does that sources it: with its variables and functions, and what it sets stays."""
    state, scope = shell.state, shell.scope
    source = Source.inside(state.scripts[name], state.text)
    inner = type(shell)(
        state, source, scope, wrappers=shell.wrappers, label=shell.label, depth=shell.depth + 1, paid=shell.paid
    )
    inner.functions, inner.ever_called = shell.functions, shell.ever_called
    _note_run(name, state)
    before = scope.arguments
    scope.arguments = None if any(map(_is_several, arguments)) else arguments or before
    with state.running_script(name), scope.called_with(bool(arguments)):
        inner.statements(Parser(Lexer(source, state.problems).tokens(), source, state.problems).statements())
    scope.arguments = before


def asked_of_slurm(script: Word, state: ScriptState) -> dict[str, Word]:
    """The variables of the job that a script asks for."""
    from moonpad.explain.shell.slurm_directives import slurm_variables  # it needs the interpreter

    asks = "#SBATCH" in script.text and script.pieces
    return dict(slurm_variables(script.text, script.pieces[0].source_start, state)) if asks else {}


def give_of_outer(inner: Scope, script: Word, held: str, scope: Scope, peeled: Peeled, state: ScriptState) -> None:
    """Gives a shell that a command starts the variables of its job: those that a `held` script asks for, or else those
    of the `scope` around it; and the switches that are open in the text that it is given."""
    for text in script.unresolved:
        name = text[2:].partition(":+")[0]
        if SWITCHED.fullmatch(text) is not None and text.startswith("${") and name not in inner.variables:
            inner.set(name, Word(text, unresolved=(text,)))
    if not held:
        inner.give_of_job(_handed_on(scope, peeled), sure=scope.sure_of_job)
        return
    from moonpad.explain.shell.slurm_directives import is_called_with_others  # it needs the interpreter

    call = " ".join(word.text for word in peeled.words)
    others = is_called_with_others(call) or is_called_with_others(script.text)
    inner.give_of_job(asked_of_slurm(script, state), sure=not others)


def _handed_on(scope: Scope, peeled: Peeled) -> dict[str, Word]:
    """What ssh and containers of Docker do not hand on. A step with numbers of its own (`srun --nodes=1`) has those of
    the whole job alone."""
    kinds = {wrapper.kind for wrapper in peeled.wrappers}
    if not scope.of_job or kinds & _APART:
        return {}
    options = [option for wrapper in peeled.wrappers if wrapper.kind == "srun" for option in wrapper.options]
    own = any(option.name in _OF_STEP for option in options)
    values = {name: scope.variables.get(name) for name in scope.of_job if name.startswith("SLURM_JOB_") or not own}
    return {name: value for name, value in values.items() if isinstance(value, Word)}


def _note_run(name: str, state: ScriptState) -> None:
    """To be read again costs budget."""
    if name in state.ran_scripts:
        state.budget.spend(1, len(state.scripts[name].text))
    state.ran_scripts.add(name)


def _runs_held(name: str, before: Sequence[Word], arguments: Sequence[Word], state: ScriptState) -> bool:
    """Where another call has values, one with places to fill in only tells how it is called."""
    runner = not before or base_name(before[0]) in _RUNNERS
    open_ended = any(word.unresolved and word.text.startswith(("<", "[")) for word in arguments)
    return runner and not (open_ended and state.held[name])
