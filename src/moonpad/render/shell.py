"""A Deployment as bash scripts, `node-0/run.sh`: what the keeper runs, written down for a person.

References become variables, with their default where one is known. Literal words are quoted by `shlex.quote` and
references stand in double quotes, so nothing of the deployment is ever interpreted (fault 51).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, assert_never

from moonpad import __version__
from moonpad.render.base import Rendered
from moonpad.values.deployment import NAME, Deployment, Executable, File, Process
from moonpad.values.errors import UsageError
from moonpad.values.refs import Arg, HostRef, PathRef, PortRef, RankRef, Ref, SecretRef, parts

RUN: Final = PathRef("run")

_PATHS: Final[Mapping[str, str]] = {
    "checkpoint": ":?the folder of the checkpoint",
    "engine": ":?the folder of the environment that holds the engine, above its bin/",
    "cache": ":?a folder for caches",
    "run": ":-$PWD",
}
_ENV_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def render_shell(deployment: Deployment) -> Mapping[str, Rendered]:
    """One script a node: path → text and mode.

    Raises:
        UsageError: a node has several processes, or one runs in a container image.
    """
    scripts: dict[str, Rendered] = {}
    for process in deployment.processes:
        if not NAME.match(process.node):
            raise ValueError(f"a node needs a name like node-0, got {process.node!r}")
        path = f"{process.node}/run.sh"
        if path in scripts:
            raise UsageError(f"{process.node} has several processes, and a script runs one", remedy="use `moonpad up`")
        lines = _Script(deployment, process).lines(path)
        scripts[path] = Rendered("\n".join(lines) + "\n", 0o755)
    return scripts


@dataclass(frozen=True, slots=True)
class _Script:
    deployment: Deployment
    process: Process

    def lines(self, path: str) -> Iterator[str]:
        command = self._command()
        yield from (
            "#!/usr/bin/env bash",
            f"# Written by moonpad {__version__}. Runs {self.process.name} of {self.process.node} in the foreground:",
            f"#   bash {path}",
            "# The variables are taken from the environment; those without a default must stand there.",
            "# shellcheck disable=SC2016  # words in single quotes are meant as they stand",
            "set -euo pipefail",
            "",
            *self._declarations(command),
            "",
        )
        for file in self.process.files:
            yield from self._write(file)
        for name, arg in self.process.env.items():
            if not _ENV_NAME.fullmatch(name):
                raise ValueError(f"process {self.process.name}: {name!r} is no name of an environment variable")
            yield f"export {name}={self._word(arg)}"
        yield " \\\n  ".join(_break([f"exec {self._word(command[0])}", *(self._word(arg) for arg in command[1:])]))

    def _command(self) -> tuple[Arg, ...]:
        runtime = self.process.runtime
        if not isinstance(runtime, Executable):
            raise UsageError(f"process {self.process.name} runs in a container image, and a shell script starts none")
        return (*runtime.prefix, *self.process.argv)

    def _declarations(self, command: tuple[Arg, ...]) -> Iterator[str]:
        """One line a variable, in the order of first use."""
        content = (arg for file in self.process.files for arg in file.content)
        used = [part for arg in (*command, *self.process.env.values(), *content) for part in parts(arg)]
        refs = [_whole(part) for part in used if not isinstance(part, str)] + ([RUN] if self.process.files else [])
        owners: dict[str, Ref] = {}
        for ref in dict.fromkeys(refs):
            variable = self._variable(ref)
            if variable in owners:
                raise ValueError(f"{ref} and {owners[variable]} would share the variable {variable}")
            owners[variable] = ref
            value = self._value(ref)
            expansion = f'"${{{variable}{value}}}"'
            yield f": {expansion}" if value.startswith(":?") else f"{variable}={expansion}"

    def _variable(self, ref: Ref) -> str:
        words: tuple[str, ...]
        match ref:
            case HostRef(node):
                words = ("HOST", node)
            case PortRef(process, name):
                words = ("PORT", name) if ref == self.deployment.endpoint else ("PORT", process, name)
            case RankRef(node):
                words = ("RANK", node)
            case PathRef(name) | SecretRef(name):
                words = (name,)
            case _:
                assert_never(ref)
        return re.sub(r"[^A-Z0-9]", "_", "_".join(("moonpad", *words)).upper())

    def _value(self, ref: Ref) -> str:
        """What stands in `${VARIABLE…}` behind the name: a default, or the complaint where there is none."""
        match ref:
            case HostRef(node):
                alone = all(process.node == node for process in self.deployment.processes)
                return ":-127.0.0.1" if alone else f":?the address of {node}, as the other nodes reach it"
            case PortRef():
                return f":-{self.deployment.port_spec(ref).preferred}"
            case RankRef(node):
                ranks = [process.rank for process in self.deployment.processes if process.node == node]
                return f":-{min(ranks)}" if ranks else f":?the rank of {node}"
            case PathRef(name):
                return _PATHS.get(name, f":?the path of {name}")
            case SecretRef(name):
                return f":?the secret {name}; set it in the environment, never here"
            case _:
                assert_never(ref)

    def _word(self, arg: Arg) -> str:
        """One word of the shell: quoted literals and references beside one another."""
        pieces = (self._piece(part) for part in parts(arg))
        return "".join(piece for piece in pieces if piece != "''") or "''"

    def _piece(self, part: str | Ref) -> str:
        if isinstance(part, str):
            if "\0" in part:
                raise ValueError(f"process {self.process.name}: an argument holds a NUL")
            return shlex.quote(part)
        variable = self._variable(part)
        if isinstance(part, RankRef) and part.times != 1:
            return f'"$(({variable} * {part.times}))"'
        return f'"${{{variable}}}"'

    def _write(self, file: File) -> Iterator[str]:
        """Written anew with no more rights than its mode, since it may hold a secret. printf is the shell's own."""
        path = PurePosixPath(file.path)
        if path.is_absolute() or ".." in path.parts:
            raise ValueError(f"process {self.process.name}: the file {file.path!r} is outside the run folder")
        target = self._word((RUN, f"/{path}"))
        yield f"mkdir -p -- {self._word((RUN, f'/{path.parent}'))}"
        yield f"rm -f -- {target}"
        content = self._word(tuple(part for arg in file.content for part in parts(arg)))
        yield f"(umask 077 && printf '%s' {content} > {target})"
        yield f"chmod {file.mode:o} -- {target}"


def _whole(ref: Ref) -> Ref:
    """The reference that the variable holds: a rank without its factor."""
    return RankRef(ref.node) if isinstance(ref, RankRef) else ref


def _break(words: list[str]) -> Iterator[str]:
    """A flag and its values on one line."""
    line = words[0]
    for word in words[1:]:
        if word.startswith("-"):
            yield line
            line = word
        else:
            line = f"{line} {word}"
    yield line
