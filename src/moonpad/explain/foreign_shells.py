"""Files that hold commands in another dress: PowerShell, systemd units, Dockerfiles. Places in the text hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from yaml import MarkedYAMLError

from moonpad.explain.commands import Word, in_the_container
from moonpad.explain.interpreter import ScriptState, Shell, words_of
from moonpad.explain.source_text import Source
from moonpad.explain.yaml_source import YamlSource, items, scalar

_BACKTICK: Final = re.compile(r"`(?=[ \t]*\n)")
_HERE: Final = re.compile(r"^([ \t]*)\.\\(?=\w)", re.MULTILINE)
_UNIT: Final = re.compile(r"^ExecStart[ \t]*=", re.MULTILINE)
_DIRECTIVE: Final = re.compile(r"^(ExecStart[ \t]*=[ \t]*[-@:+!]*|Environment[ \t]*=)|^(?=.)", re.MULTILINE)
_DOCKERFILE: Final = re.compile(r"^[ \t]*FROM[ \t]+\S+", re.MULTILINE | re.IGNORECASE)
_STARTS: Final = re.compile(r"^[ \t]*(?:CMD|ENTRYPOINT)[ \t]", re.MULTILINE | re.IGNORECASE)
_INSTRUCTION: Final = re.compile(
    r"^[ \t]*(FROM|ENV|CMD|ENTRYPOINT)[ \t]+((?:[^\n\\]|\\(?:.|\n)|\\)*)", re.MULTILINE | re.IGNORECASE
)


def as_shell(text: str) -> str:
    """PowerShell's continuations and a unit's directives as a shell has them, at the same length."""
    if _UNIT.search(text):
        return _unit_as_shell(text)
    if _BACKTICK.search(text) and "\\\n" not in text and not re.search(r"`[^`\n]*`", text):
        return _HERE.sub(r"\1./", _BACKTICK.sub("\\\\", text))
    return text


def _unit_as_shell(text: str) -> str:
    """`ExecStart=` and `Environment=` with what continues them; every other line is blank."""
    lines: list[str] = []
    goes_on = False
    for line in text.split("\n"):
        match = _DIRECTIVE.match(line)
        name = match[1] if match and match[1] else ""
        if name:
            command = "export " if name.startswith("Env") else ""
            shown = command + " " * (len(name) - len(command)) + line[len(name) :]
        else:
            shown = line if goes_on else " " * len(line)
        goes_on = (bool(name) or goes_on) and line.rstrip(" \t").endswith("\\")
        lines.append(shown)
    return "\n".join(lines)


def is_dockerfile(text: str) -> bool:
    return bool(_DOCKERFILE.search(text) and _STARTS.search(text))


def read_dockerfile(text: str, start: int, state: ScriptState) -> None:
    """Adds the command that a container of the last stage starts, with its variables; `start` is the text's offset."""
    shell = Shell(state, Source.block(state.text, start, text))
    image: Word | None = None
    entry: list[Word] = []
    command: list[Word] = []
    for match in _INSTRUCTION.finditer(text):
        state.budget.work(50 + len(match[2]) // 20, "its instructions")
        offset = start + match.start(2)
        name = match[1].upper()
        if name == "FROM":
            words = _words(match[2], offset, state)
            image = next((word for word in words if not word.text.startswith("--")), None)
            entry, command = [], []
        elif name == "ENV":
            _set_variables(_words(match[2], offset, state), shell)
        elif name == "ENTRYPOINT":
            entry, command = _exec_or_shell(match[2], offset, state), []
        else:
            command = _exec_or_shell(match[2], offset, state)
    if image is None or not (entry or command):
        return
    at = replace(image, pieces=())
    environment = shell.scope.environment().items()
    options = [word for name, value in environment for word in (replace(at, text="--env"), _pair(name, value, at))]
    if entry:
        options += (replace(at, text="--entrypoint"), entry.pop(0))
    before = len(state.commands)
    shell.command([replace(at, text="docker"), replace(at, text="run"), *options, image, *entry, *command])
    state.commands[before:] = [in_the_container(read) for read in state.commands[before:]]


def _pair(name: str, value: Word, at: Word) -> Word:
    return replace(at, text=f"{name}={value.text}")


def _words(text: str, offset: int, state: ScriptState) -> list[Word]:
    return list(words_of(Source.block(state.text, offset, text), state))


def _set_variables(words: list[Word], shell: Shell) -> None:
    """`ENV A=1 B=2`, and the older `ENV A 1`."""
    if words and "=" not in words[0].text and len(words) > 1:
        shell.scope.set(words[0].text, words[1], export=True)
    for word in words:
        name, equals, value = word.text.partition("=")
        if equals and name.isidentifier():
            shell.scope.set(name, replace(word, text=value, pieces=()), export=True)


def _exec_or_shell(text: str, offset: int, state: ScriptState) -> list[Word]:
    """`["vllm", "serve"]` as its words, `vllm serve …` as what a shell runs."""
    if text.lstrip().startswith("["):
        return list(_exec(text.replace("\\\n", "  "), offset, state))
    word = state.text.word(text, offset, offset + len(text))
    shell = (replace(word, text="/bin/sh", pieces=()), replace(word, text="-c", pieces=()))
    return [*shell, word]


def _exec(text: str, offset: int, state: ScriptState) -> Iterator[Word]:
    source = YamlSource(state.text, offset, text)
    try:
        documents = source.documents()
    except MarkedYAMLError:
        return
    for document in documents:
        yield from (source.word(item) for item in items(document) if scalar(item))
