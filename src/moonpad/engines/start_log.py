"""What an engine's log says of its start: what was started, and the figures that it measured on every rank.

The lines of each engine are data of its file (`Engine.log`). A log may hold several starts, and be wrapped: by Docker,
Kubernetes or journald, in JSON, with colours, with the lines of all ranks in any order. Nothing here raises.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final

from msgspec import Struct, field

from moonpad.engines.base import Engine
from moonpad.engines.log_grammar import Failure, LogGrammar, first_failure, plain, read_progress
from moonpad.engines.logged_arguments import Logged, arguments_in
from moonpad.values.units import GIB
from moonpad.values.versions import parse

LINE_CHARACTERS: Final = 100_000
"""A longer line is cut: the longest of a start repeats all arguments."""
FIRST_LINES: Final = 10_000
LAST_LINES: Final = 5_000
"""Of a start that failed: so many are read for its cause."""
MOST_LINES: Final = 10_000
"""Of those that may matter so many are read from the beginning and from the end: of 16 ranks they are a thousand."""
MOST_FIGURES: Final = 5_000
LARGEST: Final = 1e15

# One of these is part of every line that matters, in any case of letters, so that the others cost one look.
_HINTS: Final = (
    "gib", "gb", "tokens", "args", "version", "model  ", "llm engine", "platform", "device_name", "blocks", "gpu ",
    "max model len", "total memory", "weights took", "sglang", "startup complete", "fired up",
)  # fmt: skip
_SERVING: Final = re.compile(r"throughput|Decode batch|Prefill batch|HTTP/1")
"""Of what an engine says while it serves there is no end."""
READY: Final = re.compile(r"Application startup complete|The server is fired up|Starting vLLM (?:API )?server")
_RANK: Final = re.compile(
    r"\((?P<worker>(?:Vllm|Ray)?Worker[\w -]{0,40}(?:rank=\d+ )?pid=\d+[^)\n]{0,40}|EngineCore\w{0,20} pid=\d+)\)"
    r"|\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?(?P<ranks>(?: [A-Z]{2,4}\d+)+)\]"
)
_TEXT_KEYS: Final = ("log", "message", "MESSAGE", "msg", "line", "text")
_CRI: Final = re.compile(r"\d{4}-\d\d-\d\dT\S{1,40} std(?:out|err) (?P<part>[PF]) ")

LEAST: Final = frozenset(
    {"kv_gib", "kv_bytes", "kv_set_gib", "kv_tokens", "concurrency", "blocks", "device_gib", "free_gib"}
)
"""Figures of which the smallest over the ranks counts, as it does for the engine; of the others it is the largest."""


class LoggedStart(Struct, frozen=True):
    """`engine` is the name of an engine, before its build is known. Texts are "" where the log does not say.

    `figures` are those over all ranks. `failure`: why it never served, None where it did or no cause is named.
    """

    engine: str
    version: str = ""
    model: str = ""
    platform: str = ""
    devices: tuple[str, ...] = ()
    """What the driver calls them, most often named first."""
    arguments: Mapping[str, Logged] = field(default_factory=dict)
    repeats_command: bool = False
    """Whether the log repeats the arguments that were given, and not only what the engine made of them."""
    figures: Mapping[str, float] = field(default_factory=dict)
    ranks: int = 1
    """How many said what they hold: of several, newer releases of vLLM let one speak."""
    ready: bool = False
    failure: Failure | None = None
    starts: int = 1
    """How many starts the log holds; this is the last one that measured something."""


def read_start(text: str, engines: Sequence[Engine]) -> LoggedStart | None:
    """The last start of the log that measured something, else the last one. None: no start of these engines."""
    lines = [line[:LINE_CHARACTERS] for line in unwrapped(text)]
    informative = [line for line in lines if _may_matter(line) and not _SERVING.search(line)]
    informative = informative[:MOST_LINES] + informative[max(MOST_LINES, len(informative) - MOST_LINES) :]
    engine = _engine_of(informative, engines)
    if engine is None:
        return None
    starts = list(_starts(informative, engine.log))
    measured = [start for start in starts if start.has_kv] or starts
    return measured[-1].closed(engine, lines, len(starts))


def _may_matter(line: str) -> bool:
    folded = line.casefold()
    return any(hint in folded for hint in _HINTS)


def _engine_of(lines: Sequence[str], engines: Sequence[Engine]) -> Engine | None:
    """By the first line that says what was started, else by the first figure of a KV cache."""
    named = [engine for engine in engines if engine.log.starts and engine.command_line.build is None]
    for line in lines:
        text = plain(line)
        for engine in named:
            if any(
                match and (match.re.groupindex.keys() & {"arguments", "config", "version"})
                for match in (pattern.search(text) for pattern in engine.log.starts)
            ):
                return engine
    for line in lines:
        for engine in named:
            progress = read_progress(engine.log, line)
            if progress is not None and progress.figures.keys() & {"kv_tokens", "kv_gib"}:
                return engine
    return None


class _Start:
    """One start while its lines are read."""

    def __init__(self) -> None:
        self.named: dict[str, str] = {}
        self.devices: dict[str, int] = {}
        self.given: dict[str, Logged] = {}
        self.config: dict[str, Logged] = {}
        self.settings: dict[str, Logged] = {}
        self.measured: dict[str, list[tuple[str, float]]] = {}
        self.ready = False
        self.count = 0

    @property
    def has_kv(self) -> bool:
        return not self.measured.keys().isdisjoint({"kv_gib", "kv_bytes", "kv_set_gib", "kv_tokens"})

    def measure(self, line: str, figures: Mapping[str, str]) -> None:
        match = _RANK.search(line[:400])
        rank = (match["worker"] or match["ranks"] or "") if match else ""
        for name, written in figures.items():
            value = number_of(written)
            if value is not None and self.count < MOST_FIGURES:
                self.count += 1
                self.measured.setdefault(name, []).append((rank, value))

    def closed(self, engine: Engine, lines: Sequence[str], starts: int) -> LoggedStart:
        grammar = engine.log
        figures = {name: over_ranks(name, values, grammar) for name, values in self.measured.items()}
        ranks = max(len({rank for rank, _ in self.measured.get(name, ())}) for name in ("weights_gib", "kv_gib"))
        names = grammar.config_names
        config = {names[name]: value for name, value in self.config.items() if name in names}
        arguments = {**config, **self.settings, **self.given}
        model = self.named.get("model") or next(
            (str(arguments[name]) for name in ("model", "model_path") if arguments.get(name)), ""
        )
        version = self.named.get("version", "")
        ends = chain(lines[:FIRST_LINES], lines[max(FIRST_LINES, len(lines) - LAST_LINES) :])
        return LoggedStart(
            engine.name,
            version=version.removeprefix("v") if parse(version) else "",
            model=model,
            platform=str(arguments.get("device") or "") or self.named.get("platform", self.named.get("plugin", "")),
            devices=tuple(sorted(self.devices, key=lambda name: -self.devices[name])),
            arguments=arguments,
            repeats_command=bool(self.given),
            figures=_joined(figures),
            ranks=max(1, ranks),
            ready=self.ready,
            failure=None if self.ready else first_failure(grammar, ends),
            starts=starts,
        )


def _starts(lines: Iterable[str], grammar: LogGrammar) -> Iterator[_Start]:
    """A line that repeats the arguments begins another start, once the one before has measured something."""
    start = _Start()
    for line in lines:
        text = plain(line)
        for pattern in grammar.starts:
            for match in islice(pattern.finditer(text), 1):
                groups = {name: value for name, value in match.groupdict().items() if value is not None}
                if "arguments" in groups and start.measured:
                    yield start
                    start = _Start()
                _take(start, groups)
        if (progress := read_progress(grammar, text)) is not None:
            start.measure(text, progress.figures)
        start.ready = start.ready or READY.search(text) is not None
    yield start


def _take(start: _Start, groups: Mapping[str, str]) -> None:
    for name, value in groups.items():
        if name in ("device", "listed"):
            start.devices[value] = start.devices.get(value, 0) + 1
        elif name == "arguments":
            start.given = arguments_in(value) or start.given
        elif name == "config":
            start.config = start.config or arguments_in(value)
        elif name.startswith("setting_"):
            start.settings[name.removeprefix("setting_")] = int(value[:18])
        else:
            start.named[name] = value.strip()


def number_of(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) < LARGEST else None


def over_ranks(name: str, values: Sequence[tuple[str, float]], grammar: LogGrammar) -> float:
    """One figure of many: `values` are those of each rank, in the order of the log; "" where no rank is named."""
    if grammar.drafts_apart:
        by_rank: dict[str, float] = {}
        for rank, value in values:
            by_rank[rank] = by_rank.get(rank, 0.0) + value if name == "graphs_gib" else by_rank.get(rank, value)
        values = tuple(by_rank.items())
    return (min if name in LEAST else max)(value for _, value in values)


def _joined(figures: dict[str, float]) -> dict[str, float]:
    """The same under one name each, in GiB."""
    if "loaded_gib" in figures:
        figures.setdefault("weights_gib", figures.pop("loaded_gib"))
    if "k_gib" in figures and "v_gib" in figures:
        figures.setdefault("kv_gib", figures.pop("k_gib") + figures.pop("v_gib"))
    for name in ("kv", "device"):
        if (size_bytes := figures.pop(f"{name}_bytes", None)) is not None:
            figures.setdefault(f"{name}_gib", size_bytes / GIB)
    for former, name in (("capacity_gib", "device_gib"), ("cache_blocks", "blocks")):
        if former in figures:
            figures.setdefault(name, figures.pop(former))
    return figures


# --- what wraps the lines ---


def unwrapped(text: str) -> Iterator[str]:
    """The lines that the engine wrote. Docker and Kubernetes cut long ones, and say so."""
    pending = ""
    for line in text.split("\n"):
        inner, whole = _inner(line)
        if not whole and len(pending) < LINE_CHARACTERS:
            pending += inner
            continue
        yield pending + inner
        pending = ""
    if pending:
        yield pending


def inner_line(line: str) -> str:
    """What a wrapper holds of a line."""
    return _inner(line)[0]


def _inner(line: str) -> tuple[str, bool]:
    """What a wrapper holds of a line, and whether the line ends there."""
    if cri := _CRI.match(line):
        return line[cri.end() :], cri["part"] == "F"
    if not line.startswith('{"') or len(line) > 2 * LINE_CHARACTERS:
        return line, True
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return line, True
    key = next((key for key in _TEXT_KEYS if key in record), "")
    value = record.get(key)
    if isinstance(value, list):  # journald's way to write what is not printable, as colours are not
        try:
            value = bytes(value).decode("utf-8", "replace")
        except (TypeError, ValueError):
            return line, True
    if not isinstance(value, str):
        return line, True
    return value.rstrip("\n"), key != "log" or value.endswith("\n") or "stream" not in record
