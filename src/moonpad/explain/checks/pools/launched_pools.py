"""Pools of ranks that launch lines start, against what the servers' tables and the proxy in front say."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import Final

from moonpad.engines import ascend_names as plugin
from moonpad.engines import foreign_names as names
from moonpad.engines.value_checks import as_json, unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.nodes.rank_ranges import launched
from moonpad.explain.commands import Command
from moonpad.explain.grouping import value_of
from moonpad.explain.programs import base_name
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_EXTRA: Final = "kv_connector_extra_config"
_PARTS: Final = ("prefill", "decode")
_OWN: Final = {"kv_producer": "prefill", "kv_consumer": "decode"}
_ALIKE: Final = 0.8
_MOST: Final = 100

Shape = tuple[int, int]


def table_of_pool(case: Case) -> Iterator[Remark]:
    """`"decode": {"dp_size": 8, "tp_size": 4}`, where the launch lines and the servers start no pool of that shape."""
    script, place = case.script, case.option(plugin.TRANSFER_OPTION)
    if place is None or len(script.commands) > _MOST:
        return
    started = {shape for command in script.commands if (shape := _launched(command))}
    if not started:
        return
    servers = [command for command in script.commands if _config(command)]
    shapes = started | {shape for command in servers if (shape := _written(command))}
    own = _OWN.get(str(_config(case.commands[0]).get("kv_role")))
    roles = {_OWN.get(str(_config(command).get("kv_role"))) for command in servers}
    for part in _PARTS:
        shape = _table(_config(case.commands[0]), part)
        if own is not None and part not in roles and len(started) < len(_PARTS):
            continue  # the other pool is started by another text
        if shape is None or shape in shapes:
            continue
        known = ", ".join(f"{ranks} of {each}" for ranks, each in sorted(shapes))
        message = (
            f"{part}: {shape[0]} ranks of {shape[1]} devices, and the text starts {known}: each side finds the other's "
        )
        message += "blocks by these numbers"
        remedy = f"write the dp_size and tp_size with which the {part} pool is started"
        where = plugin.TRANSFER_OPTION
        yield make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy, at=place.index)
        return


def launched_apart(case: Case) -> Iterator[Remark]:
    """Launch lines of one pool that do not meet: an address without a rank 0, a rank twice, another port."""
    script = case.script
    if not is_first(case.commands, script) or len(script.commands) > _MOST:
        return
    lines = [(command, launched(command), _address(command)) for command in script.commands if _launched(command)]
    if any(not address or (unresolved(address) and not any(map(str.isdigit, address))) for _, _, address in lines):
        return
    for at, (command, given, address) in enumerate(lines):
        block = _block(script.lines, command.line)
        near = [each for each in lines if _block(script.lines, each[0].line) == block]
        alike = [each for each in near if _size(each[1]) == _size(given)]
        here = [each for each in alike if each[2] == address]
        first = given.get(names.LAUNCHED_FIRST, 0)
        where = script.where(command.line)
        if first and all(each[1].get(names.LAUNCHED_FIRST, 0) for each in here) and len(alike) > len(here):
            message = f"{where}: ranks from {first} on wait at {shortened(address, 40)}, where no line starts rank 0"
            remedy = f"write the {names.LAUNCHED_ADDRESS} of the line that starts rank 0 of this pool"
            yield _told(names.LAUNCHED_ADDRESS, message, remedy)
            return
        for _, other, _ in (each for each in lines[:at] if each in here):
            if _ranks(given) & _ranks(other):
                message = (
                    f"{where}: rank {min(_ranks(given) & _ranks(other))} of the pool at {shortened(address, 40)} is "
                )
                message += "started twice"
                remedy = f"count {names.LAUNCHED_FIRST} on by the ranks of the machines before"
                yield _told(names.LAUNCHED_FIRST, message, remedy)
                return
            if other.get(names.LAUNCHED_PORT) != given.get(names.LAUNCHED_PORT):
                message = (
                    f"{where}: the ranks of one pool, at {shortened(address, 40)}, meet at one port, and this line "
                )
                message += f"names {given.get(names.LAUNCHED_PORT)}, another {other.get(names.LAUNCHED_PORT)}"
                yield _told(names.LAUNCHED_PORT, message, f"write one {names.LAUNCHED_PORT} on all lines of a pool")
                return


def options_of_proxy(case: Case) -> Iterator[Remark]:
    """Hosts and ports of a proxy that are not as many, and options that it does not have."""
    script = case.script
    if not is_first(case.commands, script) or len(script.commands) > _MOST:
        return
    for command in script.commands:
        words = [word.text for word in (*command.prefix, *command.argv)]
        program = next(
            (base_name(word) for word in (*command.prefix, *command.argv)[:4] if word.text.endswith(".py")), ""
        )
        options = plugin.OTHER_PROXIES.get(program, plugin.PROXY_OPTIONS)
        if program not in (*plugin.PROXIES, *plugin.OTHER_PROXIES) or command.fork:
            continue
        where = script.where(command.line)
        for flag in [word.partition("=")[0] for word in words if word.startswith("--")]:
            if any(known.startswith(flag) for known in options):
                continue
            near = difflib.get_close_matches(flag, options, n=1, cutoff=_ALIKE)
            if near:
                yield _told(flag, f"{where}: {program} has no {shortened(flag, 40)}: it ends", f"write {near[0]}")
                return
        for hosts, ports in plugin.PAIRED_OPTIONS:
            one, other = _behind(words, hosts), _behind(words, ports)
            if not one or not other or len(one) == len(other) or any(unresolved(word) for word in (*one, *other)):
                continue
            message = (
                f"{where}: {len(one)} {hosts.removeprefix('--').replace('-', ' ')} and {len(other)} ports: the proxy "
            )
            message += "asks for one port for each host, and ends"
            yield _told(ports, message, "name a host for each port, the same host as often as it has servers")
            return


def name_of_other_pool(case: Case) -> Iterator[Remark]:
    """A pool's servers that have another name than those of the other pool: the proxy passes one name on to both."""
    script, place = case.script, case.option("--served-model-name")
    config = _config(case.commands[0])
    part = _OWN.get(str(config.get("kv_role")))
    if part is None or place is None or len(script.commands) > _MOST:
        return
    named: dict[str, set[str]] = {"prefill": set(), "decode": set()}
    for command in script.commands:
        its = _OWN.get(str(_config(command).get("kv_role")))
        word = value_of(command.argv, ("--served-model-name",))
        if its is not None:
            named[its].add(word.text.strip("'\"") if word is not None else "")
    word = value_of(case.commands[0].argv, ("--served-model-name",))
    own = word.text.strip("'\"") if word is not None else ""
    other = named[_PARTS[_PARTS[0] == part]]
    if not own or "" in other or not other or own in other or any(unresolved(name) for name in (own, *other)):
        return
    message = f"this {part} server is called {shortened(own, 50)}, and the servers of the other pool "
    message += f"{shortened(', '.join(sorted(other)), 80)}: a proxy hands one name to both, and one of them answers 404"
    remedy = "give the servers of both pools one name"
    yield make_remark(Severity.WARNING, Code.CONFLICT, "--served-model-name", message, remedy, at=place.index)


def _block(lines: Sequence[str], line: int) -> int:
    """Which fence of the text a line stands in: another may show another way to start the same machines."""
    return sum(text.lstrip().startswith(("```", "~~~")) for text in lines[:line])


def _told(where: str, message: str, remedy: str) -> Remark:
    return replace(make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy), command=None)


def _config(command: Command) -> Mapping[str, object]:
    word = value_of(command.argv, (plugin.TRANSFER_OPTION,))
    value = as_json(word.text) if word is not None else None
    return value if isinstance(value, dict) else {}


def _table(config: Mapping[str, object], part: str) -> Shape | None:
    extra = config.get(_EXTRA)
    table = extra.get(part) if isinstance(extra, dict) else None
    ranks, each = (table.get("dp_size"), table.get("tp_size")) if isinstance(table, dict) else (None, None)
    return (ranks, each) if isinstance(ranks, int) and isinstance(each, int) else None


def _launched(command: Command) -> Shape | None:
    given = launched(command)
    size = given.get(names.LAUNCHED)
    return (size, given.get(names.LAUNCHED_DEVICES, 1)) if size is not None else None


def _written(command: Command) -> Shape | None:
    """The sizes of a server's own options, where they are numbers."""
    sizes = []
    for flags in (("--data-parallel-size", "-dp"), ("--tensor-parallel-size", "-tp")):
        word = value_of(command.argv, flags)
        sizes.append(1 if word is None else whole(word.text))
    ranks, each = sizes
    return (ranks, each) if ranks is not None and each is not None else None


def _size(given: Mapping[str, int]) -> tuple[int | None, int | None]:
    return given.get(names.LAUNCHED), given.get(names.LAUNCHED_DEVICES)


def _ranks(given: Mapping[str, int]) -> set[int]:
    first = given.get(names.LAUNCHED_FIRST, 0)
    return {*range(first, first + given.get(names.LAUNCHED_HERE, given.get(names.LAUNCHED, 0)))}


def _address(command: Command) -> str:
    words = [word.text for word in (*command.prefix, *command.argv)]
    return dict(pairwise(words)).get(names.LAUNCHED_ADDRESS, "")


def _behind(words: Sequence[str], flag: str) -> list[str]:
    """The values of an option, also of one that is written with its beginning alone."""
    for at, word in enumerate(words):
        if len(word) > len("--prefiller-") and flag.startswith(word):
            return [*takewhile(lambda text: not text.startswith("-"), words[at + 1 :])]
    return []
