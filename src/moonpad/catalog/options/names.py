"""Names that an engine knows beside its options: values that its parser does not check, and environment variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from moonpad.catalog.options.sets import base_version, option_set
from moonpad.catalog.options.tables import BUILT_ON, NAMES, holds, nearest, read


@dataclass(frozen=True, slots=True)
class EnvironmentVariable:
    """`since` is the first recorded release that declares it, "" where the oldest already does; `until` is the first
    that no longer does, "" where the newest still does. SGLang read variables before it declared them.
    """

    name: str
    since: str
    until: str


def environment(program: str) -> Mapping[str, EnvironmentVariable]:
    """The variables that the engine itself declares, in any recorded release. Empty where none are recorded."""
    if program not in NAMES:
        return {}
    table = read(NAMES[program])
    asked, versions = table["environment"]["asked"], table["versions"]
    own = {name: _variable(name, runs, asked, versions) for name, runs in table["environment"]["names"].items()}
    return {**environment(BUILT_ON[program]), **own} if program in BUILT_ON else own


def _variable(
    name: str, runs: Sequence[Sequence[int]], asked: Sequence[Sequence[int]], versions: Sequence[str]
) -> EnvironmentVariable:
    first, last = runs[0][0], runs[-1][1]
    since = "" if first == asked[0][0] else versions[first]
    until = "" if last == asked[-1][1] else versions[last + 1]
    return EnvironmentVariable(name, since, until)


def known_environment(program: str, version: str | None = None) -> frozenset[str]:
    """The variables that the engine declares in a release, found as `option_set` finds one."""
    if program not in NAMES:
        return frozenset()
    table = read(NAMES[program])
    at, _ = nearest(table["versions"], version)
    own = frozenset(name for name, runs in table["environment"]["names"].items() if holds(runs, at))
    return own | known_environment(BUILT_ON[program], base_version(program, version)) if program in BUILT_ON else own


def values_of(program: str, version: str | None, dest: str) -> tuple[str, ...]:
    """The names that an option's value can have in a release: `values_of("vllm serve", "0.32.0", "tool_call_parser")`.

    From the engine's own register (vLLM: tool_call_parser, reasoning_parser, load_format, attention_backend,
    quantization; a plugin may add to it at start), else the parser's choices. () is "not known", never "none".
    """
    registered: tuple[str, ...] = ()
    if program in NAMES:
        table = read(NAMES[program])
        if program in BUILT_ON:
            registered = values_of(BUILT_ON[program], base_version(program, version), dest)
        names = table["values"].get(dest, {"names": {}})["names"]
        at, _ = nearest(table["versions"], version)
        registered += tuple(name for name, runs in names.items() if holds(runs, at))
    if registered:
        return tuple(sorted(set(registered)))
    found = option_set(program, version)
    choices = [option.choices for option in found.options if option.dest == dest] if found else []
    return choices[0] if choices else ()
