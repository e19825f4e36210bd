"""What pasted start logs say of the deployments in a text: the arguments, the release and the devices that were used.

A log whose arguments are those of a command in the same text is that command's; it settles what the command leaves to
variables. Another one is a deployment of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from moonpad.catalog.hardware import find_hardware
from moonpad.catalog.options import option_set
from moonpad.engines import ENGINES
from moonpad.engines.argv_reader import Occurrence, parse
from moonpad.engines.base import Engine
from moonpad.engines.log_lines import glued_log, log_begins, logged_lines
from moonpad.engines.logged_commands import HIDDEN, LoggedCommand, argv_words, logged_commands, served_lines
from moonpad.engines.option_grammar import Grammar
from moonpad.engines.text_signs import HOLDS_CACHE, OF_SERVERS, SERVES
from moonpad.explain.commands import Command, Problem, Word
from moonpad.explain.flag_lists import LAYOUT
from moonpad.explain.input_limits import Budget
from moonpad.explain.programs import program_named, program_table
from moonpad.explain.source_text import InputText
from moonpad.values.errors import MoonpadError
from moonpad.values.platform import Platform
from moonpad.values.records import replace

_MOSTLY: Final = 20
"""Logged lines, from which on a text is a log."""
_PLATFORMS: Final[Mapping[str, Platform]] = {"npu": Platform.ASCEND, "ascend": Platform.ASCEND, "cpu": Platform.CPU}
_HINT: Final = re.compile(r"args|Args\(|Namespace\(|LLM engine|model_loader", re.IGNORECASE)
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)


_LISTED: Final = (
    re.compile(
        r"\s*GPU (?P<first>\d{1,3})(?:-(?P<last>\d{1,3}))?: (?P<name>(?:NVIDIA|AMD) [\w .-]{2,60}?)\s*(?:\(UUID|$)"
    ),
    re.compile(r"\|\s+(?P<first>\d{1,3})\s+(?P<name>(?:NVIDIA|Tesla) [\w .-]{2,50}?)\s{2,}(?:On|Off)\b"),
    re.compile(
        r"\s*Device (?P<first>\d{1,3}): (?P<name>(?:NVIDIA|AMD|Tesla) [\w .-]{2,60}?)"
        r", (?:compute capability|gfx\w{3,5})\b"
    ),
)
"""Devices as the driver's tools and engines list them, also a range of them."""
_OF_GROUPS: Final = re.compile(
    r"EngineCore_DP\d|\bDP\d|DP_(?:SIZE|RANK)|DP (?:rank|group|Coordinator)|data[-_ ]parallel", re.IGNORECASE
)
"""What stands in a text about ranks that share requests out, which the first line of the log does not count."""
_REST: Final = "${the rest of the command, which the log lacks}"


class PastedLogs(Struct, frozen=True):
    """`lines`, from 0, are those that were logged. `versions`: engine → release; `machines`: line and cluster."""

    lines: frozenset[int] = frozenset()
    columns: Mapping[int, int] = field(default_factory=dict)
    """Where the log begins on lines that hold something else before it."""
    commands: tuple[Command, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    machines: tuple[tuple[int, str], ...] = ()
    served: tuple[tuple[int, str, int], ...] = ()
    """Lines, from 1, by which an engine says that it started: the line, the engine, the tokens of its KV cache."""
    serving: tuple[int, ...] = ()
    """Lines, from 1, that only a server writes that has started."""


NO_LOGS: Final = PastedLogs()


def pasted_logs(text: InputText) -> PastedLogs:
    lines = text.clean.split("\n")
    text.budget.work(len(lines) // 2, "its logs")
    numbers = logged_lines(lines)
    columns = dict(_glued(lines))
    numbers |= {*columns}
    engines = tuple(ENGINES.values())
    of_servers = [at for at, line in enumerate(lines) if any(sign in line for sign in OF_SERVERS)]
    serving = tuple(at + 1 for at in of_servers if SERVES.search(lines[at]))
    served = [(number + 1, name, tokens) for number, name, tokens in served_lines(lines, numbers, engines)]
    served += [(at + 1, "", 0) for at in of_servers if HOLDS_CACHE.search(lines[at])]
    served += [(at, "", 0) for at in serving]
    machines = list(_listed_machines(lines))
    if not _HINT.search(text.clean):
        return PastedLogs(frozenset(numbers), columns, (), {}, tuple(machines), tuple(served), serving)
    text.budget.work(len(text.clean) // 20, "its logs")
    # JSON around a line stays; the lexer's marks for colours go.
    found = logged_commands([line.replace("\0", "") for line in lines], engines)
    commands: list[Command] = []
    versions: dict[str, str] = {}
    for logged in found:
        engine = ENGINES[logged.engine]
        if logged.line not in numbers and (at := log_begins(lines[logged.line])):
            columns[logged.line] = at
        numbers |= {*range(logged.line, logged.end_line)}
        words = list(_words(logged, engine, text))
        text.budget.work(50 + 10 * len(words), "its logs")
        if logged.version:
            versions.setdefault(_build(logged, engine), logged.version)
        if not words:
            continue
        program = program_named(engine.program)
        start = (program.start if program else "") or engine.program
        prefix = tuple(replace(words[0], text=part, pieces=()) for part in start.split())
        names = frozenset(logged.arguments)
        commands.append(Command(engine.program, tuple(words), prefix, {}, line=logged.line + 1, accepted=names))
        if machine := _machine(logged, engine, words):
            machines.append((logged.line + 1, machine))
    return PastedLogs(frozenset(numbers), columns, tuple(commands), versions, tuple(machines), tuple(served), serving)


def _glued(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Lines, from 0, in which a log stands right behind a command, and where it begins."""
    for number, line in enumerate(lines):
        goes_on = number > 0 and lines[number - 1].endswith("\\")
        if at := glued_log(line, goes_on=goes_on):
            yield number, at


def _listed_machines(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The machine whose devices are listed one under the other."""
    places: dict[str, tuple[int, set[int]]] = {}
    for number, line in enumerate(lines, 1):
        if "NVIDIA" not in line and "AMD" not in line and "Tesla" not in line:
            continue
        match = next((match for pattern in _LISTED if (match := pattern.match(line[:200]))), None)
        if match is not None:
            first = int(match["first"])
            last = int(match.groupdict().get("last") or first)
            _, indexes = places.setdefault(match["name"].strip(), (number, set()))
            indexes |= {*range(first, min(last, first + 64) + 1)}
    for name, (number, indexes) in places.items():
        if (row := find_hardware(name)) is not None and row.device is not None:
            yield number, f"{len(indexes)}x{row.label}"


def _build(logged: LoggedCommand, engine: Engine) -> str:
    """The build of the engine whose release the log names."""
    platform = _PLATFORMS.get(logged.platform.casefold())
    for name, other in ENGINES.items():
        build = other.command_line.build
        if build is not None and build.of == engine.name and platform is not None and build.platform is platform:
            return name
    return engine.name


def _words(logged: LoggedCommand, engine: Engine, text: InputText) -> Iterator[Word]:
    """Each at the place of its name in the log."""
    start, end = text.offset(logged.line), text.offset(logged.end_line)
    for number, (name, texts) in enumerate(argv_words(logged, engine)):
        at = text.clean.find(name, start, end)
        at, behind = (at, at + len(name)) if at >= 0 else (start, start + 1)
        for each in texts:
            word = text.word(each, at, behind)
            yield replace(word, unresolved=(HIDDEN,)) if each == HIDDEN else word
        if not logged.whole and number == 0:
            yield replace(text.word(_REST, start, start + 1), unresolved=(_REST,))
    dp = engine.command_line.options.get("dp", "")
    sized = "tensor_parallel_size" in logged.arguments and "data_parallel_size" not in logged.arguments
    if dp and sized and not logged.whole and not _OF_GROUPS.search(text.clean):
        yield from (text.word(each, start, start + 1) for each in (dp, "1"))


def _machine(logged: LoggedCommand, engine: Engine, words: Sequence[Word]) -> str:
    """As many of the devices that the log names as the layout uses."""
    row = next((row for name in logged.devices if (row := find_hardware(name)) and row.device), None)
    if row is None:
        return ""
    try:
        reading = engine.read([word.text for word in words], {}, version=logged.version or None)
    except MoonpadError:
        return ""
    devices, nodes = reading.layout.world_size * reading.replicas, reading.node.nodes or 1
    if reading.takes_all_devices and logged.count:
        devices = logged.count
    if nodes > 1 and devices % nodes == 0:
        return f"{nodes}x{devices // nodes}x{row.label}"
    return f"{max(devices, 1)}x{row.label}"


# --- with the commands of the text ---


def beside_logs(problems: Sequence[Problem], commands: Sequence[Command], logs: PastedLogs) -> list[Problem]:
    """In a text that is mostly a log only those of commands: its other lines were not written for a shell."""
    if len(logs.lines) < _MOSTLY:
        return list(problems)
    servers = [command for command in commands if _engine_of(command) and command not in logs.commands]
    lines = {word.line for command in servers for word in command.words}
    return [problem for problem in problems if problem.line in lines]


def with_logs(commands: Sequence[Command], logs: PastedLogs, budget: Budget) -> list[Command]:
    """The commands of the text, with those of logs that are none of them."""
    result = list(commands)
    for logged in logs.commands:
        budget.work(20 * len(result), "its logs")
        above = [at for at, command in enumerate(result) if command.line <= logged.line]
        below = [at for at, command in enumerate(result) if command.line > logged.line]
        partner = next((at for at in (*reversed(above), *below) if _is_same(result[at], logged)), None)
        if partner is not None:
            result[partner] = replace(_settled(result[partner], logged), accepted=logged.accepted)
        else:
            result.insert(len(above), logged)
            partner = len(above)
        result[partner] = _with_tokens(result[partner], logged.line, logs, budget)
    servers = [at for at, command in enumerate(result) if _engine_of(command)]
    if not logs.commands:
        for number, at in enumerate(servers):
            behind = result[servers[number + 1]].line if number + 1 < len(servers) else None
            result[at] = _with_tokens(result[at], result[at].line, logs, budget, behind)
    return result


def _with_tokens(command: Command, line: int, logs: PastedLogs, budget: Budget, behind: int | None = None) -> Command:
    """The command with what the log behind that line says of its start: up to the next one's."""
    budget.work(len(logs.served) + len(logs.commands), "its logs")
    last = behind or min((other.line for other in logs.commands if other.line > line), default=2**31)
    name = _engine_of(command)
    held = [tokens for at, engine, tokens in logs.served if line <= at < last and engine in ("", name)]
    if not held:
        return command
    tokens = min((count for count in held if count), default=0)
    return replace(command, held_tokens=tokens, serves=any(line <= at < last for at in logs.serving))


def _engine_of(command: Command) -> str:
    """The engine that writes the log of a server; "" for what is none."""
    program = program_named(command.program)
    if program is None or program.kind != "server":
        return ""
    owner = program_table().engines[program.name]
    build = ENGINES[owner].command_line.build
    return build.of if build else owner


def _is_same(command: Command, logged: Command) -> bool:
    """Whether the log may be that of the command: of one engine, and nothing said twice differently."""
    its = _engine_of(logged)
    if _engine_of(command) != its:
        return False
    given, said = _given(command), _given(logged)
    line = ENGINES[its].command_line
    for name in (*LAYOUT, "max_model_len"):
        flag = line.options.get(name)
        ours, log = _value(given, flag), _value(said, flag)
        if ours is None and log not in (None, "1") and not command.unresolved and name != "max_model_len":
            return False
        if ours is not None and log is not None and not _open(ours) and _plain(ours) != _plain(log):
            return False
    models = [model for model in (_model(command, given, line.model), _model(logged, said, line.model)) if model]
    if len(models) < 2 or _open(models[0]):
        return True
    first, second = (model.rstrip("/").casefold() for model in models)
    both = _REPOSITORY.fullmatch(first) and _REPOSITORY.fullmatch(second)
    return first == second or not both


def _settled(command: Command, logged: Command) -> Command:
    """The command with what the log says in place of variables."""
    if not any(word.unresolved for word in command.argv):
        return command
    given, said = _given(command), {option.flag: option for option in _given(logged)}
    argv: list[Word] = []
    ends = {option.index: option for option in given}
    at, rest_taken = 0, False
    named = {option.flag for option in given}
    model_flag = ENGINES[program_table().engines[logged.program]].command_line.model
    model = logged.argv[0] if not model_flag and not logged.argv[0].text.startswith("-") else None
    while at < len(command.argv):
        option, word = ends.get(at), command.argv[at]
        length = option.length if option else 1
        words = command.argv[at : at + length]
        if option is not None and any(part.unresolved for part in words) and option.flag in said:
            words = _of(logged, said[option.flag])
        elif option is not None and option.flag == "--model" and words[-1].unresolved and model:
            words = (*words[:1], model) if length > 1 else words
        elif option is None and word.unresolved:
            if at == 0 and model is not None:
                words = (model,)
            elif not rest_taken:
                others = [other for flag, other in said.items() if flag not in named]
                words = tuple(part for other in others for part in _of(logged, other))
                rest_taken = True
            else:
                words = ()
        argv += words
        at += length
    return replace(command, argv=tuple(argv))


def _of(logged: Command, option: Occurrence) -> tuple[Word, ...]:
    return logged.argv[option.index : option.index + option.length]


def _given(command: Command) -> tuple[Occurrence, ...]:
    options = option_set(command.program)
    return parse([word.text for word in command.argv], Grammar(options)).occurrences if options else ()


def _value(given: Sequence[Occurrence], flag: str | None) -> str | None:
    option = next((option for option in reversed(given) if flag is not None and flag in option.names), None)
    return str(option.value) if option is not None else None


def _model(command: Command, given: Sequence[Occurrence], flag: str) -> str:
    if flag:
        return _value(given, flag) or ""
    first = command.argv[0].text if command.argv else ""
    return first if not first.startswith("-") else _value(given, "--model") or ""


def _open(text: str) -> bool:
    return "$" in text or "<" in text or "{" in text


def _plain(text: str) -> str:
    return text.strip("'\"").casefold()
