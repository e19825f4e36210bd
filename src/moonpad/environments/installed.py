"""The engines on this machine: those that moonpad installed, and one that the user names."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moonpad.engines import ENGINES
from moonpad.engines.router_programs import ROUTERS
from moonpad.environments.paths import EnvironmentFolder, engines_home, places
from moonpad.environments.receipt import Receipt, good_receipt
from moonpad.facts.probe import Output, Unknown, run
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import as_dict
from moonpad.values.versions import order


@dataclass(frozen=True, slots=True)
class InstalledEngine:
    """`path` is the environment's folder, `executable` the engine's command in it.

    `size_bytes` and `installed_at` (ISO 8601, UTC) are None where the engine is the user's own.
    """

    name: str
    version: str
    path: Path
    python: Path
    executable: Path
    size_bytes: int | None = None
    installed_at: str | None = None

    def as_json(self) -> dict[str, object]:
        paths = {name: str(getattr(self, name)) for name in ("path", "python", "executable")}
        return {**as_dict(self), **paths}


def installed_from(place: EnvironmentFolder, receipt: Receipt) -> InstalledEngine:
    return InstalledEngine(
        name=receipt.name,
        version=receipt.version,
        path=place.folder,
        python=place.python,
        executable=place.program(receipt.command),
        size_bytes=receipt.size_bytes,
        installed_at=receipt.installed_at,
    )


def list_installed(home: Path | None = None) -> tuple[InstalledEngine, ...]:
    """Every finished environment. Nothing is started: a few stat calls each."""
    receipts = ((place, good_receipt(place)) for place in places(home or engines_home()))
    return tuple(installed_from(place, receipt) for place, receipt in receipts if receipt is not None)


def list_unfinished(home: Path | None = None) -> tuple[Path, ...]:
    """Folders that an interrupted installation left, or whose parts are gone."""
    return tuple(place.folder for place in places(home or engines_home()) if good_receipt(place) is None)


def find(name: str, home: Path | None = None) -> InstalledEngine | None:
    """The newest installed version of that engine, of two equal ones the later installed; None without any."""
    versions = [engine for engine in list_installed(home) if engine.name == name]
    return max(versions, key=lambda engine: (order(engine.version), engine.installed_at or ""), default=None)


BRING_YOUR_OWN: Final = 'name your own in the spec: [engine] image = "NAME@sha256:…", or python = "…/bin/python"'
"""The remedy for an engine that moonpad has no recipe for."""


_ANSWERS: dict[tuple[tuple[str, ...], int], Output | Unknown] = {}
"""What commands said of their versions, with the time of the program's file."""


def engine_from_python(name: str, python: Path, *, timeout_s: float = 120.0) -> InstalledEngine:
    """The engine, or the router, of an environment that the user brings, as it is; nothing is written there. Raises
    PreflightRefused: no Python is there, the command is not beside it or does not print its version."""
    engine, router = ENGINES.get(name), ROUTERS.get(name)
    program = engine or router
    command = program.command if program else name
    # Not resolved: in an environment bin/python is a link to the system's Python, which has no engine beside it.
    executable = python.parent / command
    for path, what in ((python, "the Python"), (executable, f"the command {command} beside it")):
        if not (path.is_file() and os.access(path, os.X_OK)):
            problem = "cannot be executed" if path.exists() else "does not exist"
            raise _refused(
                name, f"{what}, {path}, {problem}", "name the bin/python of an environment that has the engine"
            )
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    asked = (str(executable), *(engine.version_args if engine else ("--version",)))
    if router is not None:  # not every router prints its version
        asked = (str(python), *router.recipe.ask[1:])
    # One process asks for many starts of the same engine, and the answer can take half a minute of imports.
    question = (asked, executable.stat().st_mtime_ns)
    output = _ANSWERS.get(question) or run(asked, timeout_s, environment)
    instead = f"moonpad engine install {name}" if program and program.recipe else "name another [engine] python"
    if isinstance(output, Unknown) or output.returncode:
        reason = output.reason if isinstance(output, Unknown) else output.failure
        raise _refused(name, f"its version cannot be read: {reason}", f"repair it, or {instead}")
    answer = output.stdout if output.stdout.strip() else output.stderr
    _ANSWERS[question] = output
    build = re.search(engine.build_pattern, answer) if engine and engine.build_pattern else None
    if not (version := f"b{build[1]}" if build else version_in(answer)):
        raise _refused(name, f"{shlex.join(asked)} prints no version", instead)
    return InstalledEngine(name, version, python.parent.parent, python, executable)


def version_in(output: str) -> str:
    """The version in the last line that holds one (`0.32.0+cpu`, `vLLM 0.11.0`), "" where none does."""
    for line in reversed(output.splitlines()):
        if match := re.search(r"(?<![\w.])v?(\d+\.\d+[\w.+!-]*)", line):
            return match[1]
    return ""


def matches(version: str, wanted: str) -> bool:
    """`0.32.0+cpu` is 0.32.0: what follows the + names the build."""
    return version.partition("+")[0] == wanted.partition("+")[0]


def _refused(name: str, problem: str, remedy: str) -> PreflightRefused:
    finding = Finding(Severity.ERROR, Code.ENGINE_MISSING, "engine", problem, remedy)
    return PreflightRefused(f"the engine {name} that you named cannot be used", findings=(finding,))
