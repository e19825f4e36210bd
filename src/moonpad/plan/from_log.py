"""What an engine's log says was started, as a configuration; what the person says beside it goes before the log."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct, field

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.hardware import find_hardware
from moonpad.engines import ENGINES
from moonpad.engines.base import Engine, Reading
from moonpad.engines.logged_arguments import KEY_NAME, Logged, argv_of
from moonpad.engines.start_log import LoggedStart
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.configuration import Configuration
from moonpad.values.errors import UsageError
from moonpad.values.plan import Layout
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from moonpad.values.versions import parse

PLATFORMS: Final = {"npu": Platform.ASCEND, "ascend": Platform.ASCEND, "cpu": Platform.CPU}
"""How engines call what only a build of them runs on."""
TEXTS: Final = ("kv_cache_dtype", "attention_backend", "executor")
NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)
"""What one of those can be; another text is no engine's, and is passed over."""
_OFF: Final[tuple[Logged, ...]] = (None, False, 0, "", "null", "none", "weights", (), {})
"""Values of an argument that change nothing."""


class Named(Struct, frozen=True):
    """What the person says of the start. None and "": the log decides."""

    checkpoint: Checkpoint | None = None
    cluster: Cluster | None = None
    engine: str = ""
    version: str = ""
    layout: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


class Identified(Struct, frozen=True):
    """`not_kept`: why the start cannot stand for others; "" where it can."""

    configuration: Configuration
    not_kept: str = ""


def secrets_in(arguments: Mapping[str, Logged]) -> Iterator[str]:
    """The values of arguments that are named like keys."""
    for name, value in arguments.items():
        if isinstance(value, Mapping):
            yield from secrets_in(value)
        elif KEY_NAME.search(name):
            yield from (text for text in (value if isinstance(value, tuple) else (value,)) if isinstance(text, str))


def identify(start: LoggedStart, named: Named, checkpoint: Checkpoint) -> Identified:
    """The configuration that was started.

    Raises:
        UsageError: the log and the person together do not say on which devices, or in which layout.
    """
    if not start.arguments and not named.layout:
        raise UsageError(
            "the log does not repeat the engine's arguments, so that its layout is unknown",
            remedy="give the log from its first line on, or say layout and settings: --set tp=8 max_num_seqs=256",
        )
    engine = _engine(start, named)
    reading = _read(start, engine, named.version or start.version)
    layout = replace(reading.layout, **named.layout)
    cluster = named.cluster or _cluster(start, reading, layout, engine)
    odd = [name for name in TEXTS if not NAME.fullmatch(getattr(reading.settings, name) or "auto")]
    cache_size = {"kv_cache_gib": int(size)} if (size := start.figures.get("kv_set_gib", 0.0)) >= 1 else {}
    try:
        settings = replace(reading.settings, **{**dict.fromkeys(odd), **cache_size, **named.settings})
    except ValueError as error:
        raise UsageError(f"--set: {error}") from None
    version = named.version or start.version
    configuration = Configuration(checkpoint, cluster, engine.facts, version, layout, settings)
    return Identified(configuration, _not_kept(start, named, engine, reading, version))


def _engine(start: LoggedStart, named: Named) -> Engine:
    """The build of the engine: as asked, for the devices that are meant, by the marks of its options."""
    if named.engine:
        return ENGINES[named.engine]
    platform = named.cluster.device.platform if named.cluster else PLATFORMS.get(start.platform.casefold())
    if "kv_set_gib" in start.figures:  # only on a processor it is told
        platform = Platform.CPU
    resolved = ENGINES[start.engine].log.resolved
    names = [name for name, value in start.arguments.items() if value not in _OFF and name not in resolved]
    given = [f"--{name.replace('_', '-')}" for name in names]
    for engine in ENGINES.values():
        build = engine.command_line.build
        if build is None or build.of != start.engine:
            continue
        marks = tuple(option for option in build.options if option.endswith("-"))
        if any(flag.startswith(marks) for flag in given if marks):
            return engine
        if platform in PLATFORMS.values() and platform in engine.platforms:
            return engine
    return ENGINES[start.engine]


def _read(start: LoggedStart, engine: Engine, version: str) -> Reading:
    """The arguments as the engine's own reader reads a command line."""
    chosen = engine.log.resolved
    words = {name: value for name, value in start.arguments.items() if name not in chosen and not KEY_NAME.search(name)}
    return engine.read(argv_of(words), {}, version=version if parse(version) else None)


def _cluster(start: LoggedStart, reading: Reading, layout: Layout, engine: Engine) -> Cluster:
    """As many of the devices that the log names as the layout uses."""
    if engine.platforms == (Platform.CPU,):
        return parse_cluster("cpu")
    devices = layout.world_size * reading.replicas
    row = next((row for name in start.devices if (row := find_hardware(name)) and row.device), None)
    if row is None or row.device is None:
        unknown = f", and moonpad does not know {start.devices[0]}" if start.devices else ""
        example = f"{devices}xH200" if devices > 1 else "H200"
        raise UsageError(
            f"the log does not say on which devices it ran: {devices} were used{unknown}",
            remedy=f"name them with --on, as in --on {example}",
        )
    nodes = reading.node.nodes or 1
    local = reading.node.data_parallel_local
    if local and layout.dp % local == 0:
        nodes = layout.dp // local
    if nodes > 1 and devices % nodes == 0:
        return parse_cluster(f"{nodes}x{devices // nodes}x{row.label}")
    return parse_cluster(f"{devices}x{row.label}" if devices > 1 else row.label)


def _not_kept(start: LoggedStart, named: Named, engine: Engine, reading: Reading, version: str) -> str:
    if not version:
        return f"the log does not say which version of {engine.facts.title} it was: --engine-version says it"
    if not start.repeats_command and "gpu_memory_utilization" not in named.settings:
        return (
            "the log does not repeat the command line, so that its limits are unknown: "
            "--set gpu_memory_utilization=0.9 max_num_seqs=256 says them"
        )
    given = {name for name, value in start.arguments.items() if value not in _OFF}
    beyond = [name for name in engine.log.beyond_plans if name in given and name in reading.extra]
    for name in ("speculative_config", "speculative_algorithm"):
        if name in given and not reading.settings.draft_tokens:
            beyond.append(name)
    return f"it was started with {' and '.join(beyond)}, which no plan has" if beyond else ""
