"""Records of releases → one table a program: an option once for every stretch of releases with the same facts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

Ranges = list[list[int]]
MOST_ON_A_LINE = 100


def kind_of(action: Mapping[str, Any]) -> str:
    if action["nargs"] == 0:
        return "flag"
    return "choice" if action["choices"] else str(action["type"])


def facts_of(action: Mapping[str, Any]) -> dict[str, Any]:
    """What is worth keeping of an action, without what follows from the rest. No help text."""
    nargs = {None: "1", 0: "0"}.get(action["nargs"], str(action["nargs"]))
    facts: dict[str, Any] = {"names": action["names"], "kind": kind_of(action)}
    if nargs != ("0" if facts["kind"] == "flag" else "1"):
        facts["nargs"] = nargs
    if action["negations"]:
        facts["negations"] = action["negations"]
    if action["choices"]:
        facts["choices"] = sorted(set(action["choices"]))
    default = default_of(action["default"])
    if default is not None and not (facts["kind"] == "flag" and default == "False"):
        facts["default"] = default
    if action["dest"] != dest_from(action["names"]):
        facts["dest"] = action["dest"]
    for mark in ("deprecated", "hidden"):
        if action[mark]:
            facts[mark] = True
    return facts


def default_of(value: Any) -> str | None:
    """The default as text, None where there is none or where it is made anew at each start."""
    if value is None or value == "computed" or re.fullmatch(r"bench-[0-9a-f]{8}-", str(value)):
        return None
    return json.dumps(value) if isinstance(value, (list, dict)) else str(value)


def dest_from(names: list[str]) -> str:
    long = next((name for name in names if name.startswith("--")), names[0])
    return long.lstrip("-").replace("-", "_")


def table(program: str, records: Mapping[str, Mapping[str, Any]], about: Mapping[str, Any]) -> dict[str, Any]:
    """`records` is {version: record}, oldest first."""
    versions = list(records)
    rows: dict[str, dict[str, Any]] = {}
    for at, version in enumerate(versions):
        for facts in records[version].get("facts") or map(facts_of, records[version]["actions"]):
            row = rows.setdefault(json.dumps(facts, sort_keys=True), {**facts, "at": []})
            if at not in row["at"]:
                row["at"].append(at)
    for row in rows.values():
        row["in"] = ranges(row.pop("at"))
    options = list(rows.values())
    options.sort(key=lambda row: (dest_from(row["names"]), row["in"]))
    for row in options:
        if row["in"] == [[0, len(versions) - 1]]:
            del row["in"]
    positionals = records[versions[-1]]["positionals"]
    prefixes = {record["prefixes"] for record in records.values()}
    if len(prefixes) != 1:
        raise SystemExit(f"{program}: prefixes are accepted in some releases only")
    return {
        "program": program,
        **about,
        "prefixes": prefixes.pop(),
        "positionals": positionals,
        "versions": versions,
        "options": options,
    }


def names_table(program: str, records: Mapping[str, Mapping[str, Any]], about: Mapping[str, Any]) -> dict[str, Any]:
    """Names that are no options: values that an engine knows beside its parser, and environment variables."""
    versions = list(records)
    kinds = sorted({kind for record in records.values() for kind in record["values"]})
    values = {}
    for kind in kinds:
        places = [at for at, version in enumerate(versions) if kind in records[version]["values"]]
        names = collect(record["values"].get(kind, ()) for record in records.values())
        values[kind] = {"asked": ranges(places), "names": names}
    with_environment = [at for at, version in enumerate(versions) if records[version]["environment"]]
    environment = collect(record["environment"] for record in records.values())
    return {
        "program": program,
        **about,
        "versions": versions,
        "values": values,
        "environment": {"asked": ranges(with_environment), "names": environment},
    }


def recorded(file: Mapping[str, Any], names: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """{version: record} out of tables that were written, so that a further release need not ask all others again."""
    records: dict[str, dict[str, Any]] = {}
    for at, version in enumerate(file["versions"]):
        rows = [row for row in file["options"] if within(at, row.get("in"))]
        facts = [{key: value for key, value in row.items() if key != "in"} for row in rows]
        record = {"facts": facts, "positionals": file["positionals"], "prefixes": file["prefixes"]}
        records[version] = {**record, "values": {}, "environment": []}
    for at, version in enumerate(names["versions"] if names else ()):
        records[version]["environment"] = named(names["environment"], at) or []
        values = {kind: named(table, at) for kind, table in names["values"].items()}
        records[version]["values"] = {kind: found for kind, found in values.items() if found is not None}
    return records


def named(table: Mapping[str, Any], at: int) -> list[str] | None:
    """The names of the release at that place, None where it was not asked for them."""
    return [name for name, runs in table["names"].items() if within(at, runs)] if within(at, table["asked"]) else None


def within(at: int, runs: Ranges | None) -> bool:
    return runs is None or any(first <= at <= last for first, last in runs)


def collect(lists: Iterable[Iterable[str]]) -> dict[str, Ranges]:
    at_of: dict[str, list[int]] = {}
    for at, names in enumerate(lists):
        for name in names:
            at_of.setdefault(name, []).append(at)
    return {name: ranges(at_of[name]) for name in sorted(at_of)}


def ranges(numbers: Iterable[int]) -> Ranges:
    """Sorted whole numbers as runs, [first, last] each, both ends in."""
    runs: Ranges = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return runs


def written(table: Mapping[str, Any]) -> str:
    """JSON with one option or name a line, so that a new release gives a diff that can be read."""
    return spread(table, "\n") + "\n"


def spread(value: Any, line: str) -> str:
    """A long object or list of objects over several lines, what stands in such a list on one line each."""
    short = json.dumps(value, separators=(",", ":"))
    if len(short) <= MOST_ON_A_LINE:
        return short
    inner = line + " "
    if isinstance(value, Mapping):
        items = (f"{json.dumps(name)}: {spread(item, inner)}" for name, item in value.items())
        return "{" + inner + f",{inner}".join(items) + line + "}"
    if isinstance(value, list) and isinstance(value[0], Mapping):
        items = (json.dumps(item, separators=(",", ":")) for item in value)
        return "[" + inner + f",{inner}".join(items) + line + "]"
    return short
