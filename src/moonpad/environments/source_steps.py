"""The steps of a build from source, as commands; one list is printed as a script and run. Pure.

They are those of vLLM-Ascend's own Dockerfile (catalog/data/source_builds.toml names it). Its tutorial leaves out
CANN's variables, the index of triton-ascend, and the Triton that vLLM brings along.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from moonpad.catalog.source_builds import Repository, SourceBuild

SOURCED: Final = 'for script in "$1" "$2"; do . "$script"; done; shift 2; exec "$@"'
"""CANN's scripts, then the command. They are bash's."""


@dataclass(frozen=True, slots=True)
class Step:
    """`commit`, where it is given, is what the command's output must begin with."""

    what: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    commit: str = ""


def steps(
    build: SourceBuild, folder: Path, base_python: Path, machine: str, scripts: Sequence[Path]
) -> tuple[Step, ...]:
    """`folder` becomes the environment, with the sources below `src`; `machine` is `x86_64` or `aarch64`; `scripts` are
    CANN's two."""
    return tuple(_steps(build, folder, base_python, machine, scripts))


def script_of(title: str, listed: Sequence[Step]) -> str:
    """The steps as a bash script that stops at the first one that fails."""
    lines = ["set -euo pipefail", f"# {title}"]
    for step in listed:
        words = [f"{name}={shlex.quote(value)}" for name, value in step.env.items()]
        command = " ".join([*words, *map(shlex.quote, step.argv)])
        lines += [f"# {step.what}", _checked(step, command) if step.commit else command]
    return "\n".join(lines) + "\n"


def _checked(step: Step, command: str) -> str:
    return f'[[ "$({command})" == {step.commit}* ]] || {{ echo "another commit than {step.commit}" >&2; exit 1; }}'


def _steps(
    build: SourceBuild, folder: Path, base_python: Path, machine: str, scripts: Sequence[Path]
) -> Iterator[Step]:
    pip = (str(folder / "bin" / "python"), "-I", "-m", "pip")
    base, plugin = (folder / "src" / each.name for each in (build.base, build.plugin))
    torch = (build.torch_index,) if build.torch_index and machine == "x86_64" else ()
    triton = (build.triton_index,) if build.triton_index else ()
    yield Step("making the environment", (str(base_python), "-I", "-m", "venv", "--clear", str(folder)))
    yield from clone(build.base, base)
    yield Step(
        f"installing {base.name}, without the kernels of a device",
        (*pip, "install", "--no-input", *_extra(torch), "--editable", str(base)),
        build.base_env,
    )
    yield from clone(build.plugin, plugin)
    yield Step(
        f"building {plugin.name}",
        _with_cann(scripts, (*pip, "install", "--no-input", "--editable", str(plugin))),
        # As a variable, since the isolated build asks for the same packages and gets no options.
        {"PIP_EXTRA_INDEX_URL": " ".join((*torch, *triton))} if torch or triton else {},
    )
    # Both install the package `triton`: the second must be written last.
    yield Step("removing Triton", (*pip, "uninstall", "--yes", "triton", build.triton.partition("==")[0]))
    yield Step(
        f"installing {build.triton}", (*pip, "install", "--no-input", "--no-deps", *_extra(triton), build.triton)
    )
    question = f"import {', '.join(build.imports)}; from importlib.metadata import version; "
    answer = f"print({build.engine!r}, version({build.engine!r}))"
    yield Step(f"importing {', '.join(build.imports)}", _with_cann(scripts, (pip[0], "-c", question + answer)))


def clone(repository: Repository, folder: Path) -> Iterator[Step]:
    what = f"cloning {repository.url} at {repository.tag}"
    yield Step(what, ("git", "clone", "--depth", "1", "--branch", repository.tag, repository.url, str(folder)))
    yield Step(
        f"comparing its commit with {repository.commit}",
        ("git", "-C", str(folder), "rev-parse", "HEAD"),
        commit=repository.commit,
    )
    yield Step("fetching its submodules", ("git", "-C", str(folder), "submodule", "update", "--init", "--recursive"))


def _extra(indexes: Sequence[str]) -> Iterator[str]:
    for index in indexes:
        yield from ("--extra-index-url", index)


def _with_cann(scripts: Sequence[Path], command: Sequence[str]) -> tuple[str, ...]:
    return ("bash", "-c", SOURCED, "bash", *map(str, scripts), *command)
