"""Which program a command line runs, once its wrappers are off: those of the engines, and a few of no engine."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from moonpad.engines import ENGINES
from moonpad.engines.build_names import IMAGES_OF_DAYS
from moonpad.engines.command_line import Program
from moonpad.engines.foreign_names import IN_PLACE_OF_OPTIONS, NO_MODULES, RAY
from moonpad.engines.image_names import STARTS_SERVER
from moonpad.explain.commands import Command, Word
from moonpad.explain.shell.wrapper_options import PYTHON, scan

OTHERS: Final[Mapping[str, str]] = {RAY: RAY, "lm_eval": "lm_eval", "lm-eval": "lm_eval"}
"""Commands of no engine → the name of their program."""
_ASKS_RAY: Final = frozenset(
    "debug get health-check list logs memory metrics stack status stop summary timeline".split()  # noqa: SIM905
)
"""`until ray status; do sleep 5; done`: it asks a cluster that is there, or ends it, and starts nothing."""
_DRAWN: Final = frozenset({"/", "→", "->", "-->", "←", "│", "├──", "└──"})
"""What stands between the names of a picture or a list: `server / embedding → the weights`."""
_FIRST_WORDS: Final = 2
_VARIABLE: Final = re.compile(
    r"\$\{?(?P<name>[A-Z][A-Z0-9_]{2,40}?)(?:_(?:BIN|BINARY|CMD|COMMAND|EXE|EXECUTABLE|PATH|PROGRAM))?\}?", re.ASCII
)
_PYTHON: Final = re.compile(r"python[0-9]?(?:\.[0-9]{1,2})?", re.ASCII)
_WAITS: Final = re.compile(r"(?:^|[\s;&'\"])(?:sleep (?:infinity|inf|[0-9]{4,})|tail -[fF] /dev/null)[;'\"]?\s*$")
_RUNS: Final = re.compile(r"\b(?:docker|podman)[ \t]+run[ \t\\\n]")


class ProgramTable(Struct, frozen=True):
    """The programs of all engines, by their names and by what starts them."""

    programs: Mapping[str, Program]
    engines: Mapping[str, str]
    """The name of a program → its engine."""
    servers: frozenset[str]
    routers: frozenset[str]
    commands: Mapping[tuple[str, ...], str]
    first_words: frozenset[str]
    files: Mapping[str, str]
    launchers: frozenset[str]
    """Commands that run the program behind them as it is."""
    longest: int
    """The most words that start a program."""


def program_table() -> ProgramTable:
    return _program_table(tuple(ENGINES))


@lru_cache(maxsize=4)
def _program_table(engines: tuple[str, ...]) -> ProgramTable:
    owned = [(name, program) for name in engines for program in ENGINES[name].command_line.programs]
    commands = {tuple(command.split()): program.name for _, program in owned for command in program.commands}
    commands |= {(command,): name for command, name in OTHERS.items()}
    invented = [module for name in engines for module in NO_MODULES.get(name, {})]
    commands |= {
        (module,): program.name
        for module in invented
        for _, program in owned
        for command in program.commands
        if module.endswith(f".{command}")
    }
    return ProgramTable(
        {program.name: program for _, program in owned},
        {program.name: name for name, program in owned},
        frozenset(program.name for _, program in owned if program.kind == "server"),
        frozenset(program.name for _, program in owned if program.kind == "router"),
        commands,
        frozenset(words[0] for words in commands),
        {file: program.name for _, program in owned for file in program.files},
        frozenset(launcher for name in engines for launcher in ENGINES[name].command_line.launchers),
        max(map(len, commands)),
    )


@lru_cache(maxsize=4)
def _engine_commands(_: tuple[str, ...]) -> re.Pattern[str]:
    """What a text with an engine's command has in it."""
    table = program_table()
    named = (" ".join(words) for words, name in table.commands.items() if name in table.engines)
    return re.compile("|".join(re.escape(name) for name in named if " " in name or "." in name or "-" in name))


def names_engine_command(text: str) -> bool:
    """Whether a text has the beginning of an engine's command in it, or runs an image that starts a server."""
    if _engine_commands(tuple(ENGINES)).search(text) is not None:
        return True
    runs = _RUNS.search(text)
    return runs is not None and STARTS_SERVER.search(text, runs.end()) is not None


def listens(command: Command) -> bool:
    """Whether it is a server with a port."""
    program = program_named(command.program)
    return not command.embedded and not (program is not None and program.no_server)


def program_named(name: str) -> Program | None:
    """None for what is not a program of an engine."""
    return program_table().programs.get(name)


def is_server(name: str) -> bool:
    return name in program_table().servers


def is_router(name: str) -> bool:
    return name in program_table().routers


def is_server_or_router(name: str) -> bool:
    table = program_table()
    return name in table.servers or name in table.routers


def starts_with_options(command: Command) -> bool:
    """Whether it is a whole command of a server, with a model or options: not only the program's name."""
    return is_server(command.program) and len(command.argv) > 1


def is_waiting(command: Command) -> bool:
    """Whether it is a container that only waits for what is started in it later: `sleep infinity`."""
    words = command.words[-4:] if command.program == "docker" and command.container is not None else ()
    return _WAITS.search(" ".join(word.text[-80:] for word in words)) is not None


def served_by_image(image: str) -> str:
    """The program that is the entrypoint of such images, "" where none is known."""
    for program in program_table().programs.values():
        if program.images and re.search(rf"(?:^|/){program.images}(?::|@|$)", image, re.ASCII):
            return program.name
    return ""


def served_by_variables(image: str, env: Collection[str]) -> str:
    """The same where all of its options are variables, `LLAMA_ARG_MODEL: /m/k2.gguf`."""
    begins = IN_PLACE_OF_OPTIONS.get(program := served_by_image(image), "")
    return program if begins and any(name.startswith(begins) for name in env) else ""


def choosing_words(name: str, behind: Sequence[Word]) -> int:
    """How many words behind an image choose the program that it starts."""
    program = program_named(name)
    return int(program is not None and bool(behind) and behind[0].text in program.chosen_by)


def named_by_image(image: str) -> str:
    """The program of the engine whose name is in that of the image, "" where none is."""
    for engine in ENGINES.values():
        line = engine.command_line
        programs = [program.name for program in line.programs if program.commands and program.kind == "server"]
        if programs and any(re.search(rf"(?<![a-z]){name}(?![a-z])", image, re.I) for name in line.names):
            return programs[0]
    return IMAGES_OF_DAYS.get(image.partition(":")[0], "")


def base_name(word: Word) -> str:
    """The file's name, of Windows too: `C:\\bin\\llama-server.exe` is llama-server."""
    name = word.text.rstrip("/").rpartition("/")[2]
    return name.rpartition("\\")[2].removesuffix(".exe") if name.endswith(".exe") else name


def runs_python(words: Sequence[Word]) -> bool:
    return bool(words) and _PYTHON.fullmatch(base_name(words[0])) is not None


def identify(words: Sequence[Word]) -> tuple[str, int] | None:
    """The program and the place of its first argument; None for every other."""
    if not words:
        return None
    # `python3`, `/usr/bin/python3.12`, and `$PYTHON`, which nothing else would be called.
    if _PYTHON.fullmatch(base_name(words[0])) or any("PYTHON" in name.upper() for name in words[0].unresolved[:1]):
        return _python(words)
    name = _called_after(words[0]) or base_name(words[0])
    identified = _command(name, words, 1)
    if identified is not None and any(
        word.text in _DRAWN for word in words[identified[1] : identified[1] + _FIRST_WORDS]
    ):
        return None
    if identified is not None and identified[0] == RAY and {word.text for word in words[1:2]} & _ASKS_RAY:
        return None
    if identified is not None and "." in name and not any(word.text.startswith("-") for word in words[identified[1] :]):
        return None  # no shell runs a module by its name: `module requests / sec` is the title of a chart
    return identified


def _called_after(word: Word) -> str:
    """The program that a variable holds by its name: `llama-server` of `$LLAMA_SERVER_BIN`, `vllm` of `"$VLLM"`."""
    match = _VARIABLE.fullmatch(word.text) if word.unresolved else None
    return match["name"].lower().replace("_", "-") if match is not None else ""


def _command(name: str, words: Sequence[Word], behind: int) -> tuple[str, int] | None:
    table = program_table()
    for length in range(table.longest, 0, -1):
        names = (name, *(word.text for word in words[behind : behind + length - 1]))
        if len(names) == length and (program := table.commands.get(names)):
            return program, behind + length - 1
    return None


def _python(words: Sequence[Word]) -> tuple[str, int] | None:
    _, position = scan(words, 1, PYTHON)
    if position >= len(words):
        return None
    text = words[position].text
    if text == "-m" and position + 1 < len(words):
        return _command(words[position + 1].text, words, position + 2)
    for ending, program in program_table().files.items():
        if text == ending or text.endswith(f"/{ending}"):
            return program, position + 1
    given = {word.text.partition("=")[0].replace("-", "_").replace("__", "--", 1) for word in words[position + 1 :]}
    for known in program_table().programs.values():
        if given & {*known.marks} and any(f"/{text}".endswith(f"/{ending}") for ending in known.short_files):
            return known.name, position + 1
    # A console script called by its path: `python .venv/bin/vllm serve …`.
    return _command(base_name(words[position]), words, position + 1)
