"""Manifests that a script hands to `kubectl apply -f -`, or writes, as a heredoc."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from moonpad.explain.commands import Command, Word
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.explain.shell.scope import Value
from moonpad.values.records import replace

_MANIFEST: Final = re.compile(r"^(?:apiVersion|services):", re.MULTILINE)
_TEMPLATE: Final = re.compile(r"(?<![\\$])\$\{([A-Za-z_]\w*)\}")
_VARIABLE: Final = re.compile(r"\\?\$(?:\{([A-Za-z_]\w*)(?::?-([^{}]*))?\}|([A-Za-z_]\w*))")


def read_here_manifest(text: str, start: int, state: ScriptState, variables: Mapping[str, Value]) -> bool:
    """Adds the commands of a manifest as it stands in the script, from the offset `start` on, with the script's values
    in the place of its variables; no `variables` where the heredoc is not expanded. Whether it is one."""
    if not _MANIFEST.search(text):
        return False
    from moonpad.explain.manifests.manifest_reader import read_manifest  # it needs PyYAML, and this module

    before, problems = len(state.commands), len(state.problems.items)
    read_manifest(text, start, state)
    if not any(command.program != "other" for command in state.commands[before:]):
        del state.problems.items[problems:]  # of a file that starts nothing
    state.commands[before:] = [_expanded(command, variables, state) for command in state.commands[before:]]
    return True


def _expanded(command: Command, variables: Mapping[str, Value], state: ScriptState) -> Command:
    argv = tuple(_with_values(word, variables, state) for word in command.argv)
    env = {name: _with_values(word, variables, state) for name, word in command.env.items()}
    return replace(command, argv=argv, env=env)


def _with_values(word: Word, variables: Mapping[str, Value], state: ScriptState) -> Word:
    names: list[str] = []

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[3]
        known = variables.get(name)
        if match.group().startswith("\\"):
            return match.group()[1:]
        if isinstance(known, Word) and not known.unresolved:
            return known.text
        if known is None and match[2] is not None:
            return match[2]
        names.append(name)
        return match.group()

    if "$" not in word.text:
        return word
    text = _VARIABLE.sub(value, word.text)
    state.budget.spend(1, len(text))
    return replace(word, text=text, unresolved=(*word.unresolved, *names), pieces=())


def fill_templates(state: ScriptState, first: int, variables: Mapping[str, Value]) -> None:
    """A manifest of a guide is written for envsubst where its variables are those that blocks of the guide set: with
    their values in the commands from the `first` on. What is set nowhere stays."""
    known = {name: value for name, value in variables.items() if isinstance(value, Word) and not value.unresolved}
    if known:
        state.commands[first:] = [_filled(command, known, state) for command in state.commands[first:]]


def _filled(command: Command, known: Mapping[str, Word], state: ScriptState) -> Command:
    def filled(word: Word) -> Word:
        names = {match[1] for match in _TEMPLATE.finditer(word.text) if match[1] in known} if "${" in word.text else ()
        if not names:
            return word
        text = _TEMPLATE.sub(lambda match: known[match[1]].text if match[1] in known else match[0], word.text)
        state.budget.spend(1, len(text))
        return replace(
            word, text=text, unresolved=tuple(name for name in word.unresolved if name not in names), pieces=()
        )

    wrappers = tuple(
        replace(wrapper, image=filled(wrapper.image)) if wrapper.image is not None else wrapper
        for wrapper in command.wrappers
    )
    env = {name: filled(word) for name, word in command.env.items()}
    return replace(command, argv=tuple(map(filled, command.argv)), env=env, wrappers=wrappers)
