"""The command lines that the start logs in a text repeat, with the lines where they stand.

Unlike engines/start_log.py, which measures the last start of a whole log, this finds every start in a text that holds
other things too, and gives it as the words of a command. Nothing here raises.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from moonpad.catalog.options import option_set
from moonpad.catalog.options.option import Option, OptionSet
from moonpad.engines.base import Engine
from moonpad.engines.foreign_names import ROLE_OPTIONS
from moonpad.engines.log_grammar import plain, read_progress
from moonpad.engines.logged_arguments import KEY_NAME, Logged, arguments_in, argv_of, is_closed, words_of
from moonpad.engines.start_log import LINE_CHARACTERS, READY, inner_line
from moonpad.values.records import replace
from moonpad.values.versions import parse

HIDDEN: Final = "${the key}"
MOST_STARTS: Final = 64
MOST_WRAPPED: Final = 600
"""Lines over which one line of the log may be wrapped: the longest has 16,000 characters."""
_SCANS: Final = 20
_HINT: Final = re.compile(
    r"args|ServerArgs|Namespace\(|version|LLM engine|device_name|GPU \d|platform|loaded meta data|n_ctx|offloaded"
    r"|build: |LLM Args|Device \d",
    re.IGNORECASE,
)
_SERVED: Final = re.compile(r"tokens|startup complete|fired up|#tokens")
_NEW_LINE: Final = re.compile(
    r"\s*(?:\([\w. -]{1,40}pid=|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)[ :]|\[\d{4}-\d\d-\d\d|Traceback |```|~~~)"
)
"""What no continuation of a wrapped line begins with."""
_INDEX: Final = re.compile(r"\b(?:GPU|Device) (\d{1,3}): ")
_OBJECTS: Final = frozenset({"speculative_config", "kv_transfer_config", "json_model_override_args", "hf_overrides"})
"""Arguments whose objects people write; others are what the engine has made of them."""
_OF_PROGRAM: Final = frozenset({"model_tag", "subparser", "dispatch_function", "config", "random_seed", "seed"})


class LoggedCommand(Struct, frozen=True):
    """`engine` is the name of an engine, before its build is known; lines count from 0.

    `arguments` are by their names in the log. `whole`: the log repeats what was given, and not only what the engine
    made of it.
    """

    engine: str
    line: int
    end_line: int
    version: str = ""
    arguments: Mapping[str, Logged] = field(default_factory=dict)
    whole: bool = True
    platform: str = ""
    devices: tuple[str, ...] = ()
    """What the driver calls them."""
    count: int = 0
    """How many of them the log lists; 0 where it does not."""


def logged_commands(lines: Sequence[str], engines: Sequence[Engine]) -> tuple[LoggedCommand, ...]:
    """In the order of the text; one that is repeated word for word is there once."""
    finder = _Finder(lines, [engine for engine in engines if engine.command_line.build is None])
    finder.read()
    commands: dict[object, LoggedCommand] = {}
    for command in finder.commands:
        if command.arguments:
            commands.setdefault((command.engine, repr(command.arguments)), command)
    return tuple(commands.values())


def served_lines(
    lines: Sequence[str], numbers: Collection[int], engines: Sequence[Engine]
) -> Iterator[tuple[int, str, int]]:
    """The lines of `numbers` by which an engine says that it has its KV cache, or that it serves: the number, the
    engine ("" for any) and the tokens that the cache holds, 0 where it says none."""
    named = [engine for engine in engines if engine.command_line.build is None]
    for number in sorted(numbers):
        line = lines[number][:LINE_CHARACTERS]
        if not _SERVED.search(line):
            continue
        text = plain(inner_line(line))
        if READY.search(text):
            yield number, "", 0
        for engine in named:
            progress = read_progress(engine.log, text)
            tokens = progress.figures.get("kv_tokens", "") if progress else ""
            if tokens.isdigit() and len(tokens) < 16 and int(tokens) > 0:
                yield number, engine.name, int(tokens)


class _Finder:
    def __init__(self, lines: Sequence[str], engines: Sequence[Engine]) -> None:
        self.lines = lines
        self.engines = [engine for engine in engines if engine.log.starts or engine.log.pieces]
        self.commands: list[LoggedCommand] = []
        self.pending: dict[str, dict[str, str]] = {}
        """Of each engine what its log has said before it repeats the arguments."""
        self.devices: dict[str, None] = {}
        self.indexes: set[str] = set()

    def read(self) -> None:
        skip_to = 0
        for number, raw in enumerate(self.lines):
            if number < skip_to or not _HINT.search(raw[:LINE_CHARACTERS]):
                continue
            text = plain(inner_line(raw[:LINE_CHARACTERS]))
            for engine in self.engines:
                for pattern in (*engine.log.starts, *engine.log.pieces):
                    if match := pattern.search(text):
                        groups = {name: value for name, value in match.groupdict().items() if value is not None}
                        skip_to = max(skip_to, self._take(engine, groups, number, pattern in engine.log.pieces))
            if len(self.commands) >= MOST_STARTS:
                break
        if self.devices:
            names, count = tuple(self.devices), len(self.indexes)
            self.commands = [replace(command, devices=names, count=count) for command in self.commands]

    def _take(self, engine: Engine, groups: Mapping[str, str], number: int, piece: bool) -> int:
        """The number of the first line that is not taken."""
        end = number + 1
        pending = self.pending.setdefault(engine.name, {})
        for name, value in groups.items():
            if name in ("device", "listed"):
                self.devices[value] = None
                if name == "listed" and (index := _INDEX.search(self.lines[number])):
                    self.indexes.add(index[1])
            elif name in ("arguments", "config", "attributes"):
                text, end, closed = self._whole(value, number) if name == "arguments" else (value, end, True)
                self._start(engine, name, text, number, end, closed=closed)
            elif name.startswith("setting_"):
                self._piece(engine, name.removeprefix("setting_"), value, number, new=False)
            elif name == "model" and piece:
                self._piece(engine, name, value, number, new=True)
            elif name == "version":
                pending[name] = value
                if self.commands and self.commands[-1].engine == engine.name and not self.commands[-1].version:
                    self.commands[-1] = replace(self.commands[-1], version=_version(value))
            elif name in ("platform", "plugin"):
                pending.setdefault("platform", value)
        return end

    def _piece(self, engine: Engine, name: str, value: str, number: int, *, new: bool) -> None:
        """One argument of an engine that does not repeat them in one line."""
        last = self.commands[-1] if self.commands else None
        if not engine.log.pieces:
            return
        if new:
            pending = self.pending.get(engine.name, {})
            version = _version(pending.get("version", ""))
            self.commands.append(LoggedCommand(engine.name, number, number + 1, version, {name: value}, whole=False))
        elif last is not None and last.engine == engine.name:
            self.commands[-1] = replace(last, arguments={**last.arguments, name: value}, end_line=number + 1)

    def _start(self, engine: Engine, name: str, text: str, number: int, end: int, *, closed: bool) -> None:
        arguments = words_of(text) if name == "attributes" else arguments_in(text)
        if isinstance(cache := arguments.get("kv_cache_config"), Mapping):
            arguments |= {f"kv_cache_{key}": value for key, value in cache.items()}
        pending = self.pending.get(engine.name, {})
        last = self.commands[-1] if self.commands else None
        if name == "config":
            names = engine.log.config_names
            arguments = {names[key]: value for key, value in arguments.items() if key in names}
            if last is not None and last.engine == engine.name and last.whole:
                return
        version = pending.pop("version", "")
        platform = pending.pop("platform", "")
        self.commands.append(
            LoggedCommand(engine.name, number, end, _version(version), arguments, name != "config" and closed, platform)
        )

    def _whole(self, text: str, number: int) -> tuple[str, int, bool]:
        """The arguments up to the bracket that closes, which may stand some lines below; the line behind it; and
        whether it is there. Where it is not, the arguments of the one line, less the last, which may be cut."""
        opens, closes = (sum(text.count(mark) for mark in marks) for marks in ("([{", ")]}"))
        scans, end = 0, number + 1
        parts, size = [text], len(text)
        while end <= min(len(self.lines), number + MOST_WRAPPED) and size < LINE_CHARACTERS:
            if closes > opens:
                scans += 1
                if is_closed("".join(parts)):
                    return "".join(parts), end, True
                if scans > _SCANS:
                    break
            if end == len(self.lines):
                break
            more = plain(inner_line(self.lines[end][:LINE_CHARACTERS]))
            if _NEW_LINE.match(more) or not more:
                break
            opens += sum(map(more.count, "([{"))
            closes += sum(map(more.count, ")]}"))
            parts.append(_continuation(more))
            size += len(more)
            end += 1
        return text.rpartition(",")[0], number + 1, False


def _continuation(line: str) -> str:
    """Without what a container's log has in front of each line."""
    return re.sub(r"^[\w.-]{1,60}\s*\| ", "", line)


def _version(text: str) -> str:
    return text.removeprefix("v") if parse(text) else ""


# --- as the words of a command ---


def argv_words(command: LoggedCommand, engine: Engine) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Of each argument that was given its name in the log, and the words that say it; the model first.

    What is at its default, or is no option of the release is left out. A key is `HIDDEN`.
    """
    program, log = engine.program, engine.log
    options = option_set(program, command.version or None)
    names = [name for name in _MODELS if command.arguments.get(name)]
    model = next(iter(names), "")
    chosen = command.whole and len(command.arguments) < _DUMP
    if model and isinstance(command.arguments[model], str):
        flag = engine.command_line.model
        yield model, (*((flag,) if flag else ()), str(command.arguments[model]))
    for name, value in command.arguments.items():
        left_out = name in _MODELS or name in _OF_PROGRAM or name in log.resolved
        if left_out or value is None or options is None:
            continue
        option = _option(options, name)
        if KEY_NAME.search(name):
            if option is not None and value:
                yield name, (option.name, HIDDEN)
            continue
        if option is not None and not command.whole and name.endswith("_parallel_size"):
            yield name, (option.name, str(value))
        elif option is not None and (words := tuple(_words(option, value, chosen))):
            yield name, words


_DUMP: Final = 40
"""A log with so many arguments repeats all, those with their defaults too."""
_MEMBER: Final = re.compile(r"<[\w.]{1,80}: (?:(['\"])(.{0,200}?)\1|([\w.-]{1,80}))>")
"""A member of an enumeration: `<ConfigFormat.AUTO: 'auto'>`."""
_OBJECT: Final = re.compile(r"<\S{0,100}[ ].{0,500}>")
"""`<function serve at 0x7f>`: nothing that a command line can say. `<HEAD_IP>` is an address that a person hid."""
_KEYS: Final = {"num_spec_tokens": "num_speculative_tokens"}
"""What a configuration calls a key when it is printed, and as it is given."""
_MODELS: Final = ("model", "model_tag", "model_path")


def _option(options: OptionSet, name: str) -> Option | None:
    flags = (f"--{name.replace('_', '-')}", f"--{name}", ROLE_OPTIONS.get(name, ""))
    return next((option for flag in flags if (option := options.named(flag)) is not None), None)


def _words(option: Option, value: Logged, chosen: bool) -> Iterator[str]:
    """`chosen`: what is False was said, and is not one of all options with their defaults."""
    if isinstance(value, str) and (member := _MEMBER.fullmatch(value)):
        value = member[2] if member[2] is not None else member[3]
    if isinstance(value, str) and _OBJECT.fullmatch(value):
        return
    default = None if chosen else option.default
    if isinstance(value, Mapping):
        value = {_KEYS.get(key, key): inner for key, inner in value.items()}
    if isinstance(value, bool):
        if value and default != "True":
            yield option.name
        elif not value and option.negations and (chosen or default == "True"):
            yield option.negations[0]
        return
    if option.nargs == "0" or value in ("", ()) or str(value) == default:
        return
    if isinstance(value, tuple) and str(list(value)) == default:
        return
    if (isinstance(value, Mapping) or option.kind == "json") and option.dest not in _OBJECTS:
        return
    if isinstance(value, float) and default is not None and _same_number(value, default):
        return
    words = argv_of({"x": value})
    texts = [word.removeprefix("--x=") for word in words if word != "--x"]
    yield from (option.name, *texts) if texts else ()


def _same_number(value: float, default: str) -> bool:
    try:
        return value == float(default)
    except ValueError:
        return False
