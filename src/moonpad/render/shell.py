"""A Deployment as bash scripts, `node-0/run.sh`: what the keeper runs, written down for a person.

References become variables, with their default where one is known. Literal words are quoted by `shlex.quote` and
references stand in double quotes, so nothing of the deployment is ever interpreted (fault 51).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from moonpad import __version__
from moonpad.render.env_variables import expansion_of, variable_of
from moonpad.render.leftovers import KEEPS_ENVIRONMENT, MARK, mark_of
from moonpad.render.rendered import Rendered
from moonpad.values.deployment import NAME, Deployment, Executable, File, Process, Role
from moonpad.values.errors import UsageError
from moonpad.values.references import Arg, PathRef, RankRef, Ref, joined, parts

RUN: Final = PathRef("run")

_ENV_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def render_shell(deployment: Deployment) -> Mapping[str, Rendered]:
    """One script a node: path → text and mode.

    Raises:
        UsageError: a node has several processes, or one runs in a container image.
    """
    return scripts(deployment, _script)


def scripts(deployment: Deployment, make: Callable[[Deployment, Process], Script]) -> Mapping[str, Rendered]:
    files: dict[str, Rendered] = {}
    for process in deployment.processes:
        if not NAME.match(process.node):
            raise ValueError(f"a node needs a name like node-0, got {process.node!r}")
        path = f"{process.node}/{'run' if process.role is not Role.ROUTER else process.name}.sh"
        if path in files:
            raise UsageError(f"{process.node} has several processes, and a script runs one", remedy="use `moonpad up`")
        files[path] = Rendered("\n".join(make(deployment, process).lines(path)) + "\n", 0o755)
    return files


def _script(deployment: Deployment, process: Process) -> Script:
    runtime = process.runtime
    if not isinstance(runtime, Executable):
        raise UsageError(
            f"process {process.name} runs in a container image, and a shell script starts none",
            remedy="moonpad render --to docker",
        )
    command = (*runtime.prefix, *process.argv)
    return Script(deployment, process, command, process.env, process.files, mark=mark_of(deployment, process.node))


@dataclass(frozen=True, slots=True)
class Script:
    """A script that becomes `command` in the end; `env` is exported and `files` are written before."""

    deployment: Deployment
    process: Process
    command: tuple[Arg, ...]
    env: Mapping[str, Arg]
    files: tuple[File, ...] = ()
    notes: tuple[str, ...] = ()
    """Comments for the reader."""
    mark: str = ""
    """By which what it starts is found afterwards."""

    def lines(self, path: str) -> Iterator[str]:
        yield from (
            "#!/usr/bin/env bash",
            f"# Written by moonpad {__version__}. Runs {self.process.name} of {self.process.node} in the foreground:",
            f"#   bash {path}",
            "# Variables come from the environment; those without a default must be set there.",
            *(f"# {note}" for note in self.notes),
            "# shellcheck disable=SC2016  # words in single quotes are meant as they stand",
            "set -euo pipefail",
            "",
            *self._declarations(),
            "",
        )
        for file in self.files:
            yield from self.writing(file)
        for name, arg in self.env.items():
            if not _ENV_NAME.fullmatch(name):
                raise ValueError(f"process {self.process.name}: {name!r} is not the name of an environment variable")
            yield f"export {name}={self._word(arg)}"
        if self.mark:
            yield f"export {MARK}={shlex.quote(self.mark)} {KEEPS_ENVIRONMENT}"
        words = [self._word(arg) for arg in self.command]
        yield " \\\n  ".join(in_lines([f"exec {words[0]}", *words[1:]]))

    def _declarations(self) -> Iterator[str]:
        """One line a variable, in the order of first use."""
        content = (arg for file in self.files for arg in file.content)
        used = [part for arg in (*self.command, *self.env.values(), *content) for part in parts(arg)]
        refs = [_whole(part) for part in used if not isinstance(part, str)] + ([RUN] if self.files else [])
        owners: dict[str, Ref] = {}
        for ref in dict.fromkeys(refs):
            variable = variable_of(ref, self.deployment)
            if variable in owners:
                raise ValueError(f"{ref} and {owners[variable]} would share the variable {variable}")
            owners[variable] = ref
            expansion = f'"{expansion_of(ref, self.deployment)}"'
            yield f": {expansion}" if f"{variable}:?" in expansion else f"{variable}={expansion}"

    def _word(self, arg: Arg) -> str:
        """One word of the shell: quoted literals and references beside one another."""
        pieces = (self._piece(part) for part in parts(arg))
        return "".join(piece for piece in pieces if piece != "''") or "''"

    def _piece(self, part: str | Ref) -> str:
        if isinstance(part, str):
            if "\0" in part:
                raise ValueError(f"process {self.process.name}: an argument holds a NUL")
            return shlex.quote(part)
        variable = variable_of(part, self.deployment)
        if isinstance(part, RankRef) and part.times != 1:
            return f'"$(({variable} * {part.times}))"'
        return f'"${{{variable}}}"'

    def checks(self) -> Iterator[str]:
        """Only the lines that end the script where a variable is missing."""
        return (line for line in self._declarations() if line.startswith(": "))

    def writing(self, file: File) -> Iterator[str]:
        """Replaced, with no more rights than its mode, since it may hold a secret. printf is the shell's own."""
        target = self._word((RUN, f"/{file.path}"))
        yield f"mkdir -p -- {self._word((RUN, f'/{PurePosixPath(file.path).parent}'))}"
        yield f"rm -f -- {target}"
        content = self._word(joined(part for arg in file.content for part in parts(arg)))
        yield f"(umask 077 && printf '%s' {content} > {target})"
        yield f"chmod {file.mode:o} -- {target}"


def _whole(ref: Ref) -> Ref:
    """The reference that the variable holds: a rank without its factor."""
    return RankRef(ref.node) if isinstance(ref, RankRef) else ref


def in_lines(words: list[str]) -> Iterator[str]:
    """A flag and its values on one line."""
    line = words[0]
    for word in words[1:]:
        if word.startswith("-"):
            yield line
            line = word
        else:
            line = f"{line} {word}"
    yield line
