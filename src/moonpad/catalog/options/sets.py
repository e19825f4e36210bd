"""What a program takes in a release: its parser's options, the values that the parser does not check, its variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final

import msgspec

from moonpad.catalog.options.option import Option, OptionSet
from moonpad.catalog.options.tables import holds, nearest, programs, read
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace
from moonpad.values.versions import is_final, release_of, since


def versions(program: str) -> tuple[str, ...]:
    """The recorded releases, oldest first; () for an unknown program."""
    return tuple(read(programs()[program].options)["versions"]) if program in programs() else ()


def newest(program: str) -> str:
    """The newest recorded release, "" for an unknown program."""
    return (versions(program) or ("",))[-1]


def newest_stable(program: str) -> str:
    """The newest recorded release that is not a candidate; the newest of all where every one is. Of a plugin not one
    after a release (`.post1`): its wheel is published, and no page names an image of it."""
    plugin = program in programs() and bool(programs()[program].built_on)
    finals = (version for version in reversed(versions(program)) if is_final(version))
    return next((version for version in finals if not (plugin and ".post" in version)), newest(program))


def unknown_version(program: str, engine: str, version: str) -> Finding | None:
    """A note where no options of exactly this version are recorded: the release that it is judged by. `engine` is the
    name for the sentence.
    """
    if program not in programs() or not version:
        return None
    nearest_known = nearest(read(programs()[program].options), version)
    if nearest_known.exact:
        return None
    return Finding(
        Severity.NOTE,
        Code.UNKNOWN_VERSION,
        "engine version",
        f"{engine} {version} is {nearest_known.why}: judged by {nearest_known.release}, the nearest known release",
    )


@lru_cache(maxsize=256)
def option_set(program: str, version: str | None = None) -> OptionSet | None:
    """What `program` takes in `version`, None for an unknown program.

    Without a version it is the newest recorded release. `exact` is False where the options are those of another release
    (`nearest_release`) or were not read from the parser itself.
    """
    if program not in programs():
        return None
    table = read(programs()[program].options)
    release = nearest(table, version)
    exact = release.exact and release.release not in table.get("approximate", ())
    if programs()[program].built_on:
        return _derived(table, release.at, exact, version)
    options = _recorded(program, release.at)
    return options if exact else replace(options, exact=False)


@cache
def _recorded(program: str, at: int) -> OptionSet:
    table = read(programs()[program].options)
    return OptionSet(
        program=program,
        version=table["versions"][at],
        options=tuple(option for runs, option in _ever_recorded(program) if runs is None or holds(runs, at)),
        exact=True,
        positionals=tuple(table["positionals"]),
        **{name: table[name] for name in OPTIONAL if name in table},
    )


@cache
def _ever_recorded(program: str) -> tuple[tuple[Sequence[Sequence[int]] | None, Option], ...]:
    """Each row of the program with the runs of releases that have it, None where all have."""
    rows = read(programs()[program].options)["options"]
    return tuple((row.get("in"), _option(row)) for row in rows)


OPTIONAL: Final = ("prefixes", "underscores", "dotted", "passes_on", "standing", "source", "checked", "rewritten")


def base_version(program: str, version: str | None) -> str:
    """The release of the base that a plugin's release is made for: `0.20.2rc1` is for `0.20.2`."""
    table = read(programs()[program].options)
    release = nearest(table, version)
    return str(table["base_versions"][release.at]) if release.exact else release_of(version or "")


def _derived(table: Mapping[str, Any], at: int, exact: bool, version: str | None) -> OptionSet:
    program = table["program"]
    base = option_set(programs()[program].built_on, base_version(program, version))
    if base is None:
        raise ValueError(f"{programs()[program].built_on} is not recorded")
    more = {row["name"]: row["choices"] for row in table["more_choices"] if holds(row["in"], at)}
    options = tuple(
        replace(option, choices=(*option.choices, *more.get(option.name, ()))) if option.choices else option
        for option in base.options
    )
    return replace(
        base,
        program=program,
        version=table["versions"][at],
        options=options,
        exact=exact and base.exact,
        standing=table["standing"],
        source=f"{table['source']}; {base.source}",
        checked=table["checked"],
    )


def _option(row: Mapping[str, Any]) -> Option:
    long = next((name for name in row["names"] if name.startswith("--")), row["names"][0])
    usual = {"nargs": "0" if row["kind"] == "flag" else "1", "dest": long.lstrip("-").replace("-", "_")}
    return msgspec.convert({**usual, **row}, Option)


@lru_cache(maxsize=1024)
def releases_with(program: str, flag: str) -> tuple[str, ...]:
    """The recorded releases whose parser takes exactly this spelling, oldest first; for a plugin, those of its base."""
    if program not in programs():
        return ()
    if programs()[program].built_on:
        return releases_with(programs()[program].built_on, flag)
    table = read(programs()[program].options)
    releases = table["versions"]
    rows = [row for row in table["options"] if flag in row["names"] or flag in row.get("negations", ())]
    runs = [run for row in rows for run in row.get("in", [[0, len(releases) - 1]])]
    return tuple(version for at, version in enumerate(releases) if holds(runs, at))


def always_takes_a_value(program: str, flag: str) -> bool:
    """Whether the option is in the recorded releases, and a switch in none of them; for a plugin, those of its base."""
    if program not in programs():
        return False
    if programs()[program].built_on:
        return always_takes_a_value(programs()[program].built_on, flag)
    rows = [row for row in read(programs()[program].options)["options"] if flag in row["names"]]
    return bool(rows) and all(row.get("kind", "flag") != "flag" for row in rows)


def spans_of(program: str, releases: Sequence[str]) -> str:
    """`0.10.0 to 0.16.0 and 0.33.0`, of the recorded releases of a program (of a plugin, those of its base)."""
    base = programs()[program].built_on or program
    spans: list[tuple[str, str]] = []
    before = ""
    for release in versions(base):
        if release in releases:
            begin = spans.pop()[0] if spans and spans[-1][1] == before else release
            spans.append((begin, release))
        before = release
    words = [first if first == last else f"{first} to {last}" for first, last in spans]
    return " and ".join([*([", ".join(words[:-1])] if words[:-1] else []), *words[-1:]])


_REWRITTEN: Final[Mapping[str, tuple[str, str, str]]] = {"sglang": ("SGL_", "SGLANG_", "0.5.3")}
"""How variables began once, how they begin now, and the first release that was read and takes one for the other:
srt/environ.py of 0.5.3, 0.5.4 and 0.5.23."""


@cache
def known_environment(program: str, version: str | None = None) -> frozenset[str]:
    """The variables that the engine declares in a release, found as `option_set` finds one."""
    files = programs().get(program)
    if files is None or not files.names:
        return frozenset()
    table = read(files.names)
    release = nearest(table, version)
    own = frozenset(name for name, runs in table["environment"]["names"].items() if holds(runs, release.at))
    former, now, first = _REWRITTEN.get(program, ("", "", ""))
    if former and since(release.release, first):
        own |= {f"{former}{name.removeprefix(now)}" for name in own if name.startswith(now)}
    return own | known_environment(files.built_on, base_version(program, version)) if files.built_on else own


@cache
def ever_known_environment(program: str) -> frozenset[str]:
    """The variables that the engine declares in any recorded release."""
    files = programs().get(program)
    if files is None or not files.names:
        return frozenset()
    table = read(files.names)
    runs_of: dict[str, list[list[int]]] = table["environment"]["names"]
    own = frozenset(runs_of)
    former, now, first = _REWRITTEN.get(program, ("", "", ""))
    if former:
        begins = next((at for at, release in enumerate(table["versions"]) if since(release, first)), len(own))
        late = (name for name, runs in runs_of.items() if any(last >= begins for _, last in runs))
        own |= {f"{former}{name.removeprefix(now)}" for name in late if name.startswith(now)}
    bases = {base_version(program, version) for version in versions(program)} if files.built_on else ()
    return own.union(*(known_environment(files.built_on, version) for version in bases))


def values_of(program: str, version: str | None, dest: str) -> tuple[str, ...]:
    """The names that an option's value can have in a release: `values_of("vllm serve", "0.32.0", "tool_call_parser")`.

    From the engine's own register (vLLM: tool_call_parser, reasoning_parser, load_format, attention_backend,
    quantization; a plugin may add to it at start), else the parser's choices. () is "not known", never "none".
    """
    registered: tuple[str, ...] = ()
    files = programs().get(program)
    if files is not None and files.names:
        table = read(files.names)
        if files.built_on:
            registered = values_of(files.built_on, base_version(program, version), dest)
        names = table["values"].get(dest, {"names": {}})["names"]
        at = nearest(table, version).at
        registered += tuple(name for name, runs in names.items() if holds(runs, at))
    if registered:
        return tuple(sorted(set(registered)))
    options = option_set(program, version)
    choices = [option.choices for option in options.options if option.dest == dest] if options else []
    return choices[0] if choices else ()
