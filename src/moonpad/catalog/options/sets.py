"""Option sets: what the parser of a program takes in a release, and in which releases it took an option."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from moonpad.catalog.options.option import Option, OptionSet
from moonpad.catalog.options.tables import BUILT_ON, FILES, holds, nearest, read
from moonpad.catalog.options.version import release_of


def versions(program: str) -> tuple[str, ...]:
    """The recorded releases, oldest first; () for a program that is not known."""
    return tuple(read(FILES[program])["versions"]) if program in FILES else ()


def newest(program: str) -> str:
    """The newest recorded release, "" for a program that is not known."""
    return (versions(program) or ("",))[-1]


def newest_stable(program: str) -> str:
    """The newest recorded release that is no release candidate; the newest of all where there are only such."""
    return next((version for version in reversed(versions(program)) if "rc" not in version), newest(program))


def option_set(program: str, version: str | None = None) -> OptionSet | None:
    """What `program` takes in `version`, None for a program that is not known.

    No version is the newest recorded one. A release that is not recorded gets the nearest older one, and `exact` is
    False, as it is for a text that is no version.
    """
    if program not in FILES:
        return None
    table = read(FILES[program])
    at, exact = nearest(table["versions"], version, approximate=table.get("approximate", False))
    if program in BUILT_ON:
        return _derived(table, at, exact, version)
    found = _recorded(program, at)
    return found if exact else replace(found, exact=False)


@cache
def _recorded(program: str, at: int) -> OptionSet:
    table = read(FILES[program])
    options = tuple(_option(row) for row in table["options"] if holds(row.get("in", [[at, at]]), at))
    return OptionSet(
        program=program,
        version=table["versions"][at],
        options=options,
        exact=True,
        positionals=tuple(table["positionals"]),
        prefixes=table["prefixes"],
        underscores=table.get("underscores", False),
        dotted=table.get("dotted", False),
        passes_on=table.get("passes_on", ""),
        standing=table["standing"],
        source=table["source"],
        checked=table["checked"],
        rewritten=table.get("rewritten", {}),
        by_name=_by_name(options),
    )


def base_version(program: str, version: str | None) -> str:
    """The release of the base that a plugin's release is made for: `0.20.2rc1` is for `0.20.2`."""
    table = read(FILES[program])
    at, exact = nearest(table["versions"], version)
    return str(table["base_versions"][at]) if exact else release_of(version or "")


def _derived(table: Mapping[str, Any], at: int, exact: bool, wanted: str | None) -> OptionSet:
    program = table["program"]
    base = option_set(BUILT_ON[program], base_version(program, wanted))
    if base is None:
        raise ValueError(f"{BUILT_ON[program]} is not recorded")
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
        by_name=_by_name(options),
    )


def _option(row: Mapping[str, Any]) -> Option:
    names = tuple(row["names"])
    long = next((name for name in names if name.startswith("--")), names[0])
    return Option(
        names=names,
        kind=row["kind"],
        nargs=row.get("nargs", "0" if row["kind"] == "flag" else "1"),
        negations=tuple(row.get("negations", ())),
        choices=tuple(row.get("choices", ())),
        default=row.get("default"),
        dest=row.get("dest", long.lstrip("-").replace("-", "_")),
        deprecated=row.get("deprecated", False),
        hidden=row.get("hidden", False),
    )


def _by_name(options: tuple[Option, ...]) -> dict[str, Option]:
    return {name: option for option in options for name in (*option.names, *option.negations)}


def releases_with(program: str, flag: str) -> tuple[str, ...]:
    """The recorded releases whose parser takes exactly this spelling, oldest first; for a plugin, those of its base."""
    if program not in FILES:
        return ()
    if program in BUILT_ON:
        return releases_with(BUILT_ON[program], flag)
    table = read(FILES[program])
    known = table["versions"]
    rows = [row for row in table["options"] if flag in row["names"] or flag in row.get("negations", ())]
    runs = [run for row in rows for run in row.get("in", [[0, len(known) - 1]])]
    return tuple(version for at, version in enumerate(known) if holds(runs, at))
