"""Each command and option that a message of moonpad names exists: read from the source's string literals."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from cyclopts import App

from moonpad.catalog.options import option_set, versions
from moonpad.cli.command_line import app
from moonpad.engines import ENGINES
from tests.conftest import ROOT

PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
DOCUMENTS = [*(ROOT / name for name in PAGES), *sorted((ROOT / "docs").glob("*.md"))]
SOURCES = sorted((ROOT / "src" / "moonpad").rglob("*.py"))
COMMAND = re.compile(r"\bmoonpad (?P<words>[a-z]+(?: [^\s,;:()`]+)*)")
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
# Not verbs: what follows the name of the program in a sentence. Words in -s are of the third person.
PROSE = re.compile(
    r"(?!runs\b|status\b|logs\b)\w+s|cannot|can|itself|that|version|made|wrote|never|with|installed|prefix"
)
OF_OTHERS = {
    *("--cap-add", "--device", "--entrypoint", "--ipc", "--shm-size", "--ulimit"),  # docker run
    *("--address", "--head"),  # ray start
    *("--export",),  # srun
    *("--local-dir",),  # hf download
    *("--init", "--recursive"),  # git clone, git submodule update
    *("--run", "--server"),  # llama.cpp's image
}
"""Options of programs that moonpad tells people to write beside an engine."""
INTERNAL = {"bootstrap"}
"""The first line that the keeper on another host writes."""


@cache
def literals(path: Path) -> tuple[tuple[str, bool], ...]:
    """Each string of a module, and whether it is a remedy; docstrings are left out, what is formatted in is `{}`."""
    return tuple(_literals(ast.parse(path.read_text())))


def _literals(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    pieces = {id(piece) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for piece in node.values}
    remedies = {id(node) for root in ast.walk(tree) if is_remedy(root) for node in ast.walk(root)}
    for node in ast.walk(tree):
        if id(node) in bare | pieces:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, id(node) in remedies
        elif isinstance(node, ast.JoinedStr):
            values = (piece.value if isinstance(piece, ast.Constant) else "{}" for piece in node.values)
            yield "".join(map(str, values)), id(node) in remedies


def is_remedy(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == "remedy" for target in node.targets)
    return isinstance(node, ast.keyword) and node.arg == "remedy"


def options_of(command: App) -> set[str]:
    names = set(command) & {"--help", "--version"}
    if command.default_command:
        names |= {name for argument in command.assemble_argument_collection() for name in argument.names}
    return names


@cache
def every_option() -> frozenset[str]:
    """Of moonpad's verbs."""

    def collect(command: App) -> set[str]:
        verbs = [command[name] for name in command if not name.startswith("-")]
        return options_of(command).union(*(collect(verb) for verb in verbs))

    return frozenset(collect(app))


@cache
def is_an_engines(option: str) -> bool:
    """Also the beginning of one, `--speculative-...`."""
    programs = {engine.program for engine in ENGINES.values()}
    if option.endswith("-"):
        sets = (option_set(program, release) for program in programs for release in versions(program))
        return any(name.startswith(option) for one in sets for each in one.options for name in each.names)
    return any(option_set(program, release).named(option) for program in programs for release in versions(program))


def verb_of(words: list[str]) -> App | None:
    """The command that the words call; None where there is none."""
    command = app
    while words and words[0] in command and not words[0].startswith("-"):
        command = command[words.pop(0)]
    return None if command is app else command


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_commands_and_their_options_exist(path: Path) -> None:
    for text, _ in literals(path):
        for match in COMMAND.finditer(text):
            words = match["words"].split()
            if PROSE.fullmatch(words[0]) or words[0] in INTERNAL:
                continue
            command = verb_of(words)
            assert command is not None, f"no such command: {match[0]!r}"
            unknown = set(OPTION.findall(" ".join(words))) - options_of(command)
            assert not unknown, f"{match[0]!r} has no {unknown}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_options_in_remedies_exist(path: Path) -> None:
    """In all folders, and in those that name no other program's options, every other string too."""
    every = path.is_relative_to(ROOT / "src/moonpad/verify") or path.is_relative_to(ROOT / "src/moonpad/cli")
    for text, remedy in literals(path):
        for option in OPTION.findall(text) if remedy or every else ():
            known = option in every_option() or option in OF_OTHERS or is_an_engines(option)
            assert known, f"{option} in {text!r}"


@pytest.mark.parametrize("path", sorted((ROOT / "src/moonpad/cli").glob("*.py")), ids=lambda path: path.stem)
def test_remedies_of_a_verb_name_its_own_options(path: Path) -> None:
    """Beside whole commands, which are checked above."""
    verb = path.stem.split("_")[0]
    if verb not in app:
        return
    for text, remedy in literals(path):
        for option in OPTION.findall(COMMAND.sub("", text)) if remedy else ():
            assert option in options_of(app[verb]) or is_an_engines(option), f"{verb} has no {option}: {text!r}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_commands_in_the_documents_exist(path: Path) -> None:
    """In code spans and in indented lines; what an option is for, and a table of verbs, are not whole commands."""
    page = path.read_text()
    lines = re.findall(r"(?m)^    (?:\$ )?(moonpad .*)$", page)
    code = [*re.findall(r"`(moonpad [^`]+)`", page), *(re.split(r"   |#", line)[0] for line in lines)]
    for text in code:
        words = re.split(r"\s+", text.removeprefix("moonpad ").strip())
        verb = words[0].partition("|")[0]
        if verb == "--help":
            continue
        command = verb_of([verb, *words[1:]])
        assert command is not None, f"no such command: {text!r}"
        unknown = set(OPTION.findall(text)) - options_of(command)
        assert not unknown, f"{text!r} has no {unknown}"


def test_it_finds_what_does_not_exist() -> None:
    assert verb_of(["conduct", "x"]) is None
    assert verb_of(["engine", "install", "x"]) is app["engine"]["install"]
    assert "--floor" in options_of(app["verify"])
    assert "--floor" not in options_of(app["bench"])
