"""Scripts that a launcher runs: its options say what their `$1`, `$2` … are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from moonpad.engines.foreign_names import LAUNCHED_ADDRESS, LAUNCHERS
from moonpad.explain.commands import Command, Word
from moonpad.explain.programs import base_name, is_server
from moonpad.values.records import replace

_ARGUMENT: Final = re.compile(r"\$(?:\{([0-9]+)\}|([0-9])(?![0-9]))")
_ROLE: Final = re.compile(r"\"kv_role\"\s*:\s*\"(?P<role>kv_producer|kv_consumer)\"")
_SIZES_OF: Final[Mapping[str, str]] = {
    "kv_producer": r"\"prefill\"\s*:\s*\{[^{}]*\}",
    "kv_consumer": r"\"decode\"\s*:\s*\{[^{}]*\}",
}
_SIZES: Final = (("dp", "3"), ("tp", "7"))
"""What the object calls these sizes, and the numbers of the arguments that they are."""
_OF_A_PORT: Final = 5
"""Digits."""
_ADDRESSES: Final = frozenset(
    number for arguments in LAUNCHERS.values() for number, option in arguments.items() if option == LAUNCHED_ADDRESS
)
Values = tuple[tuple[str, str], ...]
"""Of one start, the number of each argument and what it is."""


def with_launchers(commands: Sequence[Command]) -> list[Command]:
    """Where all starts agree, or there are as many different ones as scripts: the first is of the first script, unless
    only another one has the sizes that the script names for its role. The arguments of the others stay unknown."""
    told = [values for command in commands if (values := _values(command))]
    templates = [at for at, command in enumerate(commands) if is_template(command)]
    starts = list(_different(told))
    if len(starts) != len(templates):
        # Of one layout at several addresses, which of them a script gets is not said.
        starts = list(dict(_by_layout(starts)).values())
    if not starts or not templates or len(starts) not in (1, len(templates)):
        return list(commands)
    given = list(commands)
    for number, at in enumerate(templates):
        known = dict(_own(given[at], starts) or starts[0 if len(starts) == 1 else number])
        given[at] = replace(given[at], argv=tuple(_known(word, known) for word in given[at].argv))
    return given


def _own(command: Command, starts: Sequence[Values]) -> Values:
    """The only start with the sizes that the script's object has for the role that it gives the script."""
    text = next((word.text for word in command.argv if _ROLE.search(word.text)), "")
    role = _ROLE.search(text)
    match = re.search(_SIZES_OF[role["role"]], text) if role is not None else None
    if match is None:
        return ()
    sizes = dict(re.findall(r"\"([dt]p)_size\"\s*:\s*\"?(\d{1,4})", match[0]))
    wanted = {number: sizes[name] for name, number in _SIZES if name in sizes}
    same = [values for values in starts if wanted and wanted.items() <= dict(values).items()]
    return same[0] if len(same) == 1 else ()


def _different(starts: Sequence[Values]) -> Iterator[Values]:
    """The first of each layout and each address where its ranks meet: the nodes of one deployment share that."""
    seen = set()
    for values in starts:
        key = (_sizes(values), tuple(value for number, value in values if number in _ADDRESSES))
        if key not in seen:
            seen.add(key)
            yield values


def _by_layout(starts: Sequence[Values]) -> Iterator[tuple[Values, Values]]:
    """Of each layout its one start, or what several have but for their addresses."""
    for values in starts:
        same = [other for other in starts if _sizes(other) == _sizes(values)]
        shared = tuple((number, value) for number, value in same[0] if number not in _ADDRESSES)
        yield _sizes(values), values if len(same) == 1 else shared


def _sizes(values: Values) -> Values:
    return tuple((number, value) for number, value in values if value.isdigit() and len(value) < _OF_A_PORT)


def _values(command: Command) -> Values:
    words = [word.text for word in (*command.prefix, *command.argv)]
    name = next((name for word in words[:4] if (name := base_name(Word(word))) in LAUNCHERS), None)
    if name is None:
        return ()
    given = {word.partition("=")[0]: word.partition("=")[2] for word in words if word.startswith("--") and "=" in word}
    given |= {word: value for word, value in pairwise(words) if word.startswith("--")}
    return tuple((number, given[option]) for number, option in LAUNCHERS[name].items() if given.get(option))


def is_template(command: Command) -> bool:
    """Whether it has `$1`, `$2` … among its arguments."""
    return is_server(command.program) and any(name.isdigit() for word in command.argv for name in word.unresolved)


def _known(word: Word, values: Mapping[str, str]) -> Word:
    names = [name for name in word.unresolved if name in values]
    text = word.text
    text = _ARGUMENT.sub(lambda match: values.get(match[1] or match[2], match[0]), text)
    return replace(word, text=text, unresolved=tuple(name for name in word.unresolved if name not in names))
